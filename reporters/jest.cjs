"use strict";

/** A reporter for Jest that prints nothing. */
const { openReport } = require("./report.cjs");

const OUTCOMES = { passed: "passed", failed: "failed" };

module.exports = class {
  constructor(_globalConfig, { folder }) {
    this.report = openReport(folder, "jest");
  }

  onTestResult(_test, { testFilePath, testExecError, testResults }) {
    const where = { file: testFilePath };
    if (testExecError && testResults.length === 0) this.report.test("not-loaded", where);
    for (const { ancestorTitles, title, status } of testResults)
      this.report.test(OUTCOMES[status] ?? "skipped", where, [...ancestorTitles, title].join(" > "));
  }

  onRunComplete() {
    this.report.end();
  }
};
