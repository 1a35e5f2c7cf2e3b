import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkoutOf } from "../checkout.ts";
import { sample, testInFull } from "../../sampled.ts";
import { gitIn } from "../../kit/git-repository.ts";

/* What fails before the work begins, through the built program: known, the story's target, or a question. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

const CART = "export const add = (a, b) => a + b;\nexport const remove = (a, b) => a + b;\n";
const FIXED = CART.replace("remove = (a, b) => a + b", "remove = (a, b) => a - b");
const head = 'import assert from "node:assert/strict";\nimport test from "node:test";\n';
const TESTS = `${head}import { add, remove } from "../src/cart.js";
test("adds", () => assert.equal(add(2, 1), 3));
test("removes", () => assert.equal(remove(2, 1), 1));
`;
const LEGACY = `${head}test("prints the old invoice", () => assert.fail("needs the old printer"));\n`;
const REMOVES = "test/cart.test.js > removes";
const INVOICE = "test/legacy.test.js > prints the old invoice";

const story = (title: string, more = ""): string =>
  `---\ntitle: ${title}\nstatus: ready\n${more}---\n\n${title}.\n\n## Acceptance Criteria\n\n- [ ] it works\n`;

interface Work {
  readonly config?: string;
  readonly stories?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** What the developer writes, by story and then by path; `null` takes a file away. */
  readonly writes: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A project whose agents are small programs outside of it, and a note of what each was asked. */
function project({ config = "preset: critic-audit", stories = {}, files = {}, writes, env = {} }: Work) {
  const tools = mkdtempSync(join(tmpdir(), "remand-base-"));
  onTestFinished(() => rmSync(tools, { recursive: true, force: true }));
  const seen = join(tools, "seen.jsonl");
  writeFileSync(seen, "");
  writeFileSync(join(tools, "writes.json"), JSON.stringify(writes));
  writeFileSync(join(tools, "agent.mjs"), AGENT);
  const agent = (role: string): string => `${role}: { use: command, command: 'node ${tools}/agent.mjs ${role}' }`;
  const roles = ["developer", "critic", "auditor", "product-owner", "security-reviewer", "code-reviewer"];
  const root = checkoutOf({
    "package.json": '{ "name": "cart", "private": true, "type": "module" }\n',
    "src/cart.js": CART,
    "test/cart.test.js": TESTS,
    ...files,
    ...Object.fromEntries(Object.entries(stories).map(([id, text]) => [`stories/${id}.md`, text])),
    "remand.yaml": `version: 1\n${config}\ndeliver: branch\ngates: { checks: { commands: [node --test] } }\nagents: { ${roles.map(agent).join(", ")} }\n`,
  });
  return {
    root,
    remand(...args: string[]): { readonly status: number | null; readonly out: string } {
      const ran = spawnSync(process.execPath, [MAIN, ...args], {
        cwd: root,
        encoding: "utf8",
        // The output that is read must not depend on where the tests run.
        env: { ...process.env, REMAND_REPORTER: "default", ...env },
      });
      return { status: ran.status, out: ran.stdout + ran.stderr };
    },
    prompts: (role: string): string[] =>
      readFileSync(seen, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { role: string; prompt: string })
        .filter((asked) => asked.role === role)
        .map(({ prompt }) => prompt),
    rewrite: (path: string, text: string): void => writeFileSync(join(root, path), text),
    commit: (message: string): string => gitIn(root, GIT_ENV, "commit", "--quiet", "--all", "-m", message),
    agent: ["--", "node", join(tools, "agent.mjs"), "developer"],
  };
}

const GIT_ENV = { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), GIT_CONFIG_NOSYSTEM: "1" };

const AGENT = `
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
const here = dirname(process.argv[1]);
const role = process.argv[2];
const prompt = readFileSync(0, "utf8");
appendFileSync(join(here, "seen.jsonl"), JSON.stringify({ role, prompt }) + "\\n");
const id = /Task ID: (\\S+)/.exec(prompt)?.[1] ?? "loop";
const nonce = /nonce of this prompt: \x60(\\w+)\x60/.exec(prompt)?.[1] ?? "";
if (role === "developer") {
  const all = JSON.parse(readFileSync(join(here, "writes.json"), "utf8"));
  for (const [path, text] of Object.entries(all[id] ?? all.any ?? {})) {
    if (text === null) { rmSync(path, { force: true }); continue; }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replace("TURN", String(Math.random())));
  }
  console.log("READY_FOR_REVIEW: " + id + "\\n\\nSummary: did it\\n");
} else if (role === "critic") console.log("REVIEW_PASSED: " + id + "\\n" + nonce + "\\n\\nSummary: reads well\\n");
else if (role === "auditor")
  console.log("AUDIT_PASSED: " + id + "\\n" + nonce + "\\n\\nVerification Results:\\n- it works: VERIFIED - seen\\n\\nSummary: holds\\n");
else console.log('{"passed": true, "issues": []}\\n' + nonce);
`;

const COMMENT = { "src/cart.js": `${CART}// TURN\n` };

describe("a bug-fix story whose test still fails", () => {
  const phases = "phases: { refine: false, research: false, plan: false }";
  test.each(
    sample(
      [
        ["critic-audit", "preset: critic-audit"],
        ["story", `preset: story\n${phases}`],
        ["goal", "preset: goal"],
      ],
      3,
    ),
  )("is not accepted in %s", { timeout: 120_000 }, (_, config) => {
    const { remand } = project({
      config: `${config}\nstall: { sameFailure: 2, unchanged: 1, plateau: 2, oscillation: true, cascade: true, grace: 0 }`,
      stories: { fix: story("Fix removing", "target: removes\n") },
      writes: { any: COMMENT },
    });
    const { status, out } = remand("run", "--reporter", "minimal");
    expect(status, out).toBe(4);
    const log = remand("log").out;
    expect(log).not.toContain("story.accepted");
    expect(log).toContain("checks: fail");
  });

  test("is accepted once it passes, and the target is named before the work", { timeout: 60_000 }, () => {
    const { remand } = project({
      stories: { fix: story("Fix removing", "target: [test/cart.test.js]\n") },
      writes: { fix: { "src/cart.js": FIXED } },
    });
    const { status, out } = remand("run");
    expect(status, out).toBe(0);
    expect(out).toContain("1 test fails at the start and is the target, it must pass");
    expect(out).not.toContain("no test shows this change");
  });
});

describe("an agent that edits", () => {
  const TAMED = TESTS.replace("remove(2, 1), 1", "remove(2, 1), 3");
  const other = `${head}test("is there", () => {}); // TURN\n`;
  const excuse = "version: 1\nknownFailures: [{ test: removes, reason: it is old }] # TURN\n";
  const refusal = `the target ${REMOVES} fails with the base's version of its tests`;
  test.each(
    sample(
      [
        ["the target's test", "checks", { "test/cart.test.js": `${TAMED}// TURN\n` }, refusal],
        ["the target's test away", "checks", { "test/cart.test.js": null, "test/new.test.js": other }, refusal],
        ["knownFailures in remand.yaml", "checks", { "remand.yaml": excuse }, "1 of 2 tests failed"],
        ["remand.yaml", "integrity, checks", { "remand.yaml": excuse }, "this file says how the work is judged"],
      ] as const,
      2,
    ),
  )("%s is refused (%s)", { timeout: 120_000 }, (_what, gates, writes, says) => {
    const { remand } = project({
      config: "limits: { failures: 1 }",
      stories: { fix: story("Fix removing", "target: removes\n") },
      writes: { fix: { ...COMMENT, ...writes } },
    });
    const { status, out } = remand("run", "--set", `phases.implement=[${gates}]`);
    expect(status, out).toBe(4);
    expect(remand("log", "--json").out).toContain(says);
    expect(remand("log").out).not.toContain("story.accepted");
  });

  testInFull("the target's file and fixes the code too is accepted", { timeout: 60_000 }, () => {
    const { remand } = project({
      stories: { fix: story("Fix removing", "target: removes\n") },
      writes: { fix: { "src/cart.js": FIXED, "test/cart.test.js": `${TESTS}test("more", () => {});\n` } },
    });
    const { status, out } = remand("run", "--set", "phases.implement=[checks]");
    expect(status, out).toBe(0);
  });
});

describe("a known failure", () => {
  const known = `knownFailures: [{ test: "test/legacy*", reason: the printer is gone }]`;

  test("is shown with every pass, and reviewers are told", { timeout: 60_000 }, () => {
    const { remand, prompts } = project({
      config: known,
      files: { "test/legacy.test.js": LEGACY, "src/cart.js": FIXED },
      stories: { note: story("Add a note") },
      writes: { note: { "src/cart.js": `${FIXED}// note\n` } },
    });
    const { status, out } = remand("run");
    expect(status, out).toBe(0);
    const notes = `1 known failure: ${INVOICE}`;
    expect(out).toContain(`accepted; ${notes}; no test shows this change`);
    expect(remand("log").out).toContain(`checks: pass, ${notes}`);
    expect(remand("status").out).toContain("1 known failure: test/legacy.test.js");
    expect(remand("show", "note").out).toContain("checks ✔ (1 known failure, no test shows this change)");
    for (const role of ["critic", "auditor"]) {
      expect(prompts(role)).toHaveLength(1);
      expect(prompts(role)[0]).toContain(`- ${notes}`);
      expect(prompts(role)[0]).toContain("- no test shows this change");
    }
    const [auditor] = prompts("auditor");
    expect(auditor).toContain("node --test exits with 1: nothing fails there but what is listed");
    expect(auditor).not.toContain("They show that the commands pass");
    expect(remand("gate", "checks").out).toContain(`pass, ${notes}`);
  });

  testInFull(
    "that passes now is said to be one that can go; work without a test is refused where one is required",
    {
      timeout: 120_000,
    },
    () => {
      const { remand } = project({
        config: `${known}\nrequireTest: true\nlimits: { failures: 1 }`,
        files: { "test/legacy.test.js": LEGACY, "src/cart.js": FIXED },
        stories: { cure: story("Cure it"), bare: story("No test") },
        writes: {
          cure: { "test/legacy.test.js": LEGACY.replace('assert.fail("needs the old printer")', "assert.ok(1)") },
          bare: { "src/cart.js": `${FIXED}// bare\n` },
        },
      });
      const { status, out } = remand("run", "--set", "phases.implement=[checks]");
      expect(status, out).toBe(4);
      expect(out).toContain(`1 known failure no longer fails, its entry can go: ${INVOICE}`);
      expect(remand("status").out).toMatch(/cure\s+accepted/);
      expect(remand("show", "bare").out).toContain("no test shows this change");
      expect(remand("status").out).toMatch(/bare\s+escalated/);
    },
  );
});

describe("what fails on the base and is neither known nor a target", () => {
  const stories = { aimed: story("Fix removing", "target: removes\n"), free: story("Add a note") };
  const writes = { aimed: { "src/cart.js": FIXED }, free: { "src/note.js": "export const note = 1;\n" } };

  test("holds the story without a target, with a question; the other goes on", { timeout: 120_000 }, () => {
    const { remand, prompts } = project({ files: { "test/legacy.test.js": LEGACY }, stories, writes });
    const run = remand("run");
    expect(run.status, run.out).toBe(4);
    expect(remand("status").out).toMatch(/aimed\s+✔ accepted/);
    expect(prompts("developer")).toHaveLength(1);
    const inbox = remand("inbox").out;
    expect(inbox).toContain("2 tests fail before any work: known, target of this story, or fix first?");
    expect(inbox).toContain(INVOICE);
    expect(remand("answer", "free", "known").out).toContain("known needs a message");
    expect(remand("answer", "free", "known", "--test", "nothing", "--message", "x").out).toContain(
      "no failure of the question matches nothing",
    );
    const some = remand("answer", "free", "known", "--test", "test/legacy*", "--message", "no printer", "--by", "Ada");
    expect(some.status, some.out).toBe(0);
    const again = remand("run");
    expect(again.status, again.out).toBe(4);
    expect(remand("inbox").out).toContain("1 test fails before any work");
    expect(remand("answer", "free", "target", "--by", "Ada").status).toBe(0);
    // The agent does not fix it: it is this story's target now.
    const last = remand("run", "--set", "limits.failures=1");
    expect(last.status, last.out).toBe(4);
    expect(remand("show", "free").out).toContain("checks: fail");
  });

  testInFull("is fixed first, and the story goes on with the base as it is then", { timeout: 120_000 }, () => {
    const { remand, rewrite, commit } = project({ stories: { free: stories.free }, writes });
    expect(remand("run").status).toBe(4);
    rewrite("src/cart.js", FIXED);
    commit("fix removing");
    expect(remand("answer", "free", "resolve", "--by", "Ada").status).toBe(0);
    const { status, out } = remand("run");
    expect(status, out).toBe(0);
  });

  testInFull("asks once: what was called known is known to the next story", { timeout: 120_000 }, () => {
    const { remand } = project({
      config: "concurrency: { stories: 1 }",
      stories: { one: story("One", "priority: 1\n"), two: story("Two", "priority: 2\n") },
      writes: { any: { "src/note.js": "export const note = 1; // TURN\n" } },
    });
    expect(remand("run", "one").status).toBe(4);
    const said = remand("answer", "one", "known", "--message", "later", "--by", "Ada");
    expect(said.status, said.out).toBe(0);
    const { status, out } = remand("run");
    expect(status, out).toBe(0);
    expect(out).toContain("1 known failure");
  });

  testInFull("a target that nothing matches is asked about", { timeout: 60_000 }, () => {
    const { remand, rewrite } = project({ stories: { free: story("Fix", "target: adds\n") }, writes });
    expect(remand("run").status).toBe(4);
    expect(remand("inbox").out).toContain("nothing that fails at the base matches adds");
    rewrite("stories/free.md", story("Fix", "target: removes\n"));
    expect(remand("answer", "free", "resolve", "--by", "Ada").status).toBe(0);
    remand("run", "--set", "limits.failures=1");
    expect(remand("show", "free").out).toContain("checks: fail");
  });
});

test("a test that is flaky on the base stops no story", { timeout: 60_000 }, () => {
  const flaky = `${head}import { appendFileSync, readFileSync } from "node:fs";
test("comes and goes", () => {
  appendFileSync(process.env.COUNTER, "x");
  assert.ok(readFileSync(process.env.COUNTER, "utf8").length === 2);
});
`;
  const counter = join(mkdtempSync(join(tmpdir(), "remand-counter-")), "runs");
  const { remand } = project({
    config: `env: [COUNTER]`,
    files: { "test/flaky.test.js": flaky, "src/cart.js": FIXED },
    stories: { note: story("Add a note") },
    writes: { note: { "src/cart.js": `${FIXED}// note\n` } },
    env: { COUNTER: counter },
  });
  const { status, out } = remand("run");
  expect(status, out).toBe(0);
  expect(out).toContain("1 flaky test at the start, quarantined");
  expect(out).toContain("1 quarantined flaky test: test/flaky.test.js > comes and goes");
});

describe("remand loop", () => {
  const files = { "test/legacy.test.js": LEGACY };

  test("says what fails at the start, and charges the agent with all of it", { timeout: 60_000 }, () => {
    const { remand, agent } = project({ files, writes: { any: { "src/cart.js": FIXED } } });
    const { status, out } = remand("loop", "--check", "node --test", "--max-iterations", "1", ...agent);
    expect(status, out).toBe(4);
    expect(out).toContain("2 tests fail at the start, all must pass; exclude with --known <glob>");
  });

  testInFull("leaves out later what --known names later", { timeout: 60_000 }, () => {
    const { remand, agent } = project({ files, writes: { any: { "src/cart.js": FIXED } } });
    expect(remand("loop", "--check", "node --test", "--max-iterations", "1", ...agent).status).toBe(4);
    // Excluded later, it is excluded from then on.
    expect(remand("loop", "--check", "node --test", "--known", "test/legacy*", ...agent).status).toBe(4);
    const id = /loop-[0-9a-f]{8}/.exec(remand("status").out)![0];
    expect(remand("answer", id, "resolve", "--by", "Ada").status).toBe(0);
    const last = remand("loop", "--check", "node --test", ...agent);
    expect(last.status, last.out).toBe(0);
    expect(last.out).toContain(`accepted; 1 known failure: ${INVOICE}`);
  });

  test("leaves out what --known names", { timeout: 60_000 }, () => {
    const { remand, agent } = project({ files, writes: { any: { "src/cart.js": FIXED } } });
    const loop = (...more: string[]) => remand("loop", "--check", "node --test", ...more, ...agent);
    const { status, out } = loop("--known", "test/legacy*");
    expect(status, out).toBe(0);
    expect(out).toContain("1 test fails at the start, it must pass; exclude with --known <glob>; 1 known failure");
    expect(out).toContain(`accepted; 1 known failure: ${INVOICE}`);
    expect(loop("--new", "--known", "test/legacy*").out).toContain("the check passes already");
  });
});
