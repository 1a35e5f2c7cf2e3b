import { createAcpAgent } from "../../src/agents/acp/acp-agent.ts";
import { CLAUDE_HANDS, claudeAnswerUsd } from "./client-under-test.ts";
import { clientProgram } from "./installed-clients.ts";
import { describeRealClient } from "./real-client.ts";

/** Claude Code behind the Agent Client Protocol: the same tools in another kind of conversation. */
describeRealClient({
  name: "acp",
  hands: { ...CLAUDE_HANDS, answer: (answers) => ({ says: JSON.stringify(answers) }) },
  make: ({ server, home }, options) =>
    createAcpAgent({
      command: clientProgram("acp"),
      environment: {
        source: {
          PATH: process.env["PATH"],
          HOME: home,
          ...server.env,
          CLAUDE_CODE_EXECUTABLE: clientProgram("claude"),
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          CLAUDE_CODE_MAX_RETRIES: "1",
          DISABLE_AUTOUPDATER: "1",
        },
        sees: ["ANTHROPIC_*", "CLAUDE_CODE_*", "DISABLE_AUTOUPDATER"],
      },
      ...options,
    }),
  answerUsd: claudeAnswerUsd(),
  request: { timeoutMs: 45_000 },
  lacks: ["forms", "secrecy"],
});
