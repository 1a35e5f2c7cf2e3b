import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  loop,
  RemandError,
  run,
  type Agent,
  type AgentRequest,
  type AgentResult,
  type Stored,
} from "../../src/index.ts";
import { makeRepository, type TestRepository } from "../kit/git-repository.ts";
import { agentResult } from "../contract/agent-result.ts";

let repository: TestRepository;
beforeEach(() => {
  repository = makeRepository({ "answer.txt": "40\n", "check.sh": "grep -x 42 answer.txt\n" });
});
afterEach(() => repository.clear());

const CHECK = "sh check.sh";

/** The signal may have been aborted before the listener was added. */
const aborted = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted ? Promise.resolve() : new Promise((done) => signal.addEventListener("abort", done, { once: true }));

/** An agent in this process: on each call it writes the next of these texts, or hangs if there is none left. */
function writer(answers: readonly string[], asked: AgentRequest[] = []): Agent {
  return {
    name: "writer",
    run: async (request, { signal }): Promise<AgentResult> => {
      asked.push(request);
      const answer = answers[asked.length - 1];
      if (answer === undefined) await aborted(signal);
      else writeFileSync(join(request.cwd, "answer.txt"), answer);
      return agentResult({ status: answer === undefined ? "cancelled" : "completed", text: "done" });
    },
  };
}

const base = () => ({ root: repository.root, env: repository.env, check: CHECK, goal: "say the answer" });

describe("loop", () => {
  test("drives a command until the check passes, and reports progress", async () => {
    const lines: Stored[] = [];
    const output: string[] = [];
    const script = 'n=$(cat answer.txt); echo "was $n"; echo $((n + 1)) > answer.txt';
    const result = await loop({
      ...base(),
      agent: ["sh", "-c", script],
      onLines: (more) => void lines.push(...more),
      onOutput: (_command, line) => void output.push(line),
    });
    expect(result.exitCode).toBe(0);
    expect(result.stories).toMatchObject([
      { title: "say the answer", status: "accepted", attempts: 2, question: null },
    ]);
    expect(lines.map(({ event }) => event.type)).toEqual(expect.arrayContaining(["work.sent-back", "story.accepted"]));
    expect(output).toEqual(expect.arrayContaining(["was 40", "was 41"]));
    expect(readFileSync(join(repository.root, "answer.txt"), "utf8")).toBe("42\n");
  });

  // S3.1
  test("runs an agent of the caller's own, and sends failures back to it", async () => {
    const asked: AgentRequest[] = [];
    const result = await loop({ ...base(), agent: writer(["41\n", "42\n"], asked) });
    expect(result.exitCode).toBe(0);
    expect(asked).toHaveLength(2);
    expect(asked[0]!.prompt).toContain("say the answer");
    expect(asked[1]!.prompt).toContain(CHECK);
    expect(asked[1]!.prompt).not.toBe(asked[0]!.prompt);
    expect(asked[0]!.cwd).toBe(repository.root);
  });

  test("does not run an ended loop again, unless requested", async () => {
    const first = await loop({ ...base(), agent: writer(["42\n"]) });
    const asked: AgentRequest[] = [];
    const again = await loop({ ...base(), agent: writer(["42\n"], asked) });
    expect(again.stories).toEqual(first.stories);
    expect(again.exitCode).toBe(0);
    expect(asked).toHaveLength(0);
    const fresh = await loop({ ...base(), agent: writer(["42 \n", "42\n"], asked), fresh: true });
    expect(fresh.stories[0]!.id).toBe(`${first.stories[0]!.id}-2`);
    expect(asked.length).toBeGreaterThan(0);
  });

  test("ends cleanly when its signal is aborted, and continues on the next call", async () => {
    const stop = new AbortController();
    const asked: AgentRequest[] = [];
    const agent = writer(["41\n"], asked);
    const stopped = await loop({
      ...base(),
      agent,
      signal: stop.signal,
      onLines: (lines) => {
        if (lines.some(({ event }) => event.type === "attempt.started" && event.attempt === 2))
          setTimeout(() => stop.abort(), 100);
      },
    });
    expect(stopped.exitCode).toBe(130);
    expect(stopped.stories[0]!.status).not.toBe("accepted");
    const resumed = await loop({ ...base(), agent: writer(["42\n"]) });
    expect(resumed.exitCode).toBe(0);
    expect(resumed.stories[0]!.id).toBe(stopped.stories[0]!.id);
    // The interrupted attempt does not count as a failure.
    expect(resumed.stories[0]!.attempts).toBe(2);
  });

  test("asks a person when the attempts are used up, with a question that can be answered", async () => {
    const result = await loop({ ...base(), agent: writer(["1\n", "2\n", "3\n"]), limits: { iterations: 2 } });
    expect(result.exitCode).toBe(4);
    const [story] = result.stories;
    expect(story).toMatchObject({ status: "escalated", actor: "person", attempts: 2 });
    expect(story!.question!.options.length).toBeGreaterThan(1);
  });

  test("retries after a pause when the agent crashed, without delaying other loops", async () => {
    const crashing = ["sh", "-c", "test -e crashed && echo 42 > answer.txt || { touch crashed; exit 1; }"];
    const stop = new AbortController();
    const paused = await loop({
      ...base(),
      agent: crashing,
      signal: stop.signal,
      onLines: (_lines, { timers }) => {
        if (timers !== null) stop.abort();
      },
    });
    expect(paused.stories).toMatchObject([{ status: "waiting", actor: "time" }]);
    const other = await loop({ ...base(), goal: "another", agent: writer(["42\n"]) });
    expect(other.exitCode).toBe(0);
    expect(other.state.timers).not.toBeNull();
    writeFileSync(join(repository.root, "answer.txt"), "40\n");
    const resumed = await loop({ ...base(), agent: crashing });
    expect(resumed).toMatchObject({ exitCode: 0, stories: [{ status: "accepted" }] });
  });

  test("can work in a worktree, without changing the folder", async () => {
    const result = await loop({ ...base(), agent: writer(["42\n"]), worktree: true });
    expect(result.exitCode).toBe(0);
    expect(readFileSync(join(repository.root, "answer.txt"), "utf8")).toBe("40\n");
    expect(repository.git("show", `remand/${result.stories[0]!.id}:answer.txt`)).toContain("42");
  });

  test("stores no value of the project's .env files, and no secret of the config's patterns", async () => {
    repository.write(".env", "COLOR=tell-nobody-77\nNODE_ENV=development\n");
    repository.write(".env.local", 'export TASTE="hush hush hush"\n');
    repository.write(".env.example", "COLOR=a-made-up-one\n");
    repository.write(".gitignore", ".env*\n");
    const check = "cat .env .env.local .env.example; echo badge 4711-XY; grep -qx 42 answer.txt";
    await loop({
      ...base(),
      check,
      agent: writer(["41\n", "42\n"]),
      set: ["redact=['\\d{4}-XY']", "workspace.carry=[.env, .env.local, .env.example]"],
    });
    const evidence = join(repository.root, ".remand", "evidence");
    const kept = readdirSync(evidence, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => gunzipSync(readFileSync(join(entry.parentPath, entry.name))).toString("utf8"))
      .join("\n");
    expect(kept).toContain("NODE_ENV=development");
    expect(kept).toContain("a-made-up-one");
    expect(kept).not.toContain("tell-nobody-77");
    expect(kept).not.toContain("hush hush hush");
    expect(kept).toContain("badge ");
    expect(kept).not.toContain("4711-XY");
  });

  test.each([
    ["an empty check", { check: " " }, "usage", "the check is missing"],
    ["an empty goal", { goal: "" }, "usage", "the goal is empty"],
    ["no agent", { agent: [] }, "usage", "there is no agent"],
    ["a limit out of range", { limits: { iterations: 1000 } }, "config-invalid", "limits.iterations"],
    ["a wrong setting", { set: ["limts.failures=3"] }, "config-invalid", "limts"],
  ])("refuses %s", async (_what, wrong, code, message) => {
    const error = await loop({ ...base(), agent: writer([]), ...wrong }).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(RemandError);
    expect((error as RemandError).code).toBe(code);
    expect((error as RemandError).message).toContain(message);
  });
});

describe("run", () => {
  const CONFIG = { version: 1, preset: "goal", gates: { checks: { commands: [CHECK] } } } as const;
  const story = (id: string, more = ""): void => {
    const file = join(repository.root, "stories", `${id}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      `---\nid: ${id}\ntitle: Say the answer\nstatus: ready\ntarget: "*"\n${more}---\n\nSay it.\n\n## Acceptance Criteria\n\n- [ ] it is 42\n`,
    );
  };

  test("works on every story with the caller's agents, each in its worktree", async () => {
    story("one");
    story("two", "dependencies: [one]\n");
    const asked: AgentRequest[] = [];
    // The second story starts with the work of the first, so writing the same again would change nothing.
    const agents = { developer: writer(["41\n", "42\n", "42\nindeed\n"], asked) };
    const notices: string[] = [];
    const onNotice = (text: string): void => void notices.push(text);
    const result = await run({ root: repository.root, env: repository.env, config: CONFIG, agents, onNotice });
    expect(notices).toEqual([
      expect.stringContaining("has changes that are not committed: stories start from"),
      "two begins with the work of one, which is not merged yet",
    ]);
    expect(result.stories.map(({ id, status, attempts }) => ({ id, status, attempts }))).toEqual([
      { id: "one", status: "accepted", attempts: 2 },
      { id: "two", status: "accepted", attempts: 1 },
    ]);
    expect(result.exitCode).toBe(0);
    expect(new Set(asked.map(({ cwd }) => cwd))).not.toContain(repository.root);
  });

  test("works on the named stories and their dependencies", async () => {
    story("one");
    story("two", "dependencies: [one]\n");
    story("three");
    const agents = { developer: writer(["42\n", "42\nindeed\n"]) };
    const { stories } = await run({
      root: repository.root,
      config: CONFIG,
      agents,
      stories: ["two"],
      env: repository.env,
    });
    expect(stories.map(({ id, status }) => `${id} ${status}`)).toEqual(["two accepted"]);
  });

  test("without stories does nothing and creates nothing", async () => {
    const result = await run({ root: repository.root, config: CONFIG, env: repository.env });
    expect(result).toMatchObject({ exitCode: 0, stories: [] });
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("refuses an invalid config and an invalid story, with the location", async () => {
    story("one", "depends_on: [nobody]\npriority: high\n");
    const wrong = (config: object) =>
      run({ root: repository.root, env: repository.env, config }).then(
        () => null,
        (reason: unknown) => reason,
      );
    expect(await wrong({ ...CONFIG, limts: {} })).toMatchObject({ code: "config-invalid" });
    const error = (await wrong(CONFIG)) as RemandError;
    expect(error.code).toBe("story-invalid");
    expect(error.message).toContain("stories/one.md:");
  });
});
