import { expect, test } from "vitest";
import type { Blame } from "../../../src/core/blame/blame.ts";
import { blameSentence } from "../../../src/write/briefs/blame.ts";

const blame = (verdict: Blame["verdict"], together?: boolean): Blame => ({
  verdict,
  basis: "proven",
  confidence: 0.99,
  suspects: [],
  explanation: "",
  testRuns: 3,
  ...(together === undefined ? {} : { together }),
});

test("changes that only fail together are not said to fail each by itself", () => {
  expect(blameSentence(blame("multi"))).toBe("Several changes caused this, each by itself.");
  expect(blameSentence(blame("multi", true))).toContain("none of them does it alone");
});

test("unfinished work does not suggest undoing anything", () => {
  expect(blameSentence(blame("unmet"))).toContain("nothing to undo");
});

test("a suspect that is only ranked is not called the cause", () => {
  const ranked = { ...blame("culprit"), basis: "ranked" as const };
  expect(blameSentence(ranked)).toBe("One of these changes may have caused this, the likeliest first.");
  expect(blameSentence({ ...ranked, shown: true })).toBe("One change caused this.");
  expect(blameSentence({ ...blame("multi"), basis: "ranked" })).toContain("may have caused");
  expect(blameSentence({ ...ranked, newCode: true })).toContain("likely has a slip");
  expect(blameSentence({ ...blame("culprit"), newCode: true })).toContain("The new code has a slip");
});
