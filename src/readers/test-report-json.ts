import { testCounts, type OutputFailure, type PassedTest } from "./test-output-parts.ts";
import type { TestCounts } from "../domain/gate.ts";
import {
  asCount,
  asList,
  asRecord,
  asText,
  timeOf,
  toldFailure,
  type ReadReport,
  type TestReport,
} from "./test-report-parts.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The JSON that runners write about a run: Jest's, which Vitest writes too, Mocha's, and pytest's. `null`: none of them. */
export function readJsonReport(value: unknown): ReadReport | null {
  const report = asRecord(value);
  if (Array.isArray(report["testResults"]) && "numTotalTests" in report) return jest(report);
  if ("stats" in report && Array.isArray(report["failures"])) return mocha(report);
  if ("summary" in report && Array.isArray(report["tests"]) && "exitcode" in report) return pytest(report);
  return null;
}

function jest(report: Fields): ReadReport {
  const notLoaded: string[] = [];
  const passed: PassedTest[] = [];
  const failures = asList(report["testResults"]).flatMap((each) => {
    const suite = asRecord(each);
    const file = asText(suite["name"]);
    const tests = asList(suite["assertionResults"]).map(asRecord);
    const failed = tests.filter((test) => test["status"] === "failed");
    passed.push(...tests.filter((test) => test["status"] === "passed").map((test) => ({ test: jestName(test), file })));
    if (failed.length === 0 && suite["status"] === "failed") {
      notLoaded.push(file);
      return [toldFailure(file, asText(suite["message"]), "", { file, line: 1 })];
    }
    return failed.map((test) => {
      const line = asCount(asRecord(test["location"])["line"]);
      const said = asList(test["failureMessages"]).map(asText).join("\n");
      return toldFailure(jestName(test), "", said, { file, line: line === 0 ? 1 : line });
    });
  });
  const suites = Math.max(0, failures.length - asCount(report["numFailedTests"]));
  const counts = testCounts(
    asCount(report["numPassedTests"]),
    asCount(report["numFailedTests"]) + suites,
    asCount(report["numPendingTests"]) + asCount(report["numTodoTests"]),
  );
  const startedAt = asCount(report["startTime"]) || null;
  return told("jest", counts, failures, startedAt, { passed, notLoaded });
}

function jestName(test: Fields): string {
  const titles = [...asList(test["ancestorTitles"]), test["title"]].map(asText).filter((title) => title !== "");
  return titles.length === 0 ? asText(test["fullName"]) : titles.join(" > ");
}

function mocha(report: Fields): ReadReport {
  const stats = asRecord(report["stats"]);
  const failures = asList(report["failures"]).map((each) => {
    const test = asRecord(each);
    const err = asRecord(test["err"]);
    const file = asText(test["file"]);
    const values = ["expected", "actual"].flatMap((key) => (key in err ? [`${key}: ${asText(err[key])}`] : []));
    const body = [...values, ...asText(err["stack"]).split("\n")].join("\n");
    return toldFailure(
      asText(test["fullTitle"]) || asText(test["title"]),
      asText(err["message"]),
      body,
      file === "" ? null : { file, line: 1 },
    );
  });
  const counts = testCounts(
    asCount(stats["passes"]),
    Math.max(asCount(stats["failures"]), failures.length),
    asCount(stats["pending"]),
  );
  const passed = asList(report["passes"]).map((each) => {
    const test = asRecord(each);
    return { test: asText(test["fullTitle"]) || asText(test["title"]), file: asText(test["file"]) || null };
  });
  return told("mocha", counts, failures, timeOf(asText(stats["start"])), { passed });
}

function pytest(report: Fields): ReadReport {
  const summary = asRecord(report["summary"]);
  const failures = asList(report["tests"])
    .map(asRecord)
    .filter((test) => test["outcome"] === "failed" || test["outcome"] === "error")
    .map((test) => {
      const [file = "", ...names] = asText(test["nodeid"]).split("::");
      const step = ["call", "setup", "teardown"].map((key) => asRecord(test[key])).find((each) => "longrepr" in each);
      const crash = asRecord(step?.["crash"]);
      const line = asCount(crash["lineno"]);
      return toldFailure(names.join(" > ") || file, asText(crash["message"]), asText(step?.["longrepr"]), {
        file,
        line: line === 0 ? 1 : line,
      });
    });
  const number = (word: string): number => asCount(summary[word]);
  const counts = testCounts(
    number("passed") + number("xpassed"),
    Math.max(number("failed") + number("error"), failures.length),
    number("skipped") + number("xfailed"),
  );
  const passed = asList(report["tests"])
    .map(asRecord)
    .filter((test) => test["outcome"] === "passed")
    .map((test) => {
      const [file = "", ...names] = asText(test["nodeid"]).split("::");
      return { test: names.join(" > ") || file, file };
    });
  const notLoaded = asList(report["collectors"])
    .map(asRecord)
    .filter((each) => each["outcome"] === "failed")
    .map((each) => asText(each["nodeid"]));
  const created = report["created"];
  const writtenAt = typeof created === "number" ? created * 1000 : null;
  return told("pytest", counts, failures, writtenAt, { passed, notLoaded });
}

function told(
  kind: string,
  counts: TestCounts,
  failures: OutputFailure[],
  writtenAt: number | null,
  more: Pick<TestReport, "passed" | "notLoaded">,
): ReadReport {
  const ranTests = counts.passed + counts.failed > 0;
  return { report: { kind, runners: [kind], counts, ranTests, failures, more: 0, writtenAt, ...more }, problem: null };
}
