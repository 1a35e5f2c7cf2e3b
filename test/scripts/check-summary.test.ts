import { expect, test } from "vitest";
import { summaryOf } from "../../scripts/check-summary.js";

const report = (passed: number, failed: number, more: { skipped?: number; brokenFiles?: number } = {}): string =>
  JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: more.skipped ?? 0,
    numTodoTests: 0,
    testResults: [
      { status: "passed", assertionResults: [{ status: "passed" }] },
      ...Array.from({ length: failed }, (_, n) => ({
        name: `test/${n}.test.ts`,
        status: "failed",
        assertionResults: [{ status: "failed", fullName: "adds", failureMessages: ["expected 2\nto be 3"] }],
      })),
      ...Array.from({ length: more.brokenFiles ?? 0 }, () => ({
        name: "test/broken.test.ts",
        status: "failed",
        message: "it does not compile",
        assertionResults: [],
      })),
    ],
  });

const failure = (n: number): string => `FAILED test/${n}.test.ts > adds: expected 2\n  to be 3`;

test.each([
  ["everything passes", [], report(7, 0), ["7 passed, 0 failed"]],
  ["a test fails", ["tests"], report(6, 1), [failure(0), "failed checks: tests", "6 passed, 1 failed"]],
  [
    "a file cannot run",
    ["tests"],
    report(6, 0, { brokenFiles: 1 }),
    ["FAILED test/broken.test.ts: it does not compile", "failed checks: tests", "6 passed, 1 failed"],
  ],
  ["coverage is too low", ["tests"], report(7, 0), ["failed checks: tests", "7 passed, 1 failed"]],
  ["another check fails", ["lint"], report(7, 0), ["failed checks: lint", "7 passed, 1 failed"]],
  [
    "much fails",
    ["types", "tests"],
    report(5, 2),
    [failure(0), failure(1), "failed checks: types, tests", "5 passed, 3 failed"],
  ],
  ["tests were skipped", [], report(7, 0, { skipped: 2 }), ["2 tests were skipped", "7 passed, 0 failed"]],
  ["the tests gave no report", ["tests"], null, ["failed checks: tests", "0 passed, 1 failed"]],
])("%s", (_name, failedChecks, text, lines) => {
  expect(summaryOf(failedChecks, { tests: text }).lines).toEqual(lines);
  expect(summaryOf(failedChecks, { tests: text }).failed === 0).toBe(failedChecks.length === 0);
});

test("two reports are summed up, and each can fail for its own reason", () => {
  const both = { tests: report(5, 0), "slow-tests": report(2, 1, { skipped: 1 }) };
  expect(summaryOf([], { tests: report(5, 0), "slow-tests": report(2, 0) }).lines).toEqual(["7 passed, 0 failed"]);
  expect(summaryOf(["tests", "slow-tests"], both).lines).toEqual([
    failure(0),
    "failed checks: tests, slow-tests",
    "1 tests were skipped",
    "7 passed, 2 failed",
  ]);
});
