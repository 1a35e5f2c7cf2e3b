import { expect, test } from "vitest";
import { redactedRoles } from "../../../src/compose/agents/roles.ts";
import { learnVariables } from "../../../src/adapters/process/own-secrets.ts";
import { roleName } from "../../../src/core/events/ids.ts";
import { outcomeOf } from "../../../src/engine/perform/attempt-outcome.ts";
import type { Agent, AgentEvent } from "../../../src/ports/agent.ts";
import { agentRequest } from "../../contract/agent-request.ts";

const VALUE = "hunter2-of-acme-9000";
learnVariables({ ACME_API_TOKEN: VALUE });

const KEY = ["-----BEGIN PRIVATE KEY-----", "q7Xw".repeat(16), "q7Xw".repeat(16), "-----END PRIVATE KEY-----"];

const talker: Agent = {
  name: "talker",
  run: async (_request, { onEvent }) => {
    for (const line of [`it is ${VALUE}`, ...KEY, "after"]) onEvent({ type: "output", line });
    return {
      status: "completed",
      session: { agent: "talker", id: "3f0c9a52-5f4e-4c5e-9d6c-0d3a8e1f2b4c" },
      text: `${"x".repeat(190)} ${VALUE}`,
      output: { issues: [{ description: VALUE, file: VALUE }] },
      tokens: 7,
      costUsd: 0.5,
      denied: [`curl ${VALUE}`],
      error: { kind: "crash", message: VALUE },
      durationMs: 1,
      usage: { model: VALUE, inputTokens: 3 },
    };
  },
};

test("an agent's output is redacted before it is cut or parsed, line by line and as a whole", async () => {
  const roles = redactedRoles({
    agentFor: async () => ({ agent: talker, model: null, prompt: "", reports: "exit", env: {} }),
  });
  const { agent } = (await roles.agentFor(roleName("developer")))!;
  const events: AgentEvent[] = [];
  const result = await agent.run(agentRequest("say"), {
    signal: new AbortController().signal,
    onEvent: (event) => void events.push(event),
  });
  expect(JSON.stringify([result, events])).not.toContain("hunter2");
  expect(events.map((event) => (event.type === "output" ? event.line : ""))).toEqual([
    "it is [redacted:listed]",
    ...KEY.map(() => "[redacted:private-key]"),
    "after",
  ]);
  expect(result).toMatchObject({ session: { id: "3f0c9a52-5f4e-4c5e-9d6c-0d3a8e1f2b4c" }, tokens: 7, costUsd: 0.5 });
  // The last line is cut after 200 characters, and contains no part of the value.
  const said = outcomeOf(result, { id: "a", reports: "stop", nowMs: 0 });
  expect(said).toMatchObject({ text: expect.stringMatching(/^x{190} \[redacted$/) });
});
