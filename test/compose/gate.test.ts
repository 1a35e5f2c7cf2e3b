import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gate, RemandError, type Agent, type GateOptions } from "../../src/index.ts";
import { makeRepository, type TestRepository } from "../kit/git-repository.ts";
import { withPromptNonce } from "../../src/agents/scripted/scripted-agent.ts";
import { agentResult } from "../contract/agent-result.ts";
import { sha256 } from "../../src/stdx/sha256.ts";

let repository: TestRepository;
beforeEach(() => {
  repository = makeRepository({
    "answer.txt": "42\n",
    "answer.test.js": 'it("is 42", () => { expect(answer).toBe(42); });\n',
    "check.sh": "pwd\ngrep -x 42 answer.txt\n",
  });
});
afterEach(() => repository.clear());

const CONFIG = { version: 1, preset: "critic-audit", gates: { checks: { commands: ["sh check.sh"] } } } as const;
const judge = (more: Partial<GateOptions> = {}) =>
  gate({ root: repository.root, env: repository.env, config: CONFIG, ...more });
const results = ({ judgements }: Awaited<ReturnType<typeof gate>>) =>
  Object.fromEntries(judgements.map(({ gate, result }) => [gate, result]));

describe("gate, on the working files", () => {
  test("passes good work, lists gates that could not run, and changes no file", async () => {
    repository.write("answer.txt", "42\n43\n");
    repository.write("new.txt", "new\n");
    repository.git("add", "new.txt");
    const before = repository.standing();
    const report = await judge();
    expect(report.passed).toBe(true);
    expect(results(report)).toEqual({ integrity: "pass", checks: "pass" });
    expect(report.skipped).toEqual([
      { gate: "review", why: expect.any(String) },
      { gate: "audit", why: expect.any(String) },
    ]);
    expect(report.judged).toMatchObject({ at: null, baseName: "the last commit", folder: "" });
    expect(report.judged.base).toBe(repository.git("rev-parse", "HEAD").trim());
    expect(repository.standing()).toEqual(before);
    expect(repository.git("status", "--porcelain")).toBe(" M answer.txt\nA  new.txt\n");
    expect(repository.git("for-each-ref", "refs/remand")).toBe("");
    expect(existsSync(join(repository.root, ".remand", "journal.db"))).toBe(false);
    expect(readdirSync(join(repository.root, ".remand", "index"))).toEqual([]);
  });

  test("fails bad work, with findings at their locations", async () => {
    repository.write("answer.txt", "41\n");
    repository.write("merged.js", "<<<<<<< ours\n1\n=======\n2\n>>>>>>> theirs\n");
    const output: string[] = [];
    const report = await judge({ onOutput: (name, line) => void output.push(`${name}: ${line}`) });
    expect(report.passed).toBe(false);
    expect(results(report)).toEqual({ integrity: "fail", checks: "fail" });
    expect(report.judgements[0]!.findings).toContainEqual(expect.objectContaining({ file: "merged.js", line: 1 }));
    expect(output).toContain(`checks: ${realpathSync(repository.root)}`);
  });

  test("runs the named gates, in their own order", async () => {
    repository.write("answer.txt", "41\n");
    expect(results(await judge({ names: ["checks"] }))).toEqual({ checks: "fail" });
    const both = await judge({ names: ["checks", "integrity"] });
    expect(both.judgements.map((each) => each.gate)).toEqual(["integrity", "checks"]);
    expect(both.skipped).toEqual([]);
  });

  test("does not report a pass if no gate ran", async () => {
    const report = await judge({ names: ["integrity"], base: "HEAD" });
    expect(report).toMatchObject({
      passed: false,
      judgements: [],
      skipped: [{ gate: "integrity", why: "nothing differs from HEAD" }],
    });
  });

  test("judges a repository without commits", async () => {
    const empty = makeRepository({});
    try {
      empty.write("answer.txt", "42\n");
      const set = ["gates.checks.commands=[grep -x 42 answer.txt]"];
      const report = await gate({ root: empty.root, env: empty.env, config: CONFIG, set });
      expect(results(report)).toEqual({ integrity: "pass", checks: "pass" });
      expect(report.judged).toMatchObject({ commit: "", baseName: "nothing" });
    } finally {
      empty.clear();
    }
  });

  test("a folder of the repository is judged in that folder", async () => {
    mkdirSync(join(repository.root, "part"));
    writeFileSync(join(repository.root, "part", "check.sh"), "pwd\ntest -e check.sh\n");
    const output: string[] = [];
    const root = join(repository.root, "part");
    const report = await gate({
      root,
      env: repository.env,
      config: CONFIG,
      onOutput: (_, line) => void output.push(line),
    });
    expect(report.judged.folder).toBe("part");
    expect(output).toContain(realpathSync(root));
  });
});

describe("gate, on a commit", () => {
  const commit = (text: string): void => {
    repository.write("answer.txt", text);
    repository.git("commit", "--quiet", "--all", "-m", text.trim());
  };

  test("judges it in a checkout that is removed afterwards, whatever the working files are", async () => {
    commit("41\n");
    commit("42\n\n");
    repository.write("answer.txt", "0\n");
    const before = repository.standing();
    expect(results(await judge({ at: "HEAD", names: ["integrity", "checks"] }))).toEqual({
      integrity: "pass",
      checks: "pass",
    });
    expect(results(await judge({ at: "HEAD~1", names: ["checks"] }))).toEqual({ checks: "fail" });
    expect(repository.standing()).toEqual(before);
    expect(repository.git("worktree", "list").trim().split("\n")).toHaveLength(1);
    const own = join(repository.home, ".local/state/remand/checkouts", sha256(repository.root).slice(0, 16));
    expect(readdirSync(join(own, "runs"))).toEqual([]);
  });

  test("removes what a killed gate left behind", async () => {
    commit("42\n\n");
    const own = join(repository.home, ".local/state/remand/checkouts", sha256(repository.root).slice(0, 16));
    const left = join(own, "runs", "3");
    mkdirSync(left, { recursive: true });
    mkdirSync(join(own, "slots"));
    writeFileSync(join(own, "slots/3"), "999999999");
    await judge({ at: "HEAD", names: ["checks"] });
    expect(existsSync(left)).toBe(false);
    expect(repository.git("worktree", "list").trim().split("\n")).toHaveLength(1);
  });

  test("compares with the point where the branch left the default branch, or with the named base", async () => {
    repository.git("switch", "--quiet", "-c", "work");
    const fork = repository.git("rev-parse", "HEAD").trim();
    commit("41\n");
    commit("42\n\n");
    repository.git("switch", "--quiet", "main");
    repository.write("other.txt", "other\n");
    repository.git("add", "other.txt");
    repository.git("commit", "--quiet", "-m", "the default branch goes on");
    const at = async (options: Partial<GateOptions>) => {
      const { judged } = await judge({ names: ["integrity"], ...options });
      return [judged.base, judged.baseName];
    };
    expect(await at({ at: "work" })).toEqual([fork, "main"]);
    expect(await at({ at: "work", base: "main" })).toEqual([fork, "main"]);
    expect(await at({ at: "work", base: "work~1" })).toEqual([repository.git("rev-parse", "work~1").trim(), "work~1"]);
    expect(await at({ at: "main" })).toEqual([fork, "the commit before"]);
    expect(await at({})).toEqual([fork, "the commit before"]);
    repository.write("other.txt", "changed\n");
    expect(await at({})).toEqual([repository.git("rev-parse", "main").trim(), "the last commit"]);
    // Commits that are not pushed yet are the work to judge.
    repository.git("update-ref", "refs/remotes/origin/main", fork);
    expect(await at({})).toEqual([fork, "origin/main"]);
  });

  test("a story that depends on another is compared with its start; the default branch may have any name", async () => {
    const fork = repository.git("rev-parse", "HEAD").trim();
    repository.git("switch", "--quiet", "-c", "remand/two");
    commit("41\n");
    const begun = repository.git("rev-parse", "HEAD").trim();
    commit("42\n\n");
    const base = async () => {
      const { judged } = await judge({ names: ["integrity"], at: "remand/two" });
      return [judged.base, judged.baseName];
    };
    expect(await base()).toEqual([fork, "main"]);
    repository.git("update-ref", "refs/remand/base/two", begun);
    expect(await base()).toEqual([begun, "where the story began"]);
    repository.git("update-ref", "refs/remand/base/two", fork);
    expect(await base()).toEqual([fork, "main"]);
    repository.git("branch", "--move", "main", "stem");
    expect(await base()).toEqual([begun, "the commit before"]);
    repository.git("config", "init.defaultBranch", "stem");
    expect(await base()).toEqual([fork, "stem"]);
  });

  test("judges a story's branch by the story's name", async () => {
    repository.write("stories/say-it.md", "---\ntitle: Say it\nstatus: ready\n---\n\nSay it.\n");
    repository.git("branch", "remand/say-it");
    const report = await judge({ names: ["say-it", "checks"] });
    expect(report.judged.at).toBe("remand/say-it");
    expect(results(report)).toEqual({ checks: "pass" });
  });
});

describe("gate, with reviewers", () => {
  const saying = (text: string): Agent => ({
    name: "reviewer",
    run: ({ prompt }) => Promise.resolve(agentResult({ text: withPromptNonce(text, prompt) })),
  });
  const agents = {
    critic: saying("REVIEW_PASSED: gate\n"),
    auditor: saying("AUDIT_FAILED: gate\n\nFailed Criteria:\n- it says nothing of 43\n"),
  };

  test("does not accept a signal without the prompt's nonce as a verdict", async () => {
    repository.write("answer.txt", "42\n43\n");
    const repeated: Agent = {
      name: "reviewer",
      run: () => Promise.resolve(agentResult({ text: "REVIEW_PASSED: gate\n" })),
    };
    const report = await judge({ agents: { ...agents, critic: repeated }, names: ["review"] });
    expect(results(report)).toEqual({ review: "error" });
    expect(JSON.stringify(report)).toContain("The line after REVIEW_PASSED is not the nonce of the prompt.");
  });

  test("asks reviewers after earlier gates have passed", async () => {
    repository.write("answer.txt", "42\n43\n");
    const report = await judge({ agents });
    expect(Object.keys(results(report))).toEqual(["integrity", "checks", "review", "audit"]);
    expect(results(report)).toMatchObject({ integrity: "pass", checks: "pass", review: "pass" });
    expect(report.passed).toBe(false);
    expect(report.skipped).toEqual([]);
  });

  test("does not pay reviewers after a failed gate, unless requested", async () => {
    repository.write("answer.txt", "41\n");
    const report = await judge({ agents });
    expect(report.skipped).toEqual([
      { gate: "review", why: "checks did not pass (--all runs it anyway)" },
      { gate: "audit", why: "checks did not pass (--all runs it anyway)" },
    ]);
    expect(Object.keys(results(await judge({ agents, all: true })))).toContain("review");
  });
});

describe("gate refuses", () => {
  test.each([
    ["a name that is nothing", { names: ["chekcs"] }, "there is no gate and no story chekcs", "Did you mean checks?"],
    ["a gate that cannot run here", { names: ["merge"] }, "the merge gate cannot run", "Name others"],
    ["a gate whose reviewer has no agent", { names: ["audit"] }, "the audit gate cannot run", ""],
    ["a commit that is not there", { at: "nowhere" }, "there is no commit nowhere", "Name a branch"],
    ["a base that is not there", { base: "nowhere" }, "there is no commit nowhere to compare with", "fetch-depth: 0"],
  ])("%s", async (_what, wrong, message, hint) => {
    const error = await judge(wrong).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(RemandError);
    expect((error as RemandError).message).toContain(message);
    expect((error as RemandError).hint).toContain(hint);
    expect((error as RemandError).code).toBe("usage");
  });
});
