import { describe, expect, it } from "vitest";
import { createClaudeListener } from "../../src/adapters/agents/claude-listener.ts";
import { createCodexListener } from "../../src/adapters/agents/codex-listener.ts";
import { usageOfParts } from "../../src/adapters/agents/token-parts.ts";
import type { ProcessResult } from "../../src/adapters/process/run-process.ts";

const ENDED = { status: "exited", stderr: "" } as ProcessResult;
const nothing = (): void => undefined;

describe("input and output apart", () => {
  it("claude: by model, with what was read from its cache, over all results of a run", () => {
    const listener = createClaudeListener(nothing, () => 0);
    const models = {
      haiku: { inputTokens: 5, outputTokens: 5 },
      opus: { inputTokens: 100, outputTokens: 40, cacheReadInputTokens: 1000, cacheCreationInputTokens: 50 },
    };
    listener.hear({ type: "result", is_error: false, result: "x", model_usage_since_last_result: models });
    listener.hear({
      type: "result",
      is_error: false,
      result: "x",
      model_usage_since_last_result: { opus: { inputTokens: 10, outputTokens: 1 } },
    });
    const { parts, counted } = listener.heard(ENDED);
    expect(parts).toEqual({ model: "opus", input: 1165, output: 46 });
    expect(usageOfParts(parts, counted.run!.tokens)).toEqual({
      usage: { model: "opus", inputTokens: 1165, outputTokens: 46 },
    });
  });

  it("claude: of the main loop, where it says no more", () => {
    const listener = createClaudeListener(nothing, () => 0);
    const usage = { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 10 };
    listener.hear({ type: "result", is_error: false, result: "x", usage, modelUsage: { opus: { inputTokens: 13 } } });
    expect(listener.heard(ENDED).parts).toEqual({ model: "opus", input: 13, output: 4 });
  });

  it("codex: of a conversation that is new; of one that went on they are of something else", () => {
    const listener = createCodexListener(null, nothing, () => 0);
    listener.hear({ type: "turn.completed", usage: { input_tokens: 30, output_tokens: 12 } });
    const { parts } = listener.heard(ENDED);
    expect(usageOfParts(parts, 42)).toEqual({ usage: { inputTokens: 30, outputTokens: 12 } });
    expect(usageOfParts(parts, 7)).toEqual({});
  });

  it("nobody said anything: nothing is known", () => {
    expect(createClaudeListener(nothing, () => 0).heard(ENDED).parts).toBeNull();
    expect(usageOfParts(null, 3)).toEqual({});
    expect(usageOfParts({ model: "m", input: 0, output: 0 }, null)).toEqual({ usage: { model: "m" } });
  });
});
