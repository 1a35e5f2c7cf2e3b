import { describe, expect, it } from "vitest";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import type { FindingDraft } from "../../src/core/gates/finding.ts";
import { reviewConflicts } from "../../src/decide/verdict.ts";
import { expectLinearCost } from "../cpu-cost.ts";

const says = (stage: string, suggestedFix: string, more: Partial<FindingDraft> = {}) =>
  identifyFinding({
    severity: "major",
    category: "design",
    message: "here",
    source: stage,
    stage,
    suggestedFix,
    file: "src/a.ts",
    line: 10,
    ...more,
  });

describe("reviewConflicts", () => {
  it.each([
    ["Add more abstraction", "Remove the abstraction"],
    ["Extract an interface", "Keep it simple"],
    ["Increase the timeout", "Reduce the timeout"],
    ["Make the field public", "Hide the field"],
    ["Allow empty names", "Reject empty names"],
  ])("“%s” against “%s”", (one, other) => {
    for (const [a, b] of [
      [one, other],
      [other, one],
    ] as const) {
      const [conflict] = reviewConflicts([says("code", a), says("product-owner", b)]);
      expect(conflict).toEqual({
        file: "src/a.ts",
        line: 10,
        between: ["code", "product-owner"],
        says: [a, b],
        winner: "product-owner",
      });
    }
  });

  it.each([
    ["security", "product-owner", "security"],
    ["product-owner", "code", "product-owner"],
    ["code", "security", "security"],
    ["po", "spec-compliance", "po"],
    ["code-quality", "domain-integrity", null],
    ["anna", "berta", null],
    ["code", "anna", "code"],
  ])("%s and %s: the opinion of %s counts", (one, other, winner) => {
    expect(reviewConflicts([says(one, "Add a check"), says(other, "Remove the check")])[0]?.winner).toBe(winner);
  });

  it.each<[string, Partial<FindingDraft>, number]>([
    ["the same line", {}, 1],
    ["five lines away", { line: 15 }, 1],
    ["six lines away", { line: 16 }, 0],
    ["another file", { file: "src/b.ts" }, 0],
    ["no line where the other has one", { line: undefined } as unknown as Partial<FindingDraft>, 0],
    ["the same symbol, far away", { line: 90, symbol: "login" }, 1],
  ])("%s", (_name, more, count) => {
    expect(
      reviewConflicts([says("code", "Add a check", { symbol: "login" }), says("security", "Remove the check", more)]),
    ).toHaveLength(count);
  });

  it("uses the message if no fix is named, and ignores findings without a file", () => {
    const { suggestedFix: _fix, ...plain } = says("code", "", { message: "Remove the cache" });
    expect(reviewConflicts([plain, says("security", "Add a cache")])).toHaveLength(1);
    const { file: _file, ...placeless } = says("code", "Remove it");
    expect(reviewConflicts([placeless, says("security", "Add it")])).toEqual([]);
  });

  it("two findings of a file without lines are in one location, at its first line", () => {
    const lineless = (stage: string, fix: string) => {
      const { line: _line, ...rest } = says(stage, fix);
      return rest;
    };
    expect(reviewConflicts([lineless("code", "Add it"), lineless("security", "Remove it")])[0]?.line).toBe(1);
  });

  it("a reviewer does not contradict itself, and a demand for both is no conflict", () => {
    expect(
      reviewConflicts([says("code", "Add a check"), says("code", "Remove the check", { message: "there" })]),
    ).toEqual([]);
    expect(
      reviewConflicts([
        says("code", "Add a check and remove the old one"),
        says("security", "Remove the check, add another"),
      ]),
    ).toEqual([]);
  });

  it("knows the reviewer by its source if there is no stage", () => {
    const { stage: _stage, ...one } = says("code", "Add a check");
    expect(reviewConflicts([one, says("security", "Remove the check")])[0]?.between).toEqual(["code", "security"]);
  });

  it("does not compare all pairs of a flood of findings", () => {
    expectLinearCost(20_000, (n) => {
      const flood = Array.from({ length: n }, (_, i) =>
        says(`r${i}`, i % 2 === 0 ? "Add it" : "Remove it", { line: i * 100 }),
      );
      return () => reviewConflicts(flood);
    });
  });
});
