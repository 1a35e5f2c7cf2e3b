import { describe, expect, it } from "vitest";
import { createClaudeListener } from "../../../src/agents/claude/claude-listener.ts";
import { createCodexListener } from "../../../src/agents/codex/codex-agent.ts";
import { totalsWithParts, usageOfParts } from "../../../src/agents/client/client-wire.ts";
import type { ProcessResult } from "../../../src/adapters/process/run-process.ts";

const ENDED = { status: "exited", stderr: "" } as ProcessResult;
const nothing = (): void => undefined;

describe("tokens by kind", () => {
  it("claude: by model, with cached input, over all results of a run", () => {
    const listener = createClaudeListener(nothing, () => 0);
    const models = {
      haiku: { inputTokens: 5, outputTokens: 5 },
      opus: { inputTokens: 100, outputTokens: 40, cacheReadInputTokens: 1000, cacheCreationInputTokens: 50 },
    };
    listener.read({ type: "result", is_error: false, result: "x", model_usage_since_last_result: models });
    listener.read({
      type: "result",
      is_error: false,
      result: "x",
      model_usage_since_last_result: { opus: { inputTokens: 10, outputTokens: 1 } },
    });
    const { parts, counted } = listener.report(ENDED);
    expect(parts).toEqual({ model: "opus", input: 1165, output: 46, cached: 1000 });
    expect(usageOfParts(parts, counted.run!.tokens)).toEqual({
      usage: { model: "opus", inputTokens: 1165, outputTokens: 46, cachedTokens: 1000 },
    });
  });

  it("claude: of the main loop, if nothing else is reported", () => {
    const listener = createClaudeListener(nothing, () => 0);
    const usage = { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 10 };
    listener.read({ type: "result", is_error: false, result: "x", usage, modelUsage: { opus: { inputTokens: 13 } } });
    expect(listener.report(ENDED).parts).toEqual({ model: "opus", input: 13, output: 4, cached: 10 });
  });

  it("codex: of a new conversation, and by difference for a resumed one", () => {
    const listener = createCodexListener(null, nothing, () => 0);
    const usage = { input_tokens: 30, cached_input_tokens: 20, output_tokens: 12 };
    listener.read({ type: "turn.completed", usage });
    const { parts } = listener.report(ENDED);
    expect(usageOfParts(parts, 42)).toEqual({ usage: { inputTokens: 30, outputTokens: 12, cachedTokens: 20 } });
    const before = totalsWithParts({ tokens: 35 }, { model: null, input: 26, output: 9, cached: 18 });
    expect(before).toEqual({ tokens: 35, input: 26, cached: 18 });
    expect(usageOfParts(parts, 7, before)).toEqual({ usage: { inputTokens: 4, outputTokens: 3, cachedTokens: 2 } });
  });

  it("codex: numbers that do not add up are left out", () => {
    const parts = { model: null, input: 30, output: 12, cached: 20 };
    expect(usageOfParts(parts, 7)).toEqual({});
    expect(usageOfParts(parts, 7, { tokens: 35 })).toEqual({});
    expect(usageOfParts(parts, 7, { tokens: 34, input: 26 })).toEqual({});
    expect(usageOfParts(parts, 7, { tokens: 35, input: 31, cached: 0 })).toEqual({});
    expect(usageOfParts(parts, 7, { tokens: 35, input: 26, cached: 21 })).toEqual({});
    expect(totalsWithParts({ tokens: 41 }, parts)).toEqual({ tokens: 41 });
    expect(totalsWithParts(undefined, parts)).toBeUndefined();
    expect(totalsWithParts({ tokens: 42, costUsd: 1 }, { model: null, input: 30, output: 12 })).toEqual({
      tokens: 42,
      costUsd: 1,
      input: 30,
    });
  });

  it("without a report from the client nothing is known", () => {
    expect(createClaudeListener(nothing, () => 0).report(ENDED).parts).toBeNull();
    expect(usageOfParts(null, 3)).toEqual({});
    expect(usageOfParts({ model: "m", input: 0, output: 0 }, null)).toEqual({ usage: { model: "m" } });
  });
});
