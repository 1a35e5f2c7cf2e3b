import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import { type Finding, isOverThreshold, type Severity } from "../../src/core/gates/finding.ts";
import type { ReviewInput, Verdict } from "../../src/core/gates/gate.ts";
import { roleName, treeId } from "../../src/core/events/ids.ts";
import type { GateRules } from "../../src/core/events/policy.ts";
import type { Result } from "../../src/core/events/error.ts";
import { judge } from "../../src/decide/verdict.ts";

const RULES: GateRules = presetPolicy("story").gates.review;
const finding = (severity: Severity, message: string): Finding =>
  identifyFinding({ severity, category: "logic", message, source: "critic", file: "src/a.ts", line: 1 });
const verdict = (stage: string, result: Result, ...findings: Finding[]): Verdict => ({
  stage,
  reviewer: roleName(`${stage}-reviewer`),
  result,
  findings,
  summary: `${stage} speaks`,
});
const hear = (verdicts: Verdict[], more: Partial<ReviewInput> = {}) =>
  judge({ gate: "review", tree: treeId("t"), rules: RULES, verdicts, kept: [], overturned: [], ...more });

describe("judge", () => {
  it.each<[string, Result[], Result]>([
    ["all pass", ["pass", "pass", "pass"], "pass"],
    ["one fails", ["pass", "fail", "pass"], "fail"],
    ["a failure weighs more than what kept others from judging", ["blocked", "error", "fail"], "fail"],
    ["blocked before error", ["error", "blocked", "pass"], "blocked"],
    ["error before inconclusive", ["inconclusive", "error"], "error"],
    ["inconclusive is no pass", ["pass", "inconclusive"], "inconclusive"],
    ["nobody said anything", [], "inconclusive"],
  ])("%s", (_name, said, result) => {
    expect(hear(said.map((each, i) => verdict(`s${i}`, each))).result).toBe(result);
  });

  it("leaves out what a reviewer did not report", () => {
    const { stages } = hear([{ ...verdict("code", "pass"), summary: "" }]);
    expect(stages).toEqual([{ stage: "code", reviewer: "code-reviewer", result: "pass" }]);
  });

  // S4.45
  it("requires findings at or above the threshold, and leaves the rest as information", () => {
    const [grave, light] = [finding("critical", "a hole"), finding("minor", "a name")];
    const judged = hear([verdict("code", "fail", light, grave)]);
    expect(judged.blocking).toEqual([grave.id]);
    expect(judged.findings.map(({ stage }) => stage)).toEqual(["code", "code"]);
    expect(judged.summary).toBe("review: fail (code), 1 to fix");
  });

  it("does not block on findings of a passed stage", () => {
    const judged = hear([
      verdict("code", "fail", finding("minor", "x")),
      verdict("security", "pass", finding("minor", "y")),
    ]);
    expect(judged.blocking).toEqual([finding("minor", "x").id]);
  });

  it("fails on any finding if every finding must be fixed", () => {
    const rules: GateRules = { ...RULES, everyFinding: true };
    const judged = hear([verdict("code", "pass", finding("info", "a remark"))], { rules });
    expect(judged).toMatchObject({ result: "fail", blocking: [finding("info", "a remark").id] });
    expect(hear([verdict("code", "pass")], { rules }).result).toBe("pass");
  });

  it("blocks on a reviewer's findings if no severity has a threshold", () => {
    const rules: GateRules = { ...RULES, failOn: {} };
    const one = finding("blocker", "a hole");
    expect(hear([verdict("code", "pass", one)], { rules }).result).toBe("pass");
    expect(hear([verdict("code", "fail", one)], { rules }).blocking).toEqual([one.id]);
  });

  it("lists stages that keep their pass before those that ran now", () => {
    const kept = [{ stage: "spec", result: "pass", reviewer: roleName("spec-reviewer") }] as const;
    const judged = hear([verdict("quality", "pass")], { kept });
    expect(judged.stages?.map(({ stage, result }) => [stage, result])).toEqual([
      ["spec", "pass"],
      ["quality", "pass"],
    ]);
    expect(judged.summary).toBe("review: pass");
  });

  it("gives the same failure the same identity in any order", () => {
    const [one, two] = [finding("critical", "a hole"), finding("critical", "a leak")];
    const first = hear([verdict("code", "fail", one, two)]).failure;
    expect(hear([verdict("code", "fail", two, one)]).failure).toBe(first);
    expect(hear([verdict("code", "fail", one)]).failure).not.toBe(first);
    expect(hear([verdict("code", "pass")])).not.toHaveProperty("failure");
  });
});

describe("thresholds", () => {
  // S4.43
  it.each<[Partial<Record<Severity, number>>, Severity[], boolean]>([
    [{ blocker: 1, critical: 1 }, [], false],
    [{ blocker: 1, critical: 1 }, ["major", "minor"], false],
    [{ blocker: 1, critical: 1 }, ["critical"], true],
    [{ blocker: 1, critical: 3 }, ["critical", "critical"], false],
    [{ blocker: 1, critical: 3 }, ["critical", "critical", "critical"], true],
    // A graver finding counts at every lighter threshold too.
    [{ critical: 2 }, ["blocker", "critical"], true],
    [{ critical: 2 }, ["blocker"], false],
    [{}, ["blocker"], false],
  ])("%j and %j: over it is %s", (failOn, severities, over) => {
    expect(
      isOverThreshold(
        severities.map((severity, i) => finding(severity, `${i}`)),
        failOn,
      ),
    ).toBe(over);
  });
});
