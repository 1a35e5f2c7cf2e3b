import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createScriptedAgent } from "../../../src/agents/scripted/scripted-agent.ts";
import type { AgentEvent, AgentRequest } from "../../../src/ports/agent.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import { readAgentScript, type AgentScript } from "../../../src/parse/agent/agent-script.ts";
import type { ScriptedAttempt } from "../../../src/core/schemas/agent-script.ts";
import { agentRequest } from "../../contract/agent-request.ts";
import { describeAgent, type Behavior } from "../../contract/agent.ts";

const clock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    pause(ms, undefined, signal === undefined ? {} : { signal }).then(
      () => undefined,
      () => undefined,
    ),
};

const script = (text: string): AgentScript => {
  const { script, problems } = readAgentScript("script.yaml", text);
  expect(problems).toEqual([]);
  return script!;
};

function attemptOf({ writes, says, ends = "well", costs }: Behavior): ScriptedAttempt {
  return {
    ...(writes === undefined ? {} : { edit: { [writes.path]: writes.text } }),
    ...(says === undefined ? {} : { say: says }),
    ...(costs === undefined ? {} : { cost: costs.costUsd, tokens: costs.tokens }),
    ...(ends === "crash" || ends === "hang" ? { [ends]: true } : {}),
    ...(ends === "auth" || ends === "overloaded" || ends === "bad-request"
      ? { exit: { auth: 77, overloaded: 75, "bad-request": 78 }[ends] }
      : {}),
  };
}

describeAgent("scripted", {
  make: (behavior) =>
    createScriptedAgent({
      script: { parts: [{ attempts: [attemptOf(behavior)] }] },
      role: "developer",
      clock,
    }),
  leftovers: () => Promise.resolve(0),
});

describe("scripted", () => {
  let cwd: string;
  let outside: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "remand-worktree-"));
    outside = mkdtempSync(join(tmpdir(), "remand-outside-"));
  });
  afterEach(() => {
    for (const folder of [cwd, outside]) rmSync(folder, { recursive: true, force: true });
  });

  /** Each call has its own agent: it knows only the turn, and nothing of earlier calls. */
  function call(
    text: string,
    key: string,
    changes: Partial<AgentRequest> & { role?: string; signal?: AbortSignal } = {},
  ) {
    const { role = "developer", signal = new AbortController().signal, ...request } = changes;
    const events: AgentEvent[] = [];
    const agent = createScriptedAgent({ script: script(text), role, clock });
    return agent.run(agentRequest(cwd, { timeoutMs: 5000, key, ...request }), {
      signal,
      onEvent: (event) => events.push(event),
    });
  }
  const read = (path: string): string => readFileSync(join(cwd, path), "utf8");

  const THREE = "attempts: [{say: one}, {say: two}, {say: three}]";

  describe("the attempt to play", () => {
    test("is the request's turn, and the last one repeats", async () => {
      const said = [];
      for (const turn of [0, 1, 2, 3]) said.push((await call(THREE, `s:${turn}`, { turn })).text);
      expect(said).toEqual(["one", "two", "three", "three"]);
    });

    test("is the same for the same turn, however often and under any key", async () => {
      expect((await call(THREE, "s:2", { turn: 1 })).text).toBe("two");
      expect((await call(THREE, "s:9", { turn: 1 })).text).toBe("two");
    });

    test("ends with an error after the last one with `loop: error`", async () => {
      const text = "loop: error\nattempts: [{say: one}]";
      expect((await call(text, "s:1")).text).toBe("one");
      expect(await call(text, "s:2", { turn: 1 })).toMatchObject({
        status: "failed",
        error: { kind: "bad-request", message: "the script has 1 attempt, and this is call 2" },
      });
    });

    test("is from the first part that matches the role and the story", async () => {
      const text = `
parts:
  - match: { role: critic }
    attempts: [{ say: "REVIEW_PASSED: {story}" }]
  - match: { role: dev*, story: "pay-*" }
    attempts: [{ say: "{role} {story} {attempt}" }]
  - match: { story: other }
    attempts: [{ say: other }]
`;
      expect((await call(text, "pay-1:4", { role: "critic" })).text).toBe("REVIEW_PASSED: pay-1");
      expect((await call(text, "pay-1:9")).text).toBe("developer pay-1 1");
      expect((await call(text, "pay-1:11", { turn: 1 })).text).toBe("developer pay-1 2");
      expect((await call(text, "other:1")).text).toBe("other");
      const nothing = await call(text, "third:1");
      expect(nothing).toMatchObject({
        status: "failed",
        error: { kind: "bad-request", message: "the script says nothing for the role developer in the story third" },
      });
    });
  });

  describe("its effects", () => {
    test("writes, deletes, appends and replaces", async () => {
      writeFileSync(join(cwd, "old.txt"), "old");
      writeFileSync(join(cwd, "log.txt"), "a\n");
      writeFileSync(join(cwd, "code.js"), "return a - b;\n");
      const text = `
attempts:
  - edit: { "src/{story}.txt": "new\\n", old.txt: null }
    append: { log.txt: "b\\n", fresh.txt: "c" }
    replace: [{ path: code.js, from: "-", to: "+" }, { path: code.js, from: a, to: x }]
`;
      expect(await call(text, "s:1")).toMatchObject({ status: "completed", denied: [] });
      expect(read("src/s.txt")).toBe("new\n");
      expect(existsSync(join(cwd, "old.txt"))).toBe(false);
      expect([read("log.txt"), read("fresh.txt"), read("code.js")]).toEqual(["a\nb\n", "c", "return x + b;\n"]);
    });

    test("a killed call is played again over what it left, and repeats nothing", async () => {
      writeFileSync(join(cwd, "code.js"), "return a - b;\n");
      const text = 'attempts: [{replace: {path: code.js, from: "-", to: "+"}, append: {code.js: "// end\\n"}}]';
      expect(await call(text, "s:1")).toMatchObject({ status: "completed" });
      expect(await call(text, "s:3")).toMatchObject({ status: "completed" });
      expect(read("code.js")).toBe("return a + b;\n// end\n");
    });

    test.each([
      ["is not there", "replace: {path: none.js, from: a, to: b}", "there is no none.js in which to replace"],
      [
        "does not hold it",
        "replace: {path: code.js, from: zzz, to: b}",
        'code.js does not hold the text to replace: "zzz"',
      ],
      [
        "holds it twice",
        "replace: {path: code.js, from: a, to: b}",
        'code.js holds the text to replace more than once: "a"',
      ],
    ])("replacing in a file that %s changes nothing at all", async (_what, step, message) => {
      writeFileSync(join(cwd, "code.js"), "a a");
      const result = await call(`attempts: [{edit: {new.txt: x}, ${step}}]`, "s:1");
      expect(result).toMatchObject({ status: "failed", error: { kind: "bad-request", message } });
      expect(existsSync(join(cwd, "new.txt"))).toBe(false);
    });

    test.each([
      ["../x.txt", "leads out of the worktree"],
      ["a/../../x.txt", "leads out of the worktree"],
      ["/tmp/remand-never.txt", "leads out of the worktree"],
      ["link/x.txt", "by a link"],
      ["link/deep/er/x.txt", "by a link"],
      ["file-link", "by a link"],
      ["dangling", "by a link"],
      [".git/hooks/pre-commit", "is git's own"],
      ["sub/.git/config", "is git's own"],
      ["folder", "is a folder"],
    ])("the path %s is rejected before anything is written", async (path, message) => {
      symlinkSync(outside, join(cwd, "link"));
      writeFileSync(join(outside, "secret.txt"), "theirs");
      symlinkSync(join(outside, "secret.txt"), join(cwd, "file-link"));
      symlinkSync(join(outside, "missing.txt"), join(cwd, "dangling"));
      mkdirSync(join(cwd, "folder"));
      const result = await call(`attempts: [{edit: {first.txt: x, "${path}": bad}}]`, "s:1");
      expect(result).toMatchObject({ status: "failed", error: { kind: "bad-request" } });
      expect(result.error?.message).toContain(message);
      expect(existsSync(join(cwd, "first.txt"))).toBe(false);
      expect(readdirSync(outside)).toEqual(["secret.txt"]);
      expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("theirs");
    });

    test("a link that stays inside is followed", async () => {
      mkdirSync(join(cwd, "real"));
      symlinkSync("real", join(cwd, "alias"));
      expect(await call("attempts: [{edit: {alias/x.txt: inside}}]", "s:1")).toMatchObject({ status: "completed" });
      expect(read("real/x.txt")).toBe("inside");
    });

    test("with read access nothing is changed, and a note says so", async () => {
      const result = await call("attempts: [{edit: {a.txt: a}, say: done}]", "s:1", { access: "read" });
      expect(result).toMatchObject({ status: "completed", text: "done", denied: ["edit: it may only look"] });
      expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    });

    test("an answer in the requested form", async () => {
      expect((await call("attempts: [{output: {verdict: pass}}]", "s:1")).output).toEqual({ verdict: "pass" });
    });
  });

  describe("its end", () => {
    test("a crash comes after the edits, as with a real agent", async () => {
      expect(await call("attempts: [{edit: {half.txt: x}, crash: true, cost: 0.1}]", "s:1")).toMatchObject({
        status: "failed",
        costUsd: 0.1,
        error: { kind: "crash" },
      });
      expect(read("half.txt")).toBe("x");
    });

    test.each([
      "auth",
      "rate-limit",
      "overloaded",
      "refused",
      "credit",
      "context-length",
      "bad-request",
      "launch",
      "crash",
    ])("by the error %s", async (kind) => {
      expect(await call(`attempts: [{error: ${kind}}]`, "s:1")).toMatchObject({ status: "failed", error: { kind } });
    });

    test("with a time for the retry", async () => {
      const before = clock.now();
      const result = await call("attempts: [{error: rate-limit, retryAfter: 2s}]", "s:1");
      expect(result.error?.retryAt).toBeGreaterThanOrEqual(before + 2000);
    });

    test("with an answer that cannot be parsed", async () => {
      const result = await call("attempts: [{garbage: true}]", "s:1");
      expect(result.status).toBe("completed");
      expect(result.text).toContain("READY_FOR_REV\n");
    });

    test("a delay beyond the timeout is a timeout without effects", async () => {
      expect(await call("attempts: [{delay: 1m, edit: {a.txt: a}}]", "s:1", { timeoutMs: 100 })).toMatchObject({
        status: "timeout",
      });
      expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    });

    test("a shorter delay is waited for", async () => {
      const result = await call("attempts: [{delay: 120ms, say: late}]", "s:1");
      expect(result).toMatchObject({ status: "completed", text: "late" });
      expect(result.durationMs).toBeGreaterThanOrEqual(110);
    });
  });
});
