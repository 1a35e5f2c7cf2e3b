import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelAgent } from "../../src/agents/model/model-agent.ts";
import { loadPackage, makerIn, settingsFor } from "../../src/agents/model/model-provider.ts";
import type { AgentRequest, AgentResult } from "../../src/ports/agent.ts";
import { startModelServer, type ModelServer } from "../../src/testing/model-server.ts";
import { agentRequest } from "../contract/agent-request.ts";
import { describeAgent } from "../contract/agent.ts";
import { play, promptsIn, type Hands } from "./client-under-test.ts";
import { clientRoot } from "./installed-clients.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

/** The variables with which each provider's package connects to the same server. */
const source = () => ({
  ...server.env,
  GOOGLE_GENERATIVE_AI_API_KEY: "none",
  GOOGLE_BASE_URL: `${server.url}/v1beta`,
  OPENAI_COMPATIBLE_API_KEY: "none",
  OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
});
const make = () => createModelAgent({ root: clientRoot("model"), source: source() });

const hands: Omit<Hands, "troubles"> = {
  write: () => ({ says: "done" }),
  shell: () => ({ says: "done" }),
  answer: (answers) => ({ answers }),
};
const MODELS = [
  ["anthropic/claude-opus-4-5", "anthropic"],
  ["openai/gpt-5.5", "openai-responses"],
  ["openai-compatible/qwen3-coder", "openai-chat"],
  ["google/gemini-3-pro", "gemini"],
] as const;

interface Streaming {
  streamText(options: object): {
    readonly text: Promise<string>;
    readonly usage: Promise<object>;
    readonly toolCalls: Promise<readonly object[]>;
  };
  jsonSchema(schema: object): unknown;
}

const TROUBLES: Hands["troubles"] = {
  auth: { fails: 401 },
  overloaded: { fails: 529 },
  "bad-request": { fails: 404, message: "no such model" },
  "rate-limit": { fails: 429, retryAfterSeconds: 120 },
  refused: { refuses: "I will not" },
  credit: { fails: 400, message: "Your credit balance is too low to access the Anthropic API." },
  "context-length": { fails: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
};

describe.each(MODELS)("real ai, %s", (model, api) => {
  describeAgent("model", {
    make(behavior) {
      // There is no program that could crash: an answer that cannot be parsed is the closest to it.
      const ends = behavior.ends === "crash" ? "garbled" : (behavior.ends ?? "well");
      play(server, { ...behavior, ends }, { ...hands, troubles: TROUBLES });
      return make();
    },
    leftovers: () => Promise.resolve(0),
    request: { access: "read", model },
    client: {
      answer: { tokens: 1000, costUsd: null },
      troubles: ["rate-limit", "refused", "credit", "context-length"],
      prompts: () => promptsIn(server.requests.at(-1)),
      lacks: ["edits", "conversations", "processes"],
    },
  });

  const run = (changes: Partial<AgentRequest>): Promise<AgentResult> =>
    make().run(agentRequest("/", { access: "read", model, timeoutMs: 20_000, ...changes }), {
      signal: new AbortController().signal,
      onEvent: () => undefined,
    });
  const form = {
    type: "object",
    properties: { passed: { type: "boolean" } },
    required: ["passed"],
    additionalProperties: false,
  };

  test("the provider's protocol is used, and the form is requested there", async () => {
    server.script([{ answers: { passed: true } }]);
    const prompt = "review it";
    expect(await run({ prompt, outputSchema: form })).toMatchObject({ status: "completed", output: { passed: true } });
    expect(server.requests).toMatchObject([{ api, model: model.split("/")[1], prompt }]);
    expect(server.requests[0]!.form).toMatchObject({ required: ["passed"] });
    expect(server.unexpected).toEqual([]);
  });

  test("a streamed answer is understood, and so is a tool call", async () => {
    const [provider = "", name = ""] = model.split("/");
    const root = clientRoot("model");
    const { streamText, jsonSchema } = loadPackage(root, "ai") as unknown as Streaming;
    const made = makerIn(loadPackage(root, `@ai-sdk/${provider}`))!(settingsFor(provider, source()))(name);
    const tools = { look: { description: "looks", inputSchema: jsonSchema({ type: "object", properties: {} }) } };
    server.script([{ says: "it is well" }, { calls: "look", input: { at: "it" } }]);
    const said = streamText({ model: made, prompt: "how is it?", maxRetries: 0 });
    expect(await said.text).toBe("it is well");
    expect(await said.usage).toMatchObject({ totalTokens: 1000 });
    const called = streamText({ model: made, prompt: "look at it", tools, maxRetries: 0 });
    expect(await called.toolCalls).toMatchObject([{ toolName: "look", input: { at: "it" } }]);
    expect(server.requests.map(({ tools: names }) => names)).toEqual([[], ["look"]]);
  });

  test("an answer that is not in the requested form is a failure with a cost", async () => {
    server.script([{ says: "it is fine" }]);
    expect(await run({ outputSchema: form })).toMatchObject({
      status: "failed",
      error: { kind: "crash" },
      tokens: 1000,
    });
  });

  test("a rate limit is not waited for here: the result says when to try again; an overload is retried once", async () => {
    server.script(() => ({ fails: 429, retryAfterSeconds: 120 }));
    const beganAt = Date.now();
    expect((await run({})).error!.retryAt! - beganAt).toBeGreaterThanOrEqual(120_000);
    expect(server.requests).toHaveLength(1);
    server.script([{ fails: 529 }, { says: "well" }]);
    expect(await run({})).toMatchObject({ status: "completed", text: "well" });
  });
});
