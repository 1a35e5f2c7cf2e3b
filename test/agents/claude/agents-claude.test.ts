import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createClaudeAgent } from "../../../src/agents/claude/claude-agent.ts";
import type { ClientAgentOptions } from "../../../src/agents/client/client.ts";
import type { AgentRequest } from "../../../src/ports/agent.ts";
import { createCookies } from "../client-under-test.ts";
import { askedOf, makeFake, type Asked, type FakeClient } from "../fake-clients.ts";
import { workplace } from "../workplace.ts";
import { describeAgent, type Behavior } from "../../contract/agent.ts";

const cookies = createCookies();
const source = { PATH: "/usr/bin:/bin", HOME: tmpdir(), ANTHROPIC_API_KEY: "sk-ant-none", GITHUB_TOKEN: "secret" };
let newest: FakeClient;

describeAgent("claude", {
  make(behavior, folder) {
    newest = makeFake("claude", folder, behavior);
    return createClaudeAgent({
      command: newest.program,
      root: folder,
      environment: { source, sees: [] },
      cookieOf: cookies.of,
    });
  },
  leftovers: cookies.left,
  client: {
    answer: { tokens: 1000, costUsd: 0.0056 },
    troubles: ["rate-limit", "refused", "credit", "context-length"],
    prompts: () => promptsOf(newest),
  },
});

/** Returns the fake's prompts of the last conversation. */
function promptsOf(fake: FakeClient): readonly string[] {
  const { args } = askedOf(fake).at(-1)!;
  const id = args[args.indexOf("--resume") + 1] ?? "";
  return (JSON.parse(readFileSync(join(fake.asked, "..", `${id}.json`), "utf8")) as { prompts: string[] }).prompts;
}

describe("claude", () => {
  const place = workplace(cookies.left);
  let fake: FakeClient;

  function run(
    behavior: Behavior | { readonly raw: string },
    changes: Partial<AgentRequest> = {},
    options: Partial<ClientAgentOptions> = {},
  ) {
    fake = makeFake("claude", place.folder, behavior);
    const agent = createClaudeAgent({
      command: fake.program,
      root: place.folder,
      environment: { source, sees: [] },
      tempFolder: place.folder,
      cookieOf: cookies.of,
      ...options,
    });
    return place.run(agent, changes);
  }
  const asked = (): Asked => askedOf(fake).at(-1)!;
  const valueOf = (name: string): string | undefined => asked().args[asked().args.indexOf(name) + 1];

  test("loads no settings of the worktree or the user", async () => {
    await run({});
    expect(asked().args).toEqual(expect.arrayContaining(["--strict-mcp-config", "--disable-slash-commands"]));
    expect(valueOf("--setting-sources")).toBe("");
  });

  test.each([
    ["read", "dontAsk", "Read,Grep,Glob"],
    ["edit", "acceptEdits", "Read,Grep,Glob,Edit,Write,NotebookEdit,Bash,Task,TodoWrite"],
    ["full", "acceptEdits", "Read,Grep,Glob,Edit,Write,NotebookEdit,Bash,Task,TodoWrite,WebFetch,WebSearch"],
  ] as const)("access %s is the mode %s with the tools %s", async (access, mode, tools) => {
    await run({}, { access });
    expect(valueOf("--permission-mode")).toBe(mode);
    expect(valueOf("--tools")).toBe(tools);
    expect(asked().args.includes("--allowedTools")).toBe(access === "full");
  });

  test.each<[AgentRequest["access"], readonly string[], string, string | null]>([
    ["edit", ["Read", "Edit"], "Read,Edit", null],
    ["read", ["Read", "Bash", "Edit"], "Read", null],
    ["edit", ["Read", "Bash(git log:*)", "Bash(npm test)"], "Read,Bash", "Bash(git log:*),Bash(npm test)"],
    ["edit", ["Bash", "Bash(git log:*)"], "Bash", null],
    ["full", ["Bash(ls)"], "Bash", "Bash(ls),WebFetch,WebSearch"],
    ["read", ["Bash(ls)"], "", null],
    ["full", ["mcp__other__x", "Nonsense"], "", "WebFetch,WebSearch"],
  ])("access %s of a role that names %j has the tools %j, within the access", async (access, ...rest) => {
    const [named, tools, allowed] = rest;
    await run({}, { access, tools: named });
    expect(valueOf("--tools")).toBe(tools);
    expect(asked().args.includes("--allowedTools") ? valueOf("--allowedTools") : null).toBe(allowed);
  });

  test("a role that names its commands gets no others in a sandbox", async () => {
    for (const name of ["bwrap", "socat"]) writeFileSync(join(place.folder, name), "#!/bin/sh\n", { mode: 0o755 });
    const environment = { source: { ...source, PATH: `${place.folder}:/usr/bin:/bin` }, sees: [] };
    const isLetIn = (): unknown =>
      (JSON.parse(valueOf("--settings")!) as { sandbox: Record<string, unknown> }).sandbox["autoAllowBashIfSandboxed"];
    await run({}, { tools: ["Bash(npm test)"] }, { environment });
    expect(isLetIn()).toBe(false);
    await run({}, { tools: ["Read", "Bash"] }, { environment });
    expect(isLetIn()).toBe(true);
  });

  test("a role with full access gets it for edits, and never for reading", async () => {
    await run({}, { access: "edit" }, { edits: "full" });
    expect(valueOf("--allowedTools")).toBe("Bash,WebFetch,WebSearch");
    await run({}, { access: "read" }, { edits: "full" });
    expect(valueOf("--tools")).toBe("Read,Grep,Glob");
  });

  test("commands run in a sandbox if the machine has the programs for it, and only with edit access", async () => {
    for (const name of ["bwrap", "socat"]) writeFileSync(join(place.folder, name), "#!/bin/sh\n", { mode: 0o755 });
    const environment = { source: { ...source, PATH: `${place.folder}:/usr/bin:/bin` }, sees: [] };
    await run({}, {}, { environment });
    expect(JSON.parse(valueOf("--settings")!)).toEqual({
      sandbox: {
        enabled: true,
        autoAllowBashIfSandboxed: true,
        allowUnsandboxedCommands: false,
        failIfUnavailable: true,
      },
    });
    await run({}, { access: "full" }, { environment });
    expect(asked().args).not.toContain("--settings");
    await run({}, {}, { environment: { source: { ...source, PATH: place.folder.replace("own", "none") }, sees: [] } });
    expect(asked().args).not.toContain("--settings");
  });

  test("files that its sandbox leaves behind are removed, and nothing else", async () => {
    for (const name of ["bwrap", "socat"]) writeFileSync(join(place.folder, name), "#!/bin/sh\n", { mode: 0o755 });
    writeFileSync(join(place.cwd, ".npmrc"), "", { mode: 0o444 });
    const raw = `fs.mkdirSync(".claude/skills", { recursive: true });
      for (const name of [".bashrc", ".mcp.json", ".claude/settings.json"]) fs.writeFileSync(name, "", { mode: 0o444 });
      fs.writeFileSync("empty.txt", ""); fs.writeFileSync("locked.txt", "x", { mode: 0o444 }); process.exit(3);`;
    const environment = { source: { ...source, PATH: `${place.folder}:/usr/bin:/bin` }, sees: [] };
    await run({ raw }, {}, { environment });
    expect(readdirSync(place.cwd).sort()).toEqual([".npmrc", "empty.txt", "locked.txt"]);
  });

  test("sees its login and the named variables only; the programs of the agent see no login", async () => {
    const raw = `const { execFileSync } = require("node:child_process");
      const seen = execFileSync(process.env.CLAUDE_CODE_SHELL_PREFIX, ['echo "[$ANTHROPIC_API_KEY|$NAMED]" "a  b"']).toString();
      print({ type: "result", is_error: false, result: seen });`;
    const environment = { source: { ...source, NAMED: "seen" }, sees: ["NAMED"] };
    const result = await run({ raw }, { env: { ADDED: "added" } }, { environment });
    expect(result.text).toBe("[|seen] a  b\n");
    const { env } = asked();
    expect(env).toMatchObject({ ANTHROPIC_API_KEY: "sk-ant-none", NAMED: "seen", ADDED: "added" });
    expect(env["GITHUB_TOKEN"]).toBeUndefined();
    expect(env).toMatchObject({ DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" });
  });

  test("the project's instructions come before the first prompt of a conversation, and not before later ones", async () => {
    const first = await run({}, {}, { instructions: "Use tabs." });
    expect(asked().stdin).toBe("Use tabs.\n\nfix the parser");
    await run({}, { session: first.session, prompt: "again" }, { instructions: "Use tabs." });
    expect(asked().stdin).toBe("again");
  });

  test("model and more arguments are passed on", async () => {
    await run({}, { model: "opus" }, { args: ["--effort", "low"] });
    expect(valueOf("--model")).toBe("opus");
    expect(asked().args.slice(-2)).toEqual(["--effort", "low"]);
  });

  test("a rate limit says when to try again, and a wrong key does not wait for all retries", async () => {
    const limited = await run({ ends: "rate-limit" }, {}, { now: () => 1_000_000 });
    expect(limited.error).toMatchObject({ kind: "rate-limit", retryAt: 1_120_000 });
    const auth = await run({ ends: "auth" });
    expect(auth.error).toMatchObject({ kind: "auth", fix: expect.stringContaining("ANTHROPIC_API_KEY") });
  });

  test("a subscription's limit says when it ends", async () => {
    const raw = `print({ type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1794750000 } });
      print({ type: "result", is_error: true, api_error_status: 429, result: "You've hit your limit" });`;
    expect((await run({ raw })).error).toMatchObject({ kind: "rate-limit", retryAt: 1_794_750_000_000 });
  });

  test.each([
    ["Not logged in · Please run /login", null, "auth"],
    ["API Error: Unable to connect to API (ECONNREFUSED)", null, "overloaded"],
    ["API Error: 500 Internal", 500, "overloaded"],
    ["something odd", null, "crash"],
  ] as const)("%j with status %s is %s", async (text, status, kind) => {
    const raw = `print({ type: "result", is_error: true, api_error_status: ${status}, result: ${JSON.stringify(text)} });`;
    expect((await run({ raw })).error?.kind).toBe(kind);
  });

  test("an older version counts each run separately", async () => {
    const raw = `print({ type: "result", is_error: false, result: "x", usage: { input_tokens: 900, output_tokens: 100 },
      modelUsage: { m: { inputTokens: 900, outputTokens: 100, costUSD: 0.005 } } });`;
    const session = {
      agent: "claude",
      id: "11111111-1111-4111-8111-111111111111",
      totals: { tokens: 1000, costUsd: 0.005 },
    };
    const result = await run({ raw }, { session });
    expect(result).toMatchObject({
      tokens: 1000,
      costUsd: 0.005,
      session: { totals: { tokens: 2000, costUsd: 0.01 } },
    });
  });

  test("usage that an interrupted run could not report is counted with the next", async () => {
    const used = (n: number) => `{ m: { inputTokens: ${n}, outputTokens: 0, costUSD: ${n / 1000} } }`;
    const raw = `print({ type: "result", is_error: false, result: "x", modelUsage: ${used(5000)}, model_usage_since_last_result: ${used(1000)} });`;
    const session = {
      agent: "claude",
      id: "11111111-1111-4111-8111-111111111111",
      totals: { tokens: 2000, costUsd: 2 },
    };
    expect(await run({ raw }, { session })).toMatchObject({ tokens: 3000, costUsd: 3 });
  });

  test("several results of one run are added, and an estimated price counts as none", async () => {
    const raw = `const used = (costBasis) => ({ m: { inputTokens: 10, cacheReadInputTokens: 5, costUSD: 1, costBasis } });
      print({ type: "result", is_error: false, result: "one", model_usage_since_last_result: used("list") });
      print({ type: "result", is_error: false, result: "two", model_usage_since_last_result: used("unknown") });`;
    expect(await run({ raw })).toMatchObject({ text: "two", tokens: 30, costUsd: null });
  });

  test("denials are reported", async () => {
    const raw = `print({ type: "result", is_error: false, result: "", permission_denials: [{ tool_name: "Bash", tool_input: { command: "curl x" } }] });`;
    expect((await run({ raw })).denied).toEqual(["Bash: curl x"]);
  });

  test.each([
    ["garbage", 'fs.writeSync(1, "\\u0000\\u001b[31mnot json\\n{\\n[1]\\nnull\\n");'],
    ["half a line", `fs.writeSync(1, '{"type":"result","is_error":false,"resu');`],
    ["nothing", ""],
    [
      "fields of other types",
      'print({ type: "assistant", message: { content: [null, 3, { type: "text", text: 7 }] }, session_id: 5 }); print({ type: "system", subtype: [] });',
    ],
  ])("%s is a crash and does not throw", async (_, raw) => {
    const result = await run({ raw });
    expect(result).toMatchObject({ status: "failed", error: { kind: "crash" }, tokens: null, costUsd: null });
  });

  test("a result after a hundred megabytes of noise is read", async () => {
    const raw = `const noise = Buffer.alloc(1024 * 1024, "x"); noise[noise.length - 1] = 10;
      for (let i = 0; i < 100; i++) for (let at = 0; at < noise.length; ) at += fs.writeSync(1, noise, at);
      print({ type: "result", is_error: false, result: "heard" });`;
    const result = await run({ raw }, { timeoutMs: 60_000 });
    expect(result).toMatchObject({ status: "completed", text: "heard" });
  });

  test("a client that does not know an argument is reported as outdated", async () => {
    const result = await run({ raw: `process.stderr.write("error: unknown option '--tools'\\n"); process.exit(1);` });
    expect(result.error).toMatchObject({ kind: "bad-request", fix: expect.stringMatching(/up to date/) });
  });

  test("a missing client is reported, with the command that installs it", async () => {
    const result = await run({}, {}, { command: "./nowhere/claude" });
    expect(result.error).toMatchObject({ kind: "launch", fix: expect.stringContaining("npm install") });
    const unnamed = await run(
      {},
      {},
      { command: undefined, environment: { source: { PATH: place.folder }, sees: [] } },
    );
    expect(unnamed.error).toMatchObject({ kind: "launch", message: "there is no claude on this machine" });
  });

  test("a dispatch leaves no files", async () => {
    await run({}, { outputSchema: { type: "object" } });
    expect(readdirSync(place.folder)).toEqual(["claude"]);
  });
});
