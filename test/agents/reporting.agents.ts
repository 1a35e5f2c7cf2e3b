import { describe, expect, test } from "vitest";
import { createAcpAgent } from "../../src/agents/acp/acp-agent.ts";
import { createClaudeAgent } from "../../src/agents/claude/claude-agent.ts";
import { createCodexAgent } from "../../src/agents/codex/codex-agent.ts";
import { reportingAgent } from "../../src/compose/agents/client-agents.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { readAgentAnswer } from "../../src/parse/agent/agent-answer.ts";
import { agentRequest } from "../contract/agent-request.ts";
import { clientProgram } from "./installed-clients.ts";
import { modelAndHome } from "./model-and-home.ts";

const place = modelAndHome("for all tests");

const agents: Readonly<Record<string, () => Agent>> = {
  acp: () =>
    createAcpAgent({
      command: clientProgram("acp"),
      environment: {
        source: {
          PATH: process.env["PATH"],
          HOME: place.home,
          ...place.server.env,
          CLAUDE_CODE_EXECUTABLE: clientProgram("claude"),
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        },
        sees: ["ANTHROPIC_*", "CLAUDE_CODE_*"],
      },
    }),
  claude: () =>
    createClaudeAgent({
      command: clientProgram("claude"),
      root: place.home,
      environment: {
        source: {
          PATH: process.env["PATH"],
          HOME: place.home,
          ANTHROPIC_BASE_URL: place.server.url,
          ANTHROPIC_API_KEY: "none",
        },
        sees: [],
      },
    }),
  codex: () =>
    createCodexAgent({
      command: clientProgram("codex"),
      args: place.server.codexArgs,
      root: place.home,
      environment: {
        source: { PATH: process.env["PATH"], HOME: place.home, CODEX_HOME: place.home, CODEX_API_KEY: "none" },
        sees: [],
      },
    }),
};

describe.each(["claude", "codex", "acp"])("real %s", (client) => {
  test.each([
    ["read", "verdict", "report_verdict", { verdict: "fail", issues: [] }],
    ["edit", "work", "report_ready", { outcome: "ready" }],
  ] as const)(
    "with access %s it reports by a tool, and corrects an invalid report",
    async (access, kind, tool, wrong) => {
      const issue = { severity: "major", category: "bug", description: "drops tabs", file: "a.ts", line: 3 };
      const right = kind === "verdict" ? { verdict: "fail", issues: [issue] } : { outcome: "ready", summary: "tabs" };
      const name = `mcp__remand__${tool}`;
      let calls = 0;
      place.server.script(({ api, tools }) => {
        // Claude Code calls its model before it has connected to the server; then the tool does not exist yet.
        if (api === "anthropic" && !tools.includes(name)) return { calls: "Glob", input: { pattern: "*" } };
        calls++;
        if (calls === 1) return { calls: name, input: { story: "cart", ...wrong } };
        return calls === 2 ? { calls: name, input: { story: "cart", ...right } } : { says: "I have reported." };
      });
      const request = agentRequest(place.home, {
        access,
        model: client === "codex" ? "gpt-5.5" : null,
        timeoutMs: 60_000,
        report: { story: "cart", kind },
      });
      const control = { signal: new AbortController().signal, onEvent: () => undefined };
      const result = await reportingAgent(agents[client]!()).run(request, control);
      expect(
        result,
        JSON.stringify([place.server.requests.at(-1)?.tools, place.server.requests.at(-1)?.toolResults]),
      ).toMatchObject({
        status: "completed",
        denied: [],
      });
      const role = kind === "verdict" ? "critic" : "developer";
      const seen = JSON.stringify(
        place.server.requests.map(({ tools, toolResults }) => [tools.includes(name), toolResults]),
      );
      expect(readAgentAnswer(result, { id: "cart", role }), seen).toMatchObject({
        result: kind === "verdict" ? "fail" : "ready",
      });
    },
  );
});
