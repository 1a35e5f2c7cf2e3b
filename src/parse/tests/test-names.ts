import type { LineCoverage } from "../../core/blame/change.ts";
import {
  type NamedTest,
  TEST_OUTCOMES,
  type TestNames,
  type TestOutcome,
  distinctTests,
  normalizedTestName,
} from "../../core/gates/test-names.ts";
import { asRecord, asText, isSameFailure } from "./test-report-parts.ts";
import { type TestOutput, below } from "./test-output.ts";
import type { TestCounts } from "../../core/gates/gate.ts";
import { type OutputFailure, testCounts } from "./test-output-parts.ts";

/** The report of one process of a test runner: one file of lines. */
export interface NameReport {
  readonly runner: string;
  readonly tests: readonly ReportedTest[];
  /** Whether the runner reported its end. Without that, any test may be missing. */
  readonly isComplete: boolean;
}

export interface ReportedTest {
  readonly outcome: TestOutcome;
  /** The name that the runner gives it; `null` for a whole file or package that did not load. */
  readonly name: string | null;
  readonly file: string | null;
  readonly package: string | null;
}

/**
 * Reads a report as it was written:
 * ```
 * {"runner":"vitest"}
 * {"outcome":"passed","file":"/work/test/cart.test.ts","name":"cart > adds"}
 * {"outcome":"not-loaded","file":"/work/test/order.test.ts"}
 * {"ended":true}
 * ```
 * The code under test runs in the runner's process and could write there too, so an invalid line, or a line after the
 * end, makes the report incomplete.
 */
export function readNameReport(text: string): NameReport {
  const tests: ReportedTest[] = [];
  let runner: string | null = null;
  let hasEnded = false;
  let isWhole = true;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const record = recordIn(line);
    if (hasEnded || record === null) isWhole = false;
    else if (runner === null && typeof record["runner"] === "string")
      runner = record["runner"].slice(0, LONGEST_RUNNER);
    else if (record["ended"] === true) hasEnded = true;
    else {
      const test = testIn(record);
      if (test === null) isWhole = false;
      else tests.push(test);
    }
  }
  return { runner: runner ?? "unknown", tests, isComplete: isWhole && hasEnded && runner !== null };
}

/** Reads counts of tests by line. The code under test could write there too, so invalid entries are left out. */
export function readLineCounts(text: string): LineCoverage[] {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  return listIn(text).flatMap((each) => {
    const { file, line, failed, passed } = asRecord(each) ?? {};
    if (typeof file !== "string" || !isCount(line) || !isCount(failed) || !isCount(passed)) return [];
    return [{ file, line, failed, passed }];
  });
}

function listIn(text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : [];
  } catch {
    // Cut off, or not written by the reporter.
    return [];
  }
}

const LONGEST_RUNNER = 40;

function recordIn(line: string): Readonly<Record<string, unknown>> | null {
  try {
    return asRecord(JSON.parse(line));
  } catch {
    // Cut off, or not written by the reporter.
    return null;
  }
}

function testIn(record: Readonly<Record<string, unknown>>): ReportedTest | null {
  const outcome = TEST_OUTCOMES.find((each) => each === record["outcome"]);
  const [name, file, inPackage] = [record["name"], record["file"], record["package"]].map(
    (each) => asText(each) || null,
  );
  if (outcome === undefined || (name === null && outcome !== "not-loaded")) return null;
  if (outcome === "not-loaded" && file === null && inPackage === null) return null;
  return { outcome, name: name!, file: file!, package: inPackage! };
}

/** The check's name, and its folder by all paths that lead to it. */
export interface RunFolder {
  readonly check: string;
  readonly folders: readonly string[];
}

/** Returns the tests of all reports, each once. */
export function reportedTests(reports: readonly NameReport[], place: RunFolder): NamedTest[] {
  return distinctTests(reports.flatMap(({ tests }) => tests.map((test) => namedTest(test, place))));
}

function namedTest(
  { outcome, name, file, package: inPackage }: ReportedTest,
  { check, folders }: RunFolder,
): NamedTest {
  const path = file === null ? null : relativeTo(file, folders);
  if (name === null) return { identity: path ?? inPackage ?? check, file: path, outcome };
  return { identity: `${path ?? check} > ${normalizedTestName(relativeTo(name, folders))}`, file: path, outcome };
}

const relativeTo = (path: string, folders: readonly string[]): string =>
  folders.reduce((shorter, folder) => below(shorter, folder), path);

/** Returns the name without the file: `test/cart.test.ts > cart > adds` is `cart > adds`. */
function titleOf(identity: string): string {
  const at = identity.indexOf(" > ");
  return at === -1 ? identity : identity.slice(at + 3);
}

/** The output of a run with the reported names, and what the run reports about its tests by name. */
export interface NamedOutput {
  readonly output: TestOutput;
  readonly names: TestNames;
}

/**
 * Joins the printed output with the reports of the runners. Reports count only if every runner reported its end, and if
 * they name as many tests as the output counts, because a runner without reports may have run beside one with them. A
 * failure in both keeps the printed message, and gets the reported name and file, because these do not depend on where
 * the error was thrown.
 */
export function withNames(printed: TestOutput, reports: readonly NameReport[], place: RunFolder): NamedOutput {
  const tests = reportedTests(reports, place);
  const isComplete = reports.length > 0 && reports.every((report) => report.isComplete);
  if (!isComplete || sizeOf(tests) < (printed.counts?.total ?? 0))
    return { output: printed, names: printedNames(printed, place) };
  const runners = [...new Set(reports.map(({ runner }) => runner))];
  return { output: outputWith(printed, tests, runners), names: { level: "all", runners, tests } };
}

const sizeOf = (tests: readonly NamedTest[]): number => tests.reduce((sum, { count = 1 }) => sum + count, 0);

function outputWith(printed: TestOutput, tests: readonly NamedTest[], runners: readonly string[]): TestOutput {
  const failing = tests.filter(({ outcome }) => outcome === "failed");
  const { failures, matched } = renameFailures(printed.failures, failing);
  const unprinted = withoutParents(failing).filter((test) => !matched.has(test) && !isPrinted(failures, test));
  const room = Math.max(0, MOST_FAILURES - failures.length);
  const notLoaded = tests.filter(({ outcome }) => outcome === "not-loaded").map(({ identity }) => identity);
  const counts = printed.counts ?? countsOf(tests);
  return {
    runners: [...new Set([...printed.runners, ...runners])],
    counts,
    ranTests: counts.passed + counts.failed > 0,
    failures: [...failures, ...unprinted.slice(0, room).map(asFailure)],
    more: printed.more + Math.max(0, unprinted.length - room - printed.more),
    notLoaded: [...new Set([...(printed.notLoaded ?? []), ...notLoaded])],
    passed: tests
      .filter(({ outcome }) => outcome === "passed")
      .flatMap(({ identity, file, count = 1 }) =>
        Array.from({ length: count }, () => ({ test: titleOf(identity), file })),
      ),
  };
}

const MOST_FAILURES = 200;

/** Gives printed failures their reported names. Each reported test belongs to at most one failure. */
function renameFailures(
  printed: readonly OutputFailure[],
  failing: readonly NamedTest[],
): { readonly failures: OutputFailure[]; readonly matched: ReadonlySet<NamedTest> } {
  const matched = new Set<NamedTest>();
  const failures = printed.map((failure) => {
    if (failure.test === null || failure.category !== "test") return failure;
    const test = { ...failure, test: normalizedTestName(failure.test) };
    // The error may be thrown in another file than the test's, so the file only decides among several tests of one
    // name.
    const same = failing.filter(
      (each) =>
        !matched.has(each) &&
        isSameFailure({ ...test, file: null }, { test: titleOf(each.identity), file: null, line: null }),
    );
    const found =
      same.find((each) => isSameFailure(test, { test: titleOf(each.identity), file: each.file, line: null })) ??
      (same.length === 1 ? same[0] : undefined);
    if (found === undefined) return failure;
    matched.add(found);
    return { ...failure, test: titleOf(found.identity), ...placeOf(failure, found) };
  });
  return { failures, matched };
}

function placeOf(failure: OutputFailure, { file }: NamedTest): Pick<OutputFailure, "file" | "line"> {
  if (file === null) return { file: failure.file, line: failure.line };
  const isThere = failure.file !== null && (file === failure.file || file.endsWith(`/${failure.file}`));
  return { file, line: isThere ? failure.line : null };
}

/** Whether the failure of a whole file is printed under the file's name. */
const isPrinted = (failures: readonly OutputFailure[], { file }: NamedTest): boolean =>
  file !== null && failures.some(({ test, file: at }) => at === file && (test === null || file.endsWith(test)));

/** Removes tests with a failed part: the part's failure says more. */
function withoutParents(failing: readonly NamedTest[]): NamedTest[] {
  const parents = new Set<string>();
  for (const { identity } of failing)
    for (const { index } of identity.matchAll(/ > |\//g)) parents.add(identity.slice(0, index));
  return failing.filter(({ identity }) => !parents.has(identity));
}

const asFailure = ({ identity, file }: NamedTest): OutputFailure => ({
  test: titleOf(identity),
  category: "test",
  message: "failed",
  detail: "",
  file,
  line: null,
});

function countsOf(tests: readonly NamedTest[]): TestCounts {
  const number = (outcome: NamedTest["outcome"]): number => sizeOf(tests.filter((test) => test.outcome === outcome));
  return testCounts(number("passed"), number("failed"), number("skipped"));
}

/** Returns the names that the output itself gives; all tests are named if there are as many names as it counts. */
function printedNames(printed: TestOutput, { check }: RunFolder): TestNames {
  const { counts, runners, failures, passed = [], skipped = [], notLoaded = [], files = [] } = printed;
  const namedTest = (outcome: "passed" | "failed" | "skipped", test: string, file: string | null): NamedTest => ({
    identity: `${file ?? check} > ${normalizedTestName(test)}`,
    file,
    outcome,
  });
  const failed = failures.filter(({ test, category }) => test !== null && category === "test");
  const tests = distinctTests([
    ...passed.map(({ test, file }) => namedTest("passed", test, file)),
    ...skipped.map(({ test, file }) => namedTest("skipped", test, file)),
    ...failed.map(({ test, file }) => namedTest("failed", test!, file)),
    ...notLoaded.map((file): NamedTest => ({ identity: file, file, outcome: "not-loaded" })),
  ]);
  const isAll =
    counts !== null &&
    counts.total > 0 &&
    passed.length === counts.passed &&
    failed.length === counts.failed &&
    skipped.length === counts.skipped;
  if (isAll) return { level: "all", runners, tests };
  if (files.length > 0) return { level: "files", runners, tests: distinctTests([...files.map(fileAsTest), ...tests]) };
  return { level: counts === null ? "none" : "counts", runners, tests };
}

const fileAsTest = ({
  file,
  outcome,
}: {
  readonly file: string;
  readonly outcome: "passed" | "failed";
}): NamedTest => ({
  identity: file,
  file,
  outcome,
});
