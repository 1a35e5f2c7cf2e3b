import { expect, test } from "vitest";
import { pricedAgent } from "../../../src/compose/agents/roles.ts";
import type { Agent, AgentRequest, AgentResult } from "../../../src/ports/agent.ts";
import { agentResult } from "../../contract/agent-result.ts";

const PRICES = { "gpt-x": { input: 2, output: 10, cached: 0.2 } };
const RESULT = agentResult({
  tokens: 1500,
  usage: { model: "gpt-x", inputTokens: 1000, outputTokens: 500, cachedTokens: 400 },
});

async function ran(change: Partial<AgentResult>, model: string | null = null) {
  const lines: string[] = [];
  const agent: Agent = { name: "codex", seesPromptAlone: true, run: () => Promise.resolve({ ...RESULT, ...change }) };
  const priced = pricedAgent(agent, PRICES);
  expect(priced).toMatchObject({ name: "codex", seesPromptAlone: true });
  const result = await priced.run({ model } as AgentRequest, {
    signal: new AbortController().signal,
    onEvent: (event) => event.type === "output" && lines.push(event.line),
  });
  return { costUsd: result.costUsd, said: lines.join() };
}

test("tokens without a cost are priced by the table, and marked as such", async () => {
  expect(await ran({})).toEqual({ costUsd: 0.00628, said: "cost $0.0063 by the price of gpt-x" });
});

test("the requested model counts if the agent does not report which it used", async () => {
  const { model: _model, ...usage } = RESULT.usage!;
  expect((await ran({ usage }, "openai/gpt-x")).costUsd).toBe(0.00628);
});

test("a cost that the agent reports is kept, even 0", async () => {
  expect(await ran({ costUsd: 0 })).toEqual({ costUsd: 0, said: "" });
  expect(await ran({ costUsd: 3 })).toEqual({ costUsd: 3, said: "" });
});

test.each<[string, Partial<AgentResult>, RegExp]>([
  ["a model that has no price", { usage: { ...RESULT.usage, model: "gpt-9" } }, /no price for gpt-9/],
  ["no model", { usage: { inputTokens: 1000, outputTokens: 500 } }, /did not say which model/],
  ["tokens in one sum", { usage: { model: "gpt-x" } }, /how many of its tokens were input/],
  ["parts that do not add up", { tokens: 9 }, /how many of its tokens were input/],
])("%s: the cost stays unknown, with the reason", async (_name, change, why) => {
  const { costUsd, said } = await ran(change);
  expect(costUsd).toBeNull();
  expect(said).toMatch(why);
});

test("without token counts no cost is computed", async () => {
  expect(await ran({ tokens: null })).toEqual({ costUsd: null, said: "" });
});
