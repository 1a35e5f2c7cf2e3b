import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createModelAgent } from "../../../src/agents/model/model-agent.ts";
import type { AgentEvent, AgentRequest, AgentResult } from "../../../src/ports/agent.ts";
import { agentRequest } from "../../contract/agent-request.ts";

/** Stand-ins for a project's packages, with the few functions that are used. They do what the prompt says. */
const AI = `
exports.jsonSchema = (schema) => ({ jsonSchema: schema });
exports.Output = { object: ({ schema }) => ({ form: schema.jsonSchema }) };
exports.generateText = async ({ model, prompt, abortSignal, output }) => {
  const { fails, message = "no", name = "AI_APICallError", hangs, wraps, refuses, used } = JSON.parse(prompt);
  if (refuses) return { text: refuses, finishReason: "content-filter", usage: { totalTokens: 7 } };
  if (hangs) await new Promise((_, reject) => abortSignal.addEventListener("abort", () => reject(new Error("aborted"))));
  const error = Object.assign(new Error(message), { name, statusCode: fails, responseHeaders: { "retry-after": "60" }, ...(used ? { usage: { totalTokens: used } } : {}) });
  if (wraps) throw Object.assign(new Error("Failed after 2 attempts"), { lastError: error });
  if (fails || name !== "AI_APICallError") throw error;
  return { text: JSON.stringify(model), ...(output ? { output: { passed: true, issues: [], form: output.form } } : {}), usage: { totalTokens: 42 } };
};`;
const PROVIDER = `exports.createFake = (options) => (id) => ({ ...options, id });`;

describe("model", () => {
  let root: string;
  let events: AgentEvent[];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "remand-model-"));
    events = [];
    writeFileSync(join(root, "package.json"), "{}");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function install(name: string, text: string): void {
    const place = join(root, "node_modules", name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), JSON.stringify({ name, main: "index.js" }));
    writeFileSync(join(place, "index.js"), text);
  }
  function run(
    says: object,
    changes: Partial<AgentRequest> = {},
    signal = new AbortController().signal,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<AgentResult> {
    const source = { ...variables, FAKE_API_KEY: "key", FAKE_BASE_URL: "http://127.0.0.1:1", OTHER_API_KEY: "other" };
    const usual = { prompt: JSON.stringify(says), access: "read", model: "fake/large/1" } as const;
    const request = agentRequest(root, { ...usual, ...changes });
    return createModelAgent({ root, source }).run(request, { signal, onEvent: (event) => events.push(event) });
  }

  test("without the packages it says what to install", async () => {
    const error = (missing: string) => ({
      kind: "launch",
      message: `model: the package ${missing} is not installed`,
      fix: "install it in the project: npm install --save-dev ai @ai-sdk/fake",
    });
    expect(await run({})).toMatchObject({ status: "failed", error: error("ai") });
    install("ai", AI);
    expect(await run({})).toMatchObject({ status: "failed", error: error("@ai-sdk/fake") });
  });

  describe("with the packages", () => {
    beforeEach(() => {
      install("ai", AI);
      install("@ai-sdk/fake", PROVIDER);
    });

    test("it calls the model with the provider's key, and reports the usage; the cost is unknown", async () => {
      const result = await run({});
      expect(result).toMatchObject({ status: "completed", error: null, output: null, tokens: 42, costUsd: null });
      expect(JSON.parse(result.text)).toEqual({ apiKey: "key", baseURL: "http://127.0.0.1:1", id: "large/1" });
      expect(events).toEqual([{ type: "output", line: result.text }]);
    });

    test("it answers in the requested form", async () => {
      const form = { type: "object" };
      const result = await run({}, { outputSchema: form });
      expect(result).toMatchObject({ status: "completed", text: "", output: { passed: true, issues: [], form } });
    });

    test.each([
      [{ fails: 401 }, "auth"],
      [{ name: "AI_LoadAPIKeyError" }, "auth"],
      [{ fails: 429 }, "rate-limit"],
      [{ fails: 529, wraps: true }, "overloaded"],
      [{ fails: 400, message: "Your credit balance is too low" }, "credit"],
      [{ fails: 400, message: "prompt is too long" }, "context-length"],
      [{ fails: 404 }, "bad-request"],
      [{ name: "AI_NoObjectGeneratedError" }, "crash"],
    ])("error %j is reported as %s", async (says, kind) => {
      expect(await run(says)).toMatchObject({ status: "failed", error: { kind } });
    });

    test("a rate limit says when to try again, a refusal is reported as one, and both report usage", async () => {
      const beganAt = Date.now();
      const limited = await run({ fails: 429 });
      expect(limited.error?.retryAt).toBeGreaterThanOrEqual(beganAt + 60_000);
      expect((await run({ fails: 401 })).error).not.toHaveProperty("retryAt");
      const refused = { kind: "refused", message: "model: the provider refused to answer: I will not" };
      expect(await run({ refuses: "I will not" })).toMatchObject({ status: "failed", tokens: 7, error: refused });
      expect(await run({ name: "AI_NoObjectGeneratedError", used: 31 })).toMatchObject({
        status: "failed",
        tokens: 31,
      });
    });

    test("an address of Anthropic's without a version gets one, because it is for Claude Code", async () => {
      install("@ai-sdk/anthropic", PROVIDER);
      const ask = async (address: string): Promise<unknown> =>
        (
          JSON.parse((await run({}, { model: "anthropic/x" }, undefined, { ANTHROPIC_BASE_URL: address })).text) as {
            baseURL: string;
          }
        ).baseURL;
      expect(await ask("http://127.0.0.1:8080")).toBe("http://127.0.0.1:8080/v1");
      expect(await ask("https://proxy.example/")).toBe("https://proxy.example/v1");
      expect(await ask("https://proxy.example/anthropic/v1")).toBe("https://proxy.example/anthropic/v1");
    });

    test("it only reviews, and needs a model's name", async () => {
      expect((await run({}, { access: "edit" })).error?.message).toContain("only review");
      expect((await run({}, { model: null })).error?.fix).toContain("name it with its provider");
      expect((await run({}, { model: "large" })).error?.kind).toBe("bad-request");
    });

    test("a timeout or a cancellation ends it", async () => {
      expect(await run({ hangs: true }, { timeoutMs: 50 })).toMatchObject({ status: "timeout", error: null });
      const stop = new AbortController();
      const running = run({ hangs: true }, {}, stop.signal);
      stop.abort();
      expect(await running).toMatchObject({ status: "cancelled", error: null });
      expect(await run({}, {}, AbortSignal.abort())).toMatchObject({ status: "cancelled", error: null });
    });
  });
});
