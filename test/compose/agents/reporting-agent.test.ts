import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClaudeAgent } from "../../../src/agents/claude/claude-agent.ts";
import { createCodexAgent } from "../../../src/agents/codex/codex-agent.ts";
import { reportingAgent } from "../../../src/compose/agents/client-agents.ts";
import { outcomeOf } from "../../../src/engine/perform/attempt-outcome.ts";
import type { AgentRequest, AgentResult } from "../../../src/ports/agent.ts";
import { readAgentAnswer } from "../../../src/parse/agent/agent-answer.ts";
import { askedOf, makeFake, type FakeClient } from "../../agents/fake-clients.ts";
import { agentRequest } from "../../contract/agent-request.ts";

/** A client that calls tools of its server, and then prints a message. */
const CLAUDE = (calls: readonly object[], says: string): string => `
const { mcpServers: { remand: { url, headers } } } = JSON.parse(fs.readFileSync(option("--mcp-config"), "utf8"));
${caller(calls)}.then((said) => print({ type: "result", is_error: false, result: ${JSON.stringify(says)} || said, session_id: option("--session-id") }));`;
const CODEX = (calls: readonly object[], says: string): string => `
const set = Object.fromEntries(args.flatMap((arg, i) => arg === "-c" ? [args[i + 1].split(/=(.*)/s).slice(0, 2)] : []));
const url = JSON.parse(set["mcp_servers.remand.url"]);
const headers = { Authorization: "Bearer " + process.env[JSON.parse(set["mcp_servers.remand.bearer_token_env_var"])] };
${caller(calls)}.then((said) => {
  print({ type: "thread.started", thread_id: "t" });
  print({ type: "item.completed", item: { type: "agent_message", text: ${JSON.stringify(says)} || said } });
  print({ type: "turn.completed", usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } });
});`;
const caller = (calls: readonly object[]): string => `(async () => {
  const said = [];
  const send = async (method, params) => (await (await fetch(url, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) })).json()).result;
  await send("initialize", { protocolVersion: "2025-06-18" });
  for (const params of ${JSON.stringify(calls)}) said.push((await send("tools/call", params)).content[0].text);
  return said.join("\\n");
})()`;

describe.each([
  ["claude", CLAUDE, createClaudeAgent],
  ["codex", CODEX, createCodexAgent],
] as const)("%s reports by a tool", (client, script, create) => {
  let folder: string;
  let fake: FakeClient;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remand-report-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function run(calls: readonly object[], says: string, changes: Partial<AgentRequest> = {}): Promise<AgentResult> {
    fake = makeFake(client, folder, { raw: script(calls, says) });
    const source = { PATH: process.env["PATH"], HOME: folder };
    const agent = reportingAgent(create({ command: fake.program, root: folder, environment: { source, sees: [] } }));
    const usual = { timeoutMs: 30_000, report: { story: "cart", kind: "work" } } as const;
    const request = agentRequest(folder, { ...usual, ...changes });
    return agent.run(request, { signal: new AbortController().signal, onEvent: () => undefined });
  }
  const heard = (result: AgentResult) => outcomeOf(result, { id: "cart", reports: "signal", nowMs: 0 });
  const ready = { name: "report_ready", arguments: { story: "cart", outcome: "ready", summary: "tabs are accepted" } };
  const VERDICT = { report: { story: "cart", kind: "verdict" }, access: "read" } as const;

  test("work that is reported as ready counts as ready, without a signal in the message", async () => {
    const result = await run([ready], "All done.");
    expect(result.error).toBeNull();
    expect(heard(result)).toEqual({ outcome: { type: "ready" }, text: "tabs are accepted" });
    expect(askedOf(fake)[0]!.stdin).toContain("report_ready");
  });

  test("a message that contradicts the report invalidates both", async () => {
    const result = await run([ready], "TASK_INCOMPLETE: cart\n\nBlocker: no tabs\n");
    expect(heard(result)).toMatchObject({ outcome: { type: "unclear" } });
  });

  test("a reported question goes to a person, and a dispute is added to the message", async () => {
    const dispute = { name: "dispute_finding", arguments: { story: "cart", finding: "1", reason: "tabs are wanted" } };
    const ask = { name: "ask_human", arguments: { story: "cart", question: "tabs or spaces?" } };
    const result = await run([dispute, ask], "I must ask.");
    expect(heard(result)).toMatchObject({
      outcome: { type: "incomplete", category: "missing_info", blocker: "tabs or spaces?" },
    });
    expect(result.text).toBe("I must ask.\n\nDispute: 1: tabs are wanted");
  });

  test("a reviewer's verdict counts after an invalid one was rejected", async () => {
    const issue = { severity: "major", category: "bug", description: "drops tabs", file: "a.ts", line: 3 };
    const result = await run(
      [
        { name: "report_verdict", arguments: { story: "cart", verdict: "fail", issues: [] } },
        { name: "report_verdict", arguments: { story: "cart", verdict: "fail", issues: [issue] } },
      ],
      "",
      VERDICT,
    );
    expect(result.text).toContain("list at least one");
    const reading = readAgentAnswer(result, { id: "cart", role: "critic" });
    expect(reading).toMatchObject({ result: "fail", findings: [{ message: "drops tabs", file: "a.ts", line: 3 }] });
  });

  test("a reviewer has only its own tool, and an agent with an output schema has none", async () => {
    const result = await run([ready, { name: "report_verdict", arguments: {} }], "", VERDICT).catch(() => null);
    expect(result?.output ?? null).toBeNull();
    await run([], "x", { outputSchema: { type: "object" } });
    expect(askedOf(fake).at(-1)!.args.join(" ")).not.toMatch(/--mcp-config|mcp_servers/);
  });

  test("the token is in no argument, and programs that the agent runs cannot see it", async () => {
    await run([ready], "done");
    const { args } = askedOf(fake)[0]!;
    expect(args.join(" ")).not.toMatch(/[0-9a-f]{64}/);
    if (client === "codex") expect(args.join(" ")).toContain('"REMAND_MCP_TOKEN"]');
  });
});
