import { testCounts, type OutputFailure } from "./test-output-parts.ts";
import type { TestCounts } from "../domain/gate.ts";
import { asCount, asList, asRecord, asText, timeOf, toldFailure, type ReadReport } from "./test-report-parts.ts";

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
  const failures = asList(report["testResults"]).flatMap((each) => {
    const suite = asRecord(each);
    const file = asText(suite["name"]);
    const failed = asList(suite["assertionResults"])
      .map(asRecord)
      .filter((test) => test["status"] === "failed");
    if (failed.length === 0 && suite["status"] === "failed")
      return [toldFailure(file, asText(suite["message"]), "", { file, line: 1 })];
    return failed.map((test) => {
      const titles = [...asList(test["ancestorTitles"]), test["title"]].map(asText).filter((title) => title !== "");
      const line = asCount(asRecord(test["location"])["line"]);
      const said = asList(test["failureMessages"]).map(asText).join("\n");
      const name = titles.length === 0 ? asText(test["fullName"]) : titles.join(" > ");
      return toldFailure(name, "", said, { file, line: line === 0 ? 1 : line });
    });
  });
  const suites = Math.max(0, failures.length - asCount(report["numFailedTests"]));
  const counts = testCounts(
    asCount(report["numPassedTests"]),
    asCount(report["numFailedTests"]) + suites,
    asCount(report["numPendingTests"]) + asCount(report["numTodoTests"]),
  );
  return told("jest", counts, failures, asCount(report["startTime"]) || null);
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
  return told("mocha", counts, failures, timeOf(asText(stats["start"])));
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
  const created = report["created"];
  return told("pytest", counts, failures, typeof created === "number" ? created * 1000 : null);
}

function told(kind: string, counts: TestCounts, failures: OutputFailure[], writtenAt: number | null): ReadReport {
  const ranTests = counts.passed + counts.failed > 0;
  return { report: { kind, runners: [kind], counts, ranTests, failures, more: 0, writtenAt }, problem: null };
}
