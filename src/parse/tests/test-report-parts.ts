import { plainText } from "../../stdx/plain-text.ts";
import {
  type CodeLocation,
  type OutputFailure,
  detailIn,
  firstFrame,
  testFailure,
  withComparedValues,
} from "./test-output-parts.ts";
import { type TestOutput, sumOfCounts } from "./test-output.ts";

/** The contents of a report file that a check wrote. */
export interface TestReport extends TestOutput {
  readonly kind: string;
  /** When the report says that it was written, if it includes a time zone; in milliseconds since 1970. */
  readonly writtenAt: number | null;
}

export type ReadReport =
  | { readonly report: TestReport; readonly problem: null }
  | { readonly report: null; readonly problem: string };

/** Makes a failure from a report: a message, and a text with a stack. */
export function reportedFailure(
  name: string,
  message: string,
  body: string,
  known: CodeLocation | null,
): OutputFailure {
  const lines = body.slice(0, LONGEST_BODY).split("\n");
  const said = message.trim() === "" ? lines : message.slice(0, LONGEST_BODY).split("\n");
  const first = said.find((line) => line.trim() !== "")?.trim() ?? "failed";
  const rest = [...said.slice(said.findIndex((line) => line.trim() === first) + 1), ...(said === lines ? [] : lines)];
  // The text mostly begins with the message again.
  const more = rest.filter((line) => !line.trimEnd().endsWith(first));
  const detail = detailIn([first, ...more], 0, more.length + 1);
  return testFailure(name, withComparedValues(first, rest), placeIn(lines, known?.file ?? null) ?? known, detail);
}

const LONGEST_BODY = 20_000;

/** Returns the nearest location in the project; in the test's own file, if it is known and in the stack. */
function placeIn(lines: readonly string[], file: string | null): CodeLocation | null {
  const places = lines.flatMap((line) => placeOf(line) ?? []);
  return (
    places.find((place) => file !== null && (place.file === file || place.file.endsWith(`/${file}`))) ??
    firstFrame(lines, 0, lines.length) ??
    places[0] ??
    null
  );
}

function placeOf(line: string): CodeLocation | null {
  const found =
    /^\s*File "([^"]+)", line (\d{1,7})/.exec(line) ??
    /(?:^|[\s(])([\w@./\\-]+\.\w{1,5}):(\d{1,7})(?::\d{1,7})?(?=[\s):,]|$)/.exec(line);
  if (found === null || /^node:|node_modules\//.test(found[1]!)) return null;
  return { file: found[1]!, line: Number(found[2]) };
}

/* Data from outside may be anything: each of these takes what fits and ignores the rest. */

export const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");
export const asCount = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;

/** Reads a time only with its zone: without one it may be wrong by half a day. */
export function timeOf(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

/**
 * Joins the printed output with the reports. A failure in both stays as it was printed, because its identity must not
 * change when a report is configured; the reports add what was not printed.
 */
export function withReports(output: TestOutput, reports: readonly TestReport[]): TestOutput {
  if (reports.length === 0) return output;
  const failures = [...output.failures];
  for (const reported of reports.flatMap((report) => report.failures).slice(0, MOST_COMPARED)) {
    const at = failures.findIndex((known) => isSameFailure(known, reported));
    if (at === -1) failures.push(reported);
    else if (failures[at]!.detail === "") failures[at] = { ...failures[at]!, detail: reported.detail };
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

type FailureName = Pick<OutputFailure, "test" | "file" | "line">;

/**
 * Whether two names mean the same failure. Runners spell a test's name in several ways: with its file, with its class,
 * with other separators.
 */
export function isSameFailure(known: FailureName, reported: FailureName): boolean {
  if (known.test === null || reported.test === null)
    return known.test === reported.test && known.file === reported.file && known.line === reported.line;
  if (known.file !== null && reported.file !== null && baseName(known.file) !== baseName(reported.file)) return false;
  const [a, b] = [lettersOf(known.test), lettersOf(reported.test)];
  return a === b || (a.length >= SHORTEST && b.endsWith(a)) || (b.length >= SHORTEST && a.endsWith(b));
}

/** A shorter name may end a longer one by chance. */
const SHORTEST = 4;

export const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/**
 * Reads the author's reason for fewer tests than before: a line `Tests removed: <reason>` in its message. `null`: no
 * reason.
 */
export function readTestsRemoved(message: string): string | null {
  const reason = /^Tests removed:[ \t]*(\S.*)$/m.exec(plainText(message))?.[1]?.trim() ?? "";
  return /\p{L}{2}/u.test(reason) ? reason.slice(0, LONGEST) : null;
}

const LONGEST = 500;
