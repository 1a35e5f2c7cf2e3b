import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCommandAgent, type CommandAgentOptions } from "../../../src/agents/command/command-agent.ts";
import type { AgentEvent, AgentRequest } from "../../../src/ports/agent.ts";
import { createCookies } from "../client-under-test.ts";
import { agentRequest } from "../../contract/agent-request.ts";
import { describeAgent, type Behavior } from "../../contract/agent.ts";

const environment = { source: process.env, sees: [] } as const;
const EXITS: { readonly [E in NonNullable<Behavior["ends"]>]?: number } = {
  well: 0,
  crash: 3,
  hang: 0,
  auth: 77,
  overloaded: 75,
  "bad-request": 64,
};
const cookies = createCookies();

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function shellScript({ writes, says, ends = "well", costs }: Behavior): string {
  const lines: string[] = [];
  if (writes !== undefined)
    lines.push(
      `mkdir -p "$(dirname ${quoted(writes.path)})"`,
      `printf %s ${quoted(writes.text)} > ${quoted(writes.path)}`,
    );
  if (says !== undefined) lines.push(`echo ${quoted(says)}`);
  if (costs !== undefined) {
    const report = {
      text: says,
      usage: { inputTokens: costs.tokens - 200, outputTokens: 200 },
      costUsd: costs.costUsd,
    };
    lines.push(`printf %s ${quoted(JSON.stringify(report))} > "$REMAND_RESULT_FILE"`);
  }
  // The child that hangs leaves its parent's session and ignores signals.
  if (ends === "hang") lines.push(`setsid sh -c 'trap "" INT TERM; while :; do sleep 1; done' & sleep 1000`);
  lines.push(`exit ${EXITS[ends] ?? 1}`);
  return lines.join("\n");
}

describeAgent("command", {
  make: (behavior) => createCommandAgent({ command: shellScript(behavior), environment, cookieOf: cookies.of }),
  leftovers: cookies.left,
});

describe("command", () => {
  let cwd: string;
  let temp: string;
  let events: AgentEvent[];
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "remand-worktree-"));
    temp = mkdtempSync(join(tmpdir(), "remand-temp-"));
    events = [];
  });
  afterEach(async () => {
    const files = readdirSync(temp);
    rmSync(cwd, { recursive: true, force: true });
    rmSync(temp, { recursive: true, force: true });
    const left = await cookies.left();
    if (files.length > 0 || left > 0) throw new Error(`left behind: ${left} processes, files ${files.join(", ")}`);
  });

  function run(
    command: CommandAgentOptions["command"],
    changes: Partial<AgentRequest> = {},
    options: Partial<CommandAgentOptions> = {},
  ) {
    const agent = createCommandAgent({ command, environment, tempFolder: temp, cookieOf: cookies.of, ...options });
    const request = agentRequest(cwd, { prompt: "fix the parser\n", ...changes });
    return agent.run(request, { signal: new AbortController().signal, onEvent: (event) => events.push(event) });
  }
  const lines = () => events.flatMap((event) => (event.type === "output" ? [event.line] : []));

  test("gets the prompt on stdin and in a file that only it may read", async () => {
    const result = await run('cat; cat "$REMAND_PROMPT_FILE"; stat -c %a "$REMAND_PROMPT_FILE"');
    expect(result.text).toBe("fix the parser\nfix the parser\n600\n");
  });

  test("gets its access, session, model, key, and the schema's file", async () => {
    const session = { agent: "command", id: "conversation 7" };
    const result = await run(
      'echo "$REMAND_ACCESS|$REMAND_SESSION|$REMAND_MODEL|$REMAND_KEY"; cat "$REMAND_SCHEMA_FILE"',
      {
        access: "read",
        session,
        model: "large",
        outputSchema: { type: "object" },
        key: "story:12",
        turn: 0,
      },
    );
    expect(result.text).toBe('read|conversation 7|large|story:12\n{"type":"object"}');
  });

  test("variables without a value are empty, even inside another agent's dispatch", async () => {
    const source = { ...process.env, REMAND_SESSION: "outer", REMAND_MODEL: "outer", REMAND_SCHEMA_FILE: "/outer" };
    const result = await run(
      'set -u; echo "[$REMAND_SESSION$REMAND_MODEL$REMAND_SCHEMA_FILE]"',
      {},
      { environment: { source, sees: "everything" } },
    );
    expect(result.text).toBe("[]\n");
  });

  test("sees the usual variables, the named ones, and those of the request", async () => {
    const source = { PATH: process.env["PATH"], SECRET_KEY: "s3cret", NAMED: "seen" };
    const show = 'echo "$SECRET_KEY|$NAMED|$ADDED"; test -n "$PATH"';
    const listed = await run(show, { env: { ADDED: "added" } }, { environment: { source, sees: ["NAMED"] } });
    expect(listed).toMatchObject({ status: "completed", text: "|seen|added\n" });
    const inherited = await run(show, {}, { environment: { source, sees: "everything" } });
    expect(inherited.text).toBe("s3cret|seen|\n");
  });

  test("arguments go past every shell", async () => {
    const result = await run(["printf", "%s|", "a b", "$HOME; ls", "*"]);
    expect(result.text).toBe("a b|$HOME; ls|*|");
  });

  test.each([
    [75, "overloaded"],
    [77, "auth"],
    [64, "bad-request"],
    [78, "bad-request"],
    [126, "launch"],
    [127, "launch"],
    [1, "crash"],
    [139, "crash"],
  ] as const)("exit code %i is %s, with the last lines of output", async (code, kind) => {
    const result = await run(`echo working; echo "it went wrong" >&2; exit ${code}`);
    expect(result).toMatchObject({
      status: "failed",
      error: { kind, message: `command ended with exit code ${code}: it went wrong` },
    });
  });

  test("a crash with a stack trace is told by its error, not by the end of the trace", async () => {
    const trace = [
      "const a = b;",
      "          ^",
      "ReferenceError: b is not defined",
      "    at S (file:///agent.mjs:29:394)",
      "    at async run (node:internal/run_main:117:5)",
      "",
      "Node.js v24.1.0",
    ];
    const result = await run(`printf '%s\\n' ${trace.map((line) => `'${line}'`).join(" ")} >&2; exit 1`);
    expect(result.error?.message).toBe("command ended with exit code 1: ReferenceError: b is not defined");
    const plain = await run(`printf 'look\\nat least one\\n' >&2; exit 1`);
    expect(plain.error?.message).toBe("command ended with exit code 1: look / at least one");
  });

  test("a missing program cannot be launched, with a shell or without", async () => {
    expect(await run(["no-such-program-here"])).toMatchObject({
      status: "failed",
      error: { kind: "launch", message: "there is no program no-such-program-here" },
    });
    expect(await run("no-such-program-here --fast")).toMatchObject({ status: "failed", error: { kind: "launch" } });
  });

  test("a program that was killed has crashed", async () => {
    expect(await run("kill -9 $$")).toMatchObject({
      status: "failed",
      error: { kind: "crash", message: "command was ended by SIGKILL" },
    });
  });

  test("its result file has priority over its output", async () => {
    const report = {
      text: "done",
      output: { verdict: "pass" },
      session: "c-1",
      usage: { totalTokens: 31 },
      costUsd: 0,
    };
    const result = await run(`echo noise; printf %s ${quoted(JSON.stringify(report))} > "$REMAND_RESULT_FILE"`);
    const session = { agent: "command", id: "c-1" };
    expect(result).toMatchObject({
      status: "completed",
      text: "done",
      output: { verdict: "pass" },
      session,
      tokens: 31,
      costUsd: 0,
    });
    expect(events).toContainEqual({ type: "session", session });
  });

  test("an almost valid JSON result file is read", async () => {
    const result = await run(`printf %s "{text: 'done', costUsd: 0.5,}" > "$REMAND_RESULT_FILE"`);
    expect(result).toMatchObject({ text: "done", costUsd: 0.5 });
  });

  test("a result file that is not JSON is the text, with a note", async () => {
    const result = await run('echo noise; echo "READY_FOR_REVIEW: s" > "$REMAND_RESULT_FILE"');
    expect(result).toMatchObject({ status: "completed", text: "READY_FOR_REVIEW: s\n", costUsd: null });
    expect(lines()).toContain("command: its result file is not JSON; it was taken as text");
  });

  test.each([
    ['{"text": 7, "session": {}, "usage": "many", "costUsd": -1}', "text, session, usage, costUsd"],
    ['{"text": "done", "costUsd": "free"}', "costUsd"],
  ])("fields of a wrong type are ignored with a note: %s", async (report, named) => {
    const result = await run(`echo printed; printf %s ${quoted(report)} > "$REMAND_RESULT_FILE"`);
    expect(result).toMatchObject({ status: "completed", tokens: null, costUsd: null, session: null });
    expect(lines()).toContain(`command: its result file has no usable ${named}`);
  });

  test.each([
    ["a link", 'ln -s /etc/passwd "$REMAND_RESULT_FILE"', "is a link"],
    ["a pipe that never ends", 'mkfifo "$REMAND_RESULT_FILE"', "not a plain file"],
    ["a folder", 'mkdir "$REMAND_RESULT_FILE"', "not a plain file"],
    ["eleven megabytes", 'head -c 11534336 /dev/zero > "$REMAND_RESULT_FILE"', "larger than 10 MB"],
  ])("a result file that is %s is not read", async (_what, make, note) => {
    const result = await run(`echo printed; ${make}`);
    expect(result).toMatchObject({ status: "completed", text: "printed\n" });
    expect(lines().join("\n")).toContain(note);
  });

  test("without a result file JSON on stdout is the answer, if one was requested", async () => {
    const command = `echo '{"verdict": "fail"}'`;
    expect((await run(command, { outputSchema: {} })).output).toEqual({ verdict: "fail" });
    expect((await run(command)).output).toBeNull();
    expect((await run("echo no answer", { outputSchema: {} })).output).toBeNull();
  });

  test("a hundred megabytes of output are cut in the middle, with a note", async () => {
    const result = await run(
      "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo the end",
      {},
      { maxOutputBytes: 100_000 },
    );
    expect(result.status).toBe("completed");
    expect(result.text.length).toBeLessThan(101_000);
    expect(result.text).toMatch(/bytes were cut here/);
    expect(result.text.endsWith("the end\n")).toBe(true);
    expect(Math.max(...lines().map((line) => line.length))).toBeLessThan(4100);
  });

  test("output before a timeout is kept", async () => {
    const result = await run('echo half; echo \'{"session": "c-9"}\' > "$REMAND_RESULT_FILE"; sleep 100', {
      timeoutMs: 3000,
    });
    expect(result).toMatchObject({ status: "timeout", text: "half\n", session: { id: "c-9" } });
  });

  test("an unwritable folder for its files is a failure, and does not throw", async () => {
    const file = join(cwd, "file");
    writeFileSync(file, "");
    chmodSync(file, 0o400);
    const result = await run("true", {}, { tempFolder: file });
    expect(result).toMatchObject({ status: "failed", error: { kind: "launch" } });
    expect(result.error?.message).toMatch(/files for command could not be written/);
  });

  test("its files are removed when it has ended", async () => {
    const result = await run('echo "$REMAND_PROMPT_FILE"');
    expect(result.text.trim().startsWith(temp)).toBe(true);
    expect(existsSync(result.text.trim())).toBe(false);
  });
});
