import {
  distinctTests,
  normalizedTestName,
  TEST_OUTCOMES,
  type NamedTest,
  type TestOutcome,
} from "../../core/gates/test-names.ts";
import { asRecord, asText } from "./test-report-parts.ts";
import { below } from "./test-output.ts";

/** What one test runner's process reported: one file of lines. */
export interface NameReport {
  readonly runner: string;
  readonly tests: readonly ReportedTest[];
  /** The runner said that it came to its end. Without that any test may be missing. */
  readonly isComplete: boolean;
}

export interface ReportedTest {
  readonly outcome: TestOutcome;
  /** As the runner calls it; `null` for a whole file or package that did not load. */
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
 * The code under test runs in the runner's process and could write there too, so a line that is none makes the report
 * incomplete, and so does a line behind the end.
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

const LONGEST_RUNNER = 40;

function recordIn(line: string): Readonly<Record<string, unknown>> | null {
  try {
    return asRecord(JSON.parse(line));
  } catch {
    // Cut off, or not the reporter's.
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

/** Where a run took place: the check's name, and its folder by all the paths that lead to it. */
export interface RunFolder {
  readonly check: string;
  readonly folders: readonly string[];
}

/** The tests of all reports, each once. */
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

/** The name behind the place: `test/cart.test.ts > cart > adds` is `cart > adds`. */
export function titleOf(identity: string): string {
  const at = identity.indexOf(" > ");
  return at === -1 ? identity : identity.slice(at + 3);
}
