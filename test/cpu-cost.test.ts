import { describe, expect, test } from "vitest";
import { expectLinearCost, expectLinearCostOf } from "./cpu-cost.ts";

let sum = 0;
function spend(steps: number): void {
  for (let i = 0; i < steps; i++) sum = (sum * 31 + i) % 1_000_003;
}

describe("a cost that is compared with itself", () => {
  test("may grow with its input", async () => {
    expectLinearCost(40_000_000, (n) => () => spend(n));
    await expectLinearCostOf(40_000_000, async (n) => spend(n));
  });

  test("may not grow with the square of its input", async () => {
    expect(() => expectLinearCost(8000, (n) => () => spend(n ** 2))).toThrow(/cost of 4 times the input/);
    await expect(expectLinearCostOf(8000, async (n) => spend(n ** 2))).rejects.toThrow(/cost of 4 times the input/);
    expect(sum).toBeGreaterThanOrEqual(0);
  });
});
