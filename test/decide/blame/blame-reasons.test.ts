import { expect, test } from "vitest";
import { FEATURES, type Features, type HunkFeatures } from "../../../src/decide/blame/features.ts";
import { reasonsOf } from "../../../src/decide/blame/rank-blame.ts";

const none = Object.fromEntries(FEATURES.map((name) => [name, 0])) as Features;

function reasons(values: Partial<Features>, symbol: string | null): string[] {
  const hunk = {} as HunkFeatures["hunk"];
  return reasonsOf({ hunk, symbol, values: { ...none, ...values }, sharedWord: null, sharedLiteral: null });
}

test.each([
  [{ reach: 0.9 }, "the failing test calls `total` nearly at once", "the failing test calls this code nearly at once"],
  [{ reach: 0.3 }, "the failing test leads to `total` by calls", "the failing test leads to this code by calls"],
  [
    { frameInSymbol: 1 },
    "the failure's stack goes through `total`, which changed here",
    "the failure's stack goes through this code, which changed here",
  ],
] as const)("a reason is a whole sentence, whether the part has a name or not: %o", (values, named, nameless) => {
  expect(reasons(values, "total")).toEqual([named]);
  expect(reasons(values, null)).toEqual([nameless]);
});
