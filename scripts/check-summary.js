/**
 * The last lines of `npm run check`. Passed are the tests that passed; failed are the tests that failed, the test
 * files that could not run, and the checks that failed for another reason than a failed test.
 *
 * @param {readonly string[]} failedChecks
 * @param {Readonly<Record<string, string | null>>} reports by check: the JSON report of its tests, if it got that far
 */
export function summaryOf(failedChecks, reports) {
  const tests = { passed: 0, failed: 0, skipped: 0 };
  let failed = 0;
  const lines = [];
  for (const [check, report] of Object.entries(reports)) {
    const counts = report === null ? { passed: 0, failed: 0, skipped: 0 } : countsOf(report);
    tests.passed += counts.passed;
    // Repeated at the end, because many readers see only the end of a long log.
    if (report !== null) lines.push(...failuresIn(report));
    tests.skipped += counts.skipped;
    failed += counts.failed;
    // The check failed without a failed test: coverage was too low, or there is no report.
    if (counts.failed === 0 && failedChecks.includes(check)) failed += 1;
  }
  failed += failedChecks.filter((name) => !Object.hasOwn(reports, name)).length;
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

/** @param {string} report */
function failuresIn(report) {
  /** @type {any[]} */
  const files = JSON.parse(report).testResults.filter(isFailed);
  return files.flatMap((file) => {
    const tests = file.assertionResults.filter(isFailed);
    if (tests.length === 0) return [`FAILED ${file.name}: ${firstLines(file.message)}`];
    return tests.map(
      /** @param {any} test */ (test) =>
        `FAILED ${file.name} > ${test.fullName}: ${firstLines(test.failureMessages?.[0])}`,
    );
  });
}

/** @param {string | undefined} message */
function firstLines(message) {
  return (message ?? "it does not say why").split("\n").slice(0, 12).join("\n  ");
}

/** @param {any} test a test, or a file of tests */
function isFailed(test) {
  return test.status === "failed";
}
