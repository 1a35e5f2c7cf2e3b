import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checksJudgement } from "../../../src/gates/checks/checks-result.ts";
import type { CheckOutcome } from "../../../src/gates/checks/run-check.ts";
import { identifyFinding } from "../../../src/core/gates/finding-identity.ts";
import {
  failsGate,
  mustBeFixed,
  type FailOn,
  SEVERITIES,
  type Severity,
  atLeast,
} from "../../../src/core/gates/finding.ts";
import { roleName, treeId } from "../../../src/core/events/ids.ts";
import type { GateRules } from "../../../src/core/events/policy.ts";
import { RESULTS } from "../../../src/core/events/error.ts";
import { judge } from "../../../src/decide/verdict.ts";
import { gateRequest } from "../../contract/gate.ts";
import { identities } from "../../kit/story-world.ts";
import { type IntegrityTrees, control, integrityTrees } from "../../kit/integrity-trees.ts";

/* One rule decides what fails a gate, what must be fixed, and how several results are combined: all gates agree. */

let trees: IntegrityTrees;
beforeAll(() => {
  trees = integrityTrees();
});
afterAll(() => trees.clear());

const severity = fc.constantFrom(...SEVERITIES);
const failOn: fc.Arbitrary<FailOn> = fc.dictionary(severity, fc.integer({ min: 1, max: 4 }), { maxKeys: 3 });
const rules = fc
  .record({ failOn, everyFinding: fc.boolean() })
  .map((some): GateRules => ({ ...gateRequest().rules, ...some }));

const finding = (grade: Severity, at: number) =>
  identifyFinding({ severity: grade, category: "logic", message: `thing ${"abcdefghij"[at]}`, source: "critic" });

/** Returns the review gate's judgement of findings that its only reviewer passed. */
const reviewed = (found: ReturnType<typeof finding>[], by: GateRules) =>
  judge({
    gate: "review",
    tree: treeId("t"),
    rules: by,
    verdicts: [{ stage: "one", reviewer: roleName("critic"), result: "pass", findings: found, summary: "" }],
    kept: [],
    overturned: [],
  });

describe("the result of findings", () => {
  test("of a reviewer equals a second implementation of the rule", () => {
    fc.assert(
      fc.property(fc.array(severity, { maxLength: 8 }), rules, (grades, by) => {
        const found = grades.map(finding);
        const count = (floor: Severity): number => grades.filter((grade) => atLeast(grade, floor)).length;
        const isOver = SEVERITIES.some((floor) => by.failOn[floor] !== undefined && count(floor) >= by.failOn[floor]);
        const fails = by.everyFinding ? found.length > 0 : isOver;
        expect(failsGate(found, by)).toBe(fails);
        const judged = reviewed(found, by);
        expect(judged.result).toBe(fails ? "fail" : "pass");
        expect(judged.blocking).toEqual(fails ? mustBeFixed(found, by).map(({ id }) => id) : []);
        // A failure always has something to fix, and nothing below the lowest threshold if there is one.
        expect(judged.blocking.length > 0).toBe(fails);
      }),
    );
  });

  test("of the integrity gate equals that of the review gate", async () => {
    const code = { "src/a.js": "export const a = 1;\n" };
    const tests = { "test/a.test.js": 'test("a", () => { expect(a).toBe(1); });\n' };
    const now = {
      "src/a.js": "export const a = 2;\n",
      "src/b.js": "console.log(1);\n",
      "src/c.js": "console.log(2);\n",
    };
    const request = trees.requestFor({ ...code, ...tests }, now);
    const set = fc.constantFrom(...SEVERITIES, "off" as const);
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(set, set, rules, async (deleted, left, by) => {
        const gate = trees.gateOf({ rules: { "test-deleted": deleted, "debug-output": left } });
        const judgement = await gate.run({ ...request, rules: by }, control());
        const { result, blocking } = reviewed([...judgement.findings], by);
        expect(judgement.result).toBe(result);
        expect(new Set(judgement.blocking)).toEqual(new Set(blocking));
        seen.add(`${result} ${judgement.findings.length}`);
      }),
      { numRuns: 40 },
    );
    // Otherwise nothing was tested: both results must occur, with several findings.
    expect([...seen].filter((each) => /^fail [23]$/.test(each)).length).toBeGreaterThan(0);
    expect([...seen].filter((each) => /^pass [23]$/.test(each)).length).toBeGreaterThan(0);
  });
});

test("several results are combined in the same way for checks and reviewers", () => {
  const outcome = (result: CheckOutcome["run"]["result"], at: number): CheckOutcome => ({
    run: { check: `c${at}`, command: "x", environment: "local", result, exitCode: 0, details: "" },
    faults: [],
    tests: null,
    evidence: [],
    flaky: [],
    named: { ended: true, ranTests: false, notLoaded: [], passed: [], unlisted: 0 },
    names: { level: "none", runners: [], tests: [] },
  });
  const nothing = { said: [], faults: [], notes: [], tests: null, coverage: null, most: {} };
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...RESULTS), { maxLength: 5 }), (results) => {
      const checks = checksJudgement(gateRequest(), results.map(outcome), nothing, identities([]));
      const stages = results.map((result, at) => ({ stage: `s${at}`, result, reviewer: roleName("critic") }));
      const { result } = judge({
        gate: "review",
        tree: treeId("t"),
        rules: gateRequest().rules,
        verdicts: [],
        kept: stages,
        overturned: [],
      });
      expect(checks.result).toBe(result);
    }),
  );
});
