/**
 * The last lines of `npm run check`. Passed are the tests that passed; failed are the tests that failed, the test
 * files that could not run, and the checks that failed for another reason than a failed test.
 *
 * @param {readonly string[]} failedChecks
 * @param {string | null} report the tests' JSON report, if they got that far
 */
export function summaryOf(failedChecks, report) {
  const tests = report === null ? { passed: 0, failed: 0, skipped: 0 } : countsOf(report);
  const otherwiseFailed = failedChecks.filter((name) => name !== "tests" || tests.failed === 0);
  const failed = tests.failed + otherwiseFailed.length;
  const lines = [];
  if (failedChecks.length > 0) lines.push(`failed checks: ${failedChecks.join(", ")}`);
  if (tests.skipped > 0) lines.push(`${tests.skipped} tests were skipped`);
  lines.push(`${tests.passed} passed, ${failed} failed`);
  return { lines, failed };
}

/** @param {string} report */
function countsOf(report) {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(report);
  const brokenFiles = testResults.filter(
    /** @param {any} file */ (file) => file.status === "failed" && !file.assertionResults.some(isFailed),
  ).length;
  return { passed: numPassedTests, failed: numFailedTests + brokenFiles, skipped: numPendingTests + numTodoTests };
}

/** @param {any} test */
function isFailed(test) {
  return test.status === "failed";
}
