import { describe, expect, test } from "vitest";
import { readAgentText } from "../../src/parse/agent/agent-text.ts";
import { readGoal, readOracleVerdict } from "../../src/parse/stories/goal.ts";

const json = (value: object): string => JSON.stringify(value);
const problems = (read: { ok: boolean; problems?: readonly string[] }): string =>
  (read.problems ?? ["(read)"]).join("\n");
const condition = { type: "test_pass", command: "npm test" };

describe("S3: goals", () => {
  test("a goal with S3's defaults", () => {
    expect(
      readGoal(json({ goalId: "goal-0a1b2c3d", objective: "all tests pass", stoppingConditions: [condition] })),
    ).toEqual({
      ok: true,
      value: {
        id: "goal-0a1b2c3d",
        objective: "all tests pass",
        conditions: [{ type: "test_pass", command: "npm test", threshold: null, description: "npm test" }],
        maxIterations: 15,
        maxDurationMs: 7_200_000,
        maxCostUsd: 10,
      },
    });
  });

  test("a goal in YAML, with a budget of its own", () => {
    const text = [
      "objective: coverage",
      "stoppingConditions:",
      "  - type: coverage_threshold",
      "    command: npm run coverage",
      "    threshold: 80",
      "    description: four fifths",
      "budget: { maxIterations: 3, maxDuration: 90m, maxDollars: 2.5 }",
    ];
    expect(readGoal(text.join("\n"))).toMatchObject({
      ok: true,
      value: {
        id: null,
        maxIterations: 3,
        maxDurationMs: 5_400_000,
        maxCostUsd: 2.5,
        conditions: [{ threshold: 80, description: "four fifths" }],
      },
    });
  });

  test.each([
    ["no condition", { objective: "x", stoppingConditions: [] }, /at least one stopping condition/],
    ["no objective", { stoppingConditions: [condition] }, /objective/],
    [
      "an unknown condition",
      { objective: "x", stoppingConditions: [{ type: "vibes", command: "y" }] },
      /stoppingConditions\[0\]\.type/,
    ],
    [
      "a coverage of nothing",
      { objective: "x", stoppingConditions: [{ type: "coverage_threshold", command: "y" }] },
      /threshold/,
    ],
    [
      "101 iterations",
      { objective: "x", stoppingConditions: [condition], budget: { maxIterations: 101 } },
      /budget\.maxIterations/,
    ],
    [
      "a time of no unit",
      { objective: "x", stoppingConditions: [condition], budget: { maxDuration: "soon" } },
      /length of time/,
    ],
    ["an id of another form", { goalId: "g1", objective: "x", stoppingConditions: [condition] }, /goal-/],
  ])("%s is refused", (_, document, problem) => {
    expect(problems(readGoal(json(document)))).toMatch(problem);
  });
});

describe("S3: the oracle's verdict", () => {
  const failing = {
    converged: false,
    conditionResults: [
      { type: "test_pass", passed: false, output: "tests/auth.test.ts:45 fails" },
      { type: "lint_clean", passed: true },
    ],
    reasons: ["tests/auth.test.ts:45: token refresh"],
    nextHint: "look at the refresh",
    confidence: 0.7,
  };

  test("not converged", () => {
    expect(readOracleVerdict(json(failing))).toEqual({
      ok: true,
      value: {
        verdict: "fail",
        conditions: [
          { type: "test_pass", passed: false, output: "tests/auth.test.ts:45 fails" },
          { type: "lint_clean", passed: true, output: "" },
        ],
        reasons: ["tests/auth.test.ts:45: token refresh"],
        nextHint: "look at the refresh",
        confidence: 0.7,
      },
    });
  });

  test("converged, partial, failed by its words", () => {
    expect(readOracleVerdict('{"converged": true}')).toMatchObject({
      ok: true,
      value: { verdict: "pass", conditions: [], nextHint: null, confidence: null },
    });
    expect(readOracleVerdict('{"verdict": "partial", "failReasons": ["x"]}')).toMatchObject({
      ok: true,
      value: { verdict: "partial", reasons: ["x"] },
    });
    expect(readOracleVerdict('{"verdict": "fail", "converged": false}')).toMatchObject({
      ok: true,
      value: { verdict: "fail" },
    });
  });

  test.each([
    ["says nothing", {}, /converged/],
    ["contradicts itself", { converged: true, verdict: "fail" }, /does not agree/],
    ["converged over a condition that does not hold", { ...failing, converged: true }, /test_pass does not hold/],
    ["is more than certain", { converged: false, confidence: 2 }, /confidence/],
  ])("one that %s is refused", (_, document, problem) => {
    expect(problems(readOracleVerdict(json(document)))).toMatch(problem);
  });

  test("as an agent's answer it is a verdict like any other", () => {
    const reading = readAgentText(json(failing), {});
    expect(reading).toMatchObject({
      kind: "verdict",
      result: "fail",
      findings: [{ file: "tests/auth.test.ts", line: 45, message: "token refresh" }],
      verification: [
        { criterion: "test_pass", status: "failed", evidence: "tests/auth.test.ts:45 fails" },
        { criterion: "lint_clean", status: "verified", evidence: "" },
      ],
      context: ["look at the refresh"],
    });
    expect(readAgentText('{"converged": true}').result).toBe("pass");
    expect(readAgentText('{"verdict": "partial"}').result).toBe("fail");
  });
});
