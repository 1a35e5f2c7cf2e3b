import { describe, expect, test } from "vitest";
import { readAgentText } from "../../src/parse/agent/agent-text.ts";
import { readOracleVerdict } from "../../src/parse/agent/oracle-verdict.ts";

const json = (value: object): string => JSON.stringify(value);
const problems = (read: { ok: boolean; problems?: readonly string[] }): string =>
  (read.problems ?? ["(read)"]).join("\n");

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
