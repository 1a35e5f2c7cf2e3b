import type { OutputFailure } from "./test-output-parts.ts";
import type { TestOutput } from "./test-output.ts";
import { sumOfCounts } from "./test-output.ts";
import type { TestReport } from "./test-report-parts.ts";

/**
 * What a check printed, and what its reports say, as one. A failure that both tell stays as it was printed, because
 * its identity must not change when a report is configured; the report adds what was not printed.
 */
export function withReports(output: TestOutput, reports: readonly TestReport[]): TestOutput {
  if (reports.length === 0) return output;
  const failures = [...output.failures];
  for (const told of reports.flatMap((report) => report.failures).slice(0, MOST_COMPARED)) {
    const at = failures.findIndex((known) => isSameFailure(known, told));
    if (at === -1) failures.push(told);
    else if (failures[at]!.detail === "") failures[at] = { ...failures[at]!, detail: told.detail };
  }
  const counts = output.counts ?? sumOfCounts(reports.flatMap((report) => report.counts ?? []));
  const ran = [output.ranTests, ...reports.map((report) => report.ranTests)].filter((each) => each !== null);
  return {
    runners: [...new Set([...output.runners, ...reports.flatMap((report) => report.runners)])],
    counts,
    ranTests: ran.length === 0 ? null : ran.some(Boolean),
    failures,
    more: Math.max(output.more, ...reports.map((report) => report.more)),
    notLoaded: [...new Set([output, ...reports].flatMap((each) => each.notLoaded ?? []))],
    passed: [output, ...reports].flatMap((each) => each.passed ?? []),
    skipped: [output, ...reports].flatMap((each) => each.skipped ?? []),
    files: [output, ...reports].flatMap((each) => each.files ?? []),
  };
}

const MOST_COMPARED = 1000;

type Named = Pick<OutputFailure, "test" | "file" | "line">;

/** Runners spell one test's name in several ways: with its file, with its class, with other signs between the parts. */
export function isSameFailure(known: Named, told: Named): boolean {
  if (known.test === null || told.test === null)
    return known.test === told.test && known.file === told.file && known.line === told.line;
  if (known.file !== null && told.file !== null && baseName(known.file) !== baseName(told.file)) return false;
  const [a, b] = [lettersOf(known.test), lettersOf(told.test)];
  return a === b || (a.length >= SHORTEST && b.endsWith(a)) || (b.length >= SHORTEST && a.endsWith(b));
}

/** A shorter name may end a longer one by chance. */
const SHORTEST = 4;

export const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
