import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durationMs, knownDurationMs, sizeOf } from "../../src/config/duration.ts";
import { configFileSchema } from "../../src/core/schemas/config.ts";

describe("durationMs", () => {
  it.each([
    ["90s", 90_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1h 30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["250ms", 250],
    ["2d", 172_800_000],
    ["0s", 0],
    ["", null],
    ["5", null],
    ["5 minutes", null],
    ["-5m", null],
    ["m", null],
    ["1e3s", null],
    ["999999999999d", null],
  ])("reads %j as %j", (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it("reads every duration that the schema accepts, unless it is too large", () => {
    const text = fc.stringMatching(/^(?:\d{1,6}(?:\.\d{1,3})?(?:ms|s|m|h|d) ?){1,3}$/);
    fc.assert(
      fc.property(text, (time) => {
        expect(configFileSchema.safeParse({ limits: { time } }).success).toBe(durationMs(time) !== null);
      }),
    );
  });

  it("treats an unvalidated duration as a bug", () => {
    expect(() => knownDurationMs("soon")).toThrow("assertion failed");
  });
});

describe("sizeOf", () => {
  it.each([
    [7, 7],
    ["200k", 200_000],
    ["1.5M", 1_500_000],
    ["2 m", 2_000_000],
  ])("reads %j as %j", (size, number) => {
    expect(sizeOf(size)).toBe(number);
  });
});
