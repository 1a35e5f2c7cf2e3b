import { describe, expect, it } from "vitest";
import { nearMiss } from "../../src/stdx/plain-text.ts";

describe("nearMiss", () => {
  it.each([
    ["presett", ["preset", "present"], "preset"],
    ["prseet", ["preset"], "preset"],
    ["maxIterations", ["max_iterations"], "max_iterations"],
    ["autonmy", ["autonomy", "agents"], "autonomy"],
    ["ab", ["xy"], undefined],
    ["", ["a"], "a"],
    ["completely-different", ["preset"], undefined],
    ["x".repeat(200), ["x".repeat(199)], undefined],
    ["ac", ["ab", "ad"], "ab"],
  ])("%j among %j is %j", (word, known, meant) => {
    expect(nearMiss(word, known)).toBe(meant);
  });
});
