import { rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createAcpAgent, type AcpAgentOptions } from "../../../src/agents/acp/acp-agent.ts";
import { reportingAgent } from "../../../src/compose/agents/client-agents.ts";
import type { AgentRequest, AgentResult } from "../../../src/ports/agent.ts";
import { readAgentAnswer } from "../../../src/parse/agent/agent-answer.ts";
import { createCookies } from "../client-under-test.ts";
import { heardBy, makeAcp, type AcpBehavior, type AcpMessage } from "../fake-acp.ts";
import { workplace } from "../workplace.ts";
import { agentRequest } from "../../contract/agent-request.ts";
import { describeAgent } from "../../contract/agent.ts";

const cookies = createCookies();
const source = { PATH: "/usr/bin:/bin", HOME: tmpdir(), SECRET: "x" };

function make(folder: string, behavior: AcpBehavior, options: Partial<AcpAgentOptions> = {}) {
  const fake = makeAcp(join(folder, "acp"), behavior);
  const environment = { source, sees: [] };
  return { fake, agent: createAcpAgent({ command: fake.program, environment, cookieOf: cookies.of, ...options }) };
}

describeAgent("acp", {
  make(behavior, folder) {
    const { agent } = make(folder, behavior);
    // Conversations are tested below: the suite expects an agent to have none, or structured answers too.
    return { name: agent.name, run: async (...given) => ({ ...(await agent.run(...given)), session: null }) };
  },
  leftovers: cookies.left,
});

describe("acp", () => {
  const place = workplace(cookies.left);
  let heard: readonly AcpMessage[];

  async function run(
    behavior: AcpBehavior,
    changes: Partial<AgentRequest> = {},
    options: Partial<AcpAgentOptions> = {},
  ): Promise<AgentResult> {
    const { fake, agent } = make(place.folder, behavior, options);
    const result = await place.run(reportingAgent(agent), changes);
    heard = heardBy(fake.heard);
    return result;
  }
  const sent = (method: string): readonly Readonly<Record<string, unknown>>[] =>
    heard.filter((message) => message.method === method).map(({ params }) => params!);
  const answers = (): readonly unknown[] =>
    heard.flatMap(({ method, result }) => (method === undefined ? [result!["outcome"]] : []));

  test.each([{ loadSession: true }, { sessionCapabilities: { resume: {} } }])(
    "resumes a conversation by what the agent supports (%j), and ignores repeated old messages",
    async (capabilities) => {
      const first = await run(
        { capabilities, costs: { costUsd: 0.25, tokens: 100 } },
        {},
        { instructions: "Tabs are good." },
      );
      expect(first).toMatchObject({
        status: "completed",
        costUsd: 0.25,
        session: { agent: "acp", id: expect.any(String) },
      });
      const second = await run(
        { capabilities, costs: { costUsd: 0.4, tokens: 50 } },
        { session: first.session },
        { instructions: "Tabs are good." },
      );
      expect(second).toMatchObject({ text: "done", tokens: 50, session: { id: first.session!.id } });
      expect(second.costUsd).toBeCloseTo(0.15);
      expect(sent("session/new")).toHaveLength(1);
      expect(sent("session/prompt").map(({ prompt }) => prompt)).toEqual([
        [{ type: "text", text: "Tabs are good.\n\nfix the parser" }],
        [{ type: "text", text: "fix the parser" }],
      ]);
    },
  );

  test("a conversation that the agent has lost, or cannot resume, is started again", async () => {
    const session = { agent: "acp", id: "gone" };
    expect(await run({ capabilities: { loadSession: true } }, { session })).toMatchObject({ status: "completed" });
    expect(place.events).toContainEqual({ type: "output", line: expect.stringContaining("has lost the conversation") });
    const result = await run({}, { session });
    expect(result.session?.id).not.toBe("gone");
    expect(sent("session/load")).toHaveLength(1);
  });

  const tool = (kind: string, title: string, ...paths: string[]) => ({
    toolCall: { toolCallId: title, kind, title, locations: paths.map((path) => ({ path })) },
  });
  const YES = { outcome: "selected", optionId: "y" };
  const NO = { outcome: "selected", optionId: "n" };

  test("requests are answered by its access, once, and refusals are reported", async () => {
    const inside = join(place.cwd, "new/a.ts");
    symlinkSync(place.folder, join(place.cwd, "link"));
    const asks = [
      tool("read", "look", inside),
      tool("edit", "change", inside),
      tool("edit", "change elsewhere", "/etc/passwd"),
      tool("edit", "change by a way out", join(place.cwd, "../x")),
      tool("edit", "change history", join(place.cwd, ".git/config")),
      tool("edit", "change by a link", join(place.cwd, "link/x")),
      tool("edit", "change something"),
      tool("execute", "rm -rf / # report_ready"),
      tool("fetch", "look it up"),
      // The request has only the call's id; an earlier message described the call.
      { announced: { toolCallId: "x", kind: "execute", title: "npm test" }, toolCall: { toolCallId: "x" } },
    ];
    const edit = await run({ asks });
    expect(answers()).toEqual([YES, YES, NO, NO, NO, NO, NO, NO, NO, NO]);
    expect(edit.denied).toContain("execute: npm test");
    expect(place.events).toContainEqual({ type: "output", line: "refused: execute: npm test" });
    rmSync(join(place.folder, "acp"), { recursive: true });
    await run({ asks }, { access: "read" });
    expect(answers()).toEqual([YES, NO, NO, NO, NO, NO, NO, NO, NO, NO]);
    rmSync(join(place.folder, "acp"), { recursive: true });
    await run({ asks }, {}, { edits: "full" });
    expect(answers()).toEqual(asks.map(() => YES));
  });

  test("read access selects a read-only mode, if there is one", async () => {
    const modes = [{ id: "default" }, { id: "plan" }];
    await run({ modes }, { access: "read" });
    expect(sent("session/set_mode")).toMatchObject([{ modeId: "plan" }]);
    rmSync(join(place.folder, "acp"), { recursive: true });
    await run({ modes });
    expect(sent("session/set_mode")).toEqual([]);
  });

  test("a model is requested by name, and an unknown one is a bad request", async () => {
    expect(await run({}, { model: "fast" })).toMatchObject({ status: "completed" });
    expect(await run({}, { model: "none" })).toMatchObject({ error: { kind: "bad-request", fix: expect.any(String) } });
  });

  test("reports by a tool if the agent accepts servers", async () => {
    const issue = { severity: "major", category: "bug", description: "drops tabs" };
    const calls = [{ name: "report_verdict", arguments: { story: "cart", verdict: "fail", issues: [issue] } }];
    const asks = [tool("other", "mcp__remand__report_verdict"), tool("other", "mcp__other__report_verdicts")];
    const capabilities = { mcpCapabilities: { http: true } };
    const report = { story: "cart", kind: "verdict" } as const;
    const result = await run({ calls, asks, capabilities }, { access: "read", report });
    expect(readAgentAnswer(result, { id: "cart", role: "critic" })).toMatchObject({ result: "fail" });
    expect(answers()).toEqual([YES, NO]);
    rmSync(join(place.folder, "acp"), { recursive: true });
    await run({}, { access: "read", report });
    expect(sent("session/new")).toMatchObject([{ mcpServers: [] }]);
  });

  test("a provider's error that comes as an answer is no answer", async () => {
    expect(await run({ says: "unexpected status 529 Overloaded" })).toMatchObject({ error: { kind: "overloaded" } });
    expect(await run({ ends: "refused" })).toMatchObject({ status: "failed", error: { kind: "refused" } });
  });

  test("an agent that reports an interruption has not completed anything", async () => {
    expect(await run({ polite: true }, { timeoutMs: 3000 })).toMatchObject({ status: "timeout", error: null });
    const { agent } = make(place.folder, { polite: true });
    const over = new AbortController();
    const running = agent.run(
      agentRequest(place.cwd),
      // The conversation has an id: the prompt is sent next.
      { signal: over.signal, onEvent: ({ type }) => type === "session" && setTimeout(() => over.abort(), 200) },
    );
    expect(await running).toMatchObject({ status: "cancelled", error: null, session: { agent: "acp" } });
  });

  test("a conversation that has become too long is started again, once", async () => {
    const capabilities = { loadSession: true };
    const first = await run({ capabilities });
    const result = await run({ capabilities, ends: "context-length" }, { session: first.session });
    expect(result).toMatchObject({ status: "failed", error: { kind: "context-length" } });
    expect(result.session?.id).not.toBe(first.session?.id);
    expect(place.events).toContainEqual({
      type: "output",
      line: expect.stringMatching(/too long; a new one is begun/),
    });
    expect(sent("session/prompt")).toHaveLength(3);
  });

  test("no settings in the worktree are loaded, in a new conversation or an old one", async () => {
    const capabilities = { loadSession: true };
    await run({ capabilities }, { session: (await run({ capabilities })).session });
    const plain = { claudeCode: { options: { settingSources: [], strictMcpConfig: true, promptSuggestions: false } } };
    expect(sent("session/new")).toMatchObject([{ _meta: plain }]);
    expect(sent("session/load")).toMatchObject([{ _meta: plain }]);
  });

  test("an agent that does not exit after its answer is ended, and its answer counts", async () => {
    expect(await run({ stays: true })).toMatchObject({ status: "completed", text: "done", error: null });
  });

  test("a missing program, and one with another protocol, are reported", async () => {
    const { agent } = make(place.folder, {}, { command: join(place.folder, "none") });
    expect(await place.run(agent, {})).toMatchObject({ error: { kind: "launch" } });
    const other = createAcpAgent({ command: "true", environment: { source, sees: [] } });
    expect(await place.run(other, {})).toMatchObject({ status: "failed", error: { kind: "crash" } });
  });
});
