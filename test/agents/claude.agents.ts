import { expect, test } from "vitest";
import { createClaudeAgent } from "../../src/agents/claude/claude-agent.ts";
import { agentRequest } from "../contract/agent-request.ts";
import { CLAUDE_HANDS, claudeAnswerUsd } from "./client-under-test.ts";
import { clientProgram } from "./installed-clients.ts";
import { describeRealClient } from "./real-client.ts";

describeRealClient({
  name: "claude",
  hands: { ...CLAUDE_HANDS, answer: (answers) => ({ calls: "StructuredOutput", input: answers }) },
  make: ({ server, home }, options) =>
    createClaudeAgent({
      command: clientProgram("claude"),
      root: home,
      environment: {
        source: {
          PATH: process.env["PATH"],
          HOME: home,
          ANTHROPIC_BASE_URL: server.url,
          ANTHROPIC_API_KEY: "none-of-your-business",
        },
        sees: [],
      },
      ...options,
    }),
  answerUsd: claudeAnswerUsd(),
  tests(place, make) {
    test("a rate limit is not waited for here: the result says when to try again", async () => {
      const { server, home } = place;
      server.script(() => ({ fails: 429, retryAfterSeconds: 60 }));
      const beganAt = Date.now();
      const result = await make().run(agentRequest(home, { access: "read", timeoutMs: 60_000 }), {
        signal: new AbortController().signal,
        onEvent: () => undefined,
      });
      expect(result.error?.kind).toBe("rate-limit");
      expect(result.error!.retryAt! - beganAt).toBeGreaterThanOrEqual(55_000);
      expect(server.requests).toHaveLength(1);
    });
  },
});
