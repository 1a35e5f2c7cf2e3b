import { plainText } from "../../stdx/plain-text.ts";
import type { TestCounts } from "../../core/gates/gate.ts";
import { readJunit } from "./junit.ts";
import {
  type ReadReport,
  type TestReport,
  asCount,
  asList,
  asRecord,
  asText,
  timeOf,
  reportedFailure,
} from "./test-report-parts.ts";
import { below, readTestOutput, within } from "./test-output.ts";
import { type OutputFailure, type PassedTest, shortMessage, testCounts } from "./test-output-parts.ts";

/**
 * Reads a report file that a check wrote, by its content and not by its name: JUnit's XML, SARIF, the JSON of Vitest,
 * Jest, Mocha and pytest, TAP, and everything that is also read from printed output. `folder` is where the check ran.
 */
export function readTestReport(text: string, folder: string): ReadReport {
  const start = text.replace(/^\uFEFF/, "").trimStart();
  if (start === "") return { report: null, problem: "it is empty" };
  if (start.startsWith("<")) return shortenPaths(readJunit(start), folder);
  const isLines = /^\{[^\n]*\}[ \t\r]*\n\s*\{/.test(start) || /^\{ ?"(?:Time|Action|type)":/.test(start);
  if (/^[{[]/.test(start) && !isLines) return shortenPaths(readJson(start), folder);
  const output = readTestOutput(plainText(text), folder);
  if (output.runners.length === 0) return { report: null, problem: "it is in no form that is known" };
  return { report: { ...output, kind: output.runners.join(", "), writtenAt: null }, problem: null };
}

function readJson(text: string): ReadReport {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { report: null, problem: `it is no JSON: ${(error as Error).message.slice(0, 100)}` };
  }
  return readSarif(value) ?? readJsonReport(value) ?? { report: null, problem: "it is JSON of no form that is known" };
}

const MOST_FAILURES = 200;

/** Makes paths relative to the folder, and limits the number of failures to what a person reads. */
function shortenPaths(read: ReadReport, folder: string): ReadReport {
  if (read.report === null) return read;
  const { failures } = read.report;
  const report: TestReport = {
    ...read.report,
    failures: failures.slice(0, MOST_FAILURES).map((failure) => within(failure, folder)),
    notLoaded: (read.report.notLoaded ?? []).map((path) => below(path, folder)),
    more: read.report.more + Math.max(0, failures.length - MOST_FAILURES),
  };
  return { report, problem: null };
}

type ReportFields = Readonly<Record<string, unknown>>;

/** Reads the JSON reports of runners: Jest's, which Vitest writes too, Mocha's, and pytest's. `null`: none of them. */
function readJsonReport(value: unknown): ReadReport | null {
  const report = asRecord(value);
  if (Array.isArray(report["testResults"]) && "numTotalTests" in report) return jest(report);
  if ("stats" in report && Array.isArray(report["failures"])) return mocha(report);
  if ("summary" in report && Array.isArray(report["tests"]) && "exitcode" in report) return pytest(report);
  return null;
}

function jest(report: ReportFields): ReadReport {
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
      return [reportedFailure(file, asText(suite["message"]), "", { file, line: 1 })];
    }
    return failed.map((test) => {
      const line = asCount(asRecord(test["location"])["line"]);
      const said = asList(test["failureMessages"]).map(asText).join("\n");
      return reportedFailure(jestName(test), "", said, { file, line: line === 0 ? 1 : line });
    });
  });
  const suites = Math.max(0, failures.length - asCount(report["numFailedTests"]));
  const counts = testCounts(
    asCount(report["numPassedTests"]),
    asCount(report["numFailedTests"]) + suites,
    asCount(report["numPendingTests"]) + asCount(report["numTodoTests"]),
  );
  const startedAt = asCount(report["startTime"]) || null;
  return readReport("jest", counts, failures, startedAt, { passed, notLoaded });
}

function jestName(test: ReportFields): string {
  const titles = [...asList(test["ancestorTitles"]), test["title"]].map(asText).filter((title) => title !== "");
  return titles.length === 0 ? asText(test["fullName"]) : titles.join(" > ");
}

function mocha(report: ReportFields): ReadReport {
  const stats = asRecord(report["stats"]);
  const failures = asList(report["failures"]).map((each) => {
    const test = asRecord(each);
    const err = asRecord(test["err"]);
    const file = asText(test["file"]);
    const values = ["expected", "actual"].flatMap((key) => (key in err ? [`${key}: ${asText(err[key])}`] : []));
    const body = [...values, ...asText(err["stack"]).split("\n")].join("\n");
    return reportedFailure(
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
  return readReport("mocha", counts, failures, timeOf(asText(stats["start"])), { passed });
}

function pytest(report: ReportFields): ReadReport {
  const summary = asRecord(report["summary"]);
  const failures = asList(report["tests"])
    .map(asRecord)
    .filter((test) => test["outcome"] === "failed" || test["outcome"] === "error")
    .map((test) => {
      const [file = "", ...names] = asText(test["nodeid"]).split("::");
      const step = ["call", "setup", "teardown"].map((key) => asRecord(test[key])).find((each) => "longrepr" in each);
      const crash = asRecord(step?.["crash"]);
      const line = asCount(crash["lineno"]);
      return reportedFailure(names.join(" > ") || file, asText(crash["message"]), asText(step?.["longrepr"]), {
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
  return readReport("pytest", counts, failures, writtenAt, { passed, notLoaded });
}

function readReport(
  kind: string,
  counts: TestCounts,
  failures: OutputFailure[],
  writtenAt: number | null,
  more: Pick<TestReport, "passed" | "notLoaded">,
): ReadReport {
  const ranTests = counts.passed + counts.failed > 0;
  return { report: { kind, runners: [kind], counts, ranTests, failures, more: 0, writtenAt, ...more }, problem: null };
}

/**
 * Reads the errors in SARIF 2. Warnings and notes are left out, as from a linter's output, and so are suppressed and
 * absent results. `null`: not SARIF. A tool that reports an incomplete run is not counted.
 */
function readSarif(value: unknown): ReadReport | null {
  const { runs, version } = asRecord(value);
  if (!Array.isArray(runs) || !asText(version).startsWith("2.")) return null;
  const tools = runs.map((run) => asText(asRecord(asRecord(asRecord(run)["tool"])["driver"])["name"]) || "a tool");
  const invocations = runs.flatMap((run) => asList(asRecord(run)["invocations"]).map(asRecord));
  if (invocations.some((invocation) => invocation["executionSuccessful"] === false))
    return { report: null, problem: `${tools.join(", ")} says that it did not run to its end` };
  const times = invocations.flatMap((invocation) => timeOf(asText(invocation["endTimeUtc"])) ?? []);
  return {
    report: {
      kind: "sarif",
      runners: [],
      counts: null,
      ranTests: null,
      failures: runs.flatMap((run) => errorsIn(asRecord(run))),
      more: 0,
      writtenAt: times.length === 0 ? null : Math.max(...times.slice(0, 1000)),
    },
    problem: null,
  };
}

function errorsIn(run: Readonly<Record<string, unknown>>): OutputFailure[] {
  const rules = asList(asRecord(asRecord(run["tool"])["driver"])["rules"]).map(asRecord);
  const byId = new Map(rules.map((rule) => [asText(rule["id"]), rule]));
  return asList(run["results"]).flatMap((each) => {
    const result = asRecord(each);
    const rule = byId.get(asText(result["ruleId"])) ?? rules[asCount(result["ruleIndex"])];
    if (!isError(result, rule) || isLaidAside(result)) return [];
    const place = asRecord(asRecord(asList(result["locations"])[0])["physicalLocation"]);
    const file = pathOf(asText(asRecord(place["artifactLocation"])["uri"]));
    const line = asCount(asRecord(place["region"])["startLine"]);
    const id = asText(result["ruleId"]) || asText(rule?.["id"]);
    const message = asRecord(result["message"]);
    const text = asText(message["text"]) || asText(message["markdown"]) || "no message";
    return [
      {
        test: null,
        category: "lint",
        message: shortMessage(id === "" ? text : `${id}: ${text}`),
        detail: "",
        file: file === "" ? null : file,
        line: line === 0 ? null : line,
      },
    ];
  });
}

/** A result without its own level has its rule's level; without that, it is a warning. */
function isError(result: Readonly<Record<string, unknown>>, rule: Readonly<Record<string, unknown>> | undefined) {
  if (!["", "fail"].includes(asText(result["kind"]))) return false;
  const level = asText(result["level"]) || asText(asRecord(rule?.["defaultConfiguration"])["level"]);
  return level === "error";
}

function isLaidAside(result: Readonly<Record<string, unknown>>): boolean {
  const suppressed = asList(result["suppressions"]).some(
    (each) => !["underReview", "rejected"].includes(asText(asRecord(each)["status"])),
  );
  return suppressed || result["baselineState"] === "absent";
}

function pathOf(uri: string): string {
  try {
    return decodeURIComponent(uri.replace(/^file:\/\//, ""));
  } catch {
    // A stray percent sign: the name is used as it is.
    return uri;
  }
}
