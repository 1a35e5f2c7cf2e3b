import { describe, expect, it } from "vitest";
import { PRICES } from "../../../src/config/defaults.ts";
import { costAt, priceOf, type Prices } from "../../../src/core/events/event-cost.ts";

const TABLE: Prices = { "gpt-x": { input: 2, output: 10, cached: 0.2 }, "openai/gpt-y": { input: 1, output: 1 } };

describe("the price of a model", () => {
  it.each([
    ["gpt-x", 2],
    ["openai/gpt-x", 2],
    ["gpt-x-2026-04-01", 2],
    ["openai/gpt-x-20260401", 2],
    ["openai/gpt-y", 1],
  ])("%s is found by its name, with or without provider and day", (model, input) => {
    expect(priceOf(TABLE, model)?.input).toBe(input);
  });

  it.each(["gpt-x-mini", "gpt", "gpt-y", "", "constructor", "GPT-X", "other/openai/gpt-x"])(
    "%s has no price: a similar name is another model",
    (model) => {
      expect(priceOf(TABLE, model)).toBeNull();
    },
  );
});

describe("the cost of tokens", () => {
  it("adds input, cached input and output, each at its price per million", () => {
    expect(costAt(TABLE["gpt-x"]!, { input: 1_000_000, cached: 400_000, output: 100_000 })).toBe(2.28);
    expect(costAt(TABLE["gpt-x"]!, { input: 0, cached: 0, output: 0 })).toBe(0);
  });

  it("uses the input price for cached input without its own price", () => {
    expect(costAt({ input: 1, output: 1 }, { input: 1_000_000, cached: 900_000, output: 0 })).toBe(1);
  });
});

it("no model in the table costs more for cached than for new input, or less for output than for input", () => {
  expect(Object.keys(PRICES).length).toBeGreaterThan(10);
  for (const { input, output, cached = input } of Object.values(PRICES)) {
    expect(cached).toBeLessThanOrEqual(input);
    expect(output).toBeGreaterThan(input);
  }
});
