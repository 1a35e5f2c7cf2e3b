import { detailIn } from "./test-output-detail.ts";
import { firstFrame, testFailure, type CodePlace, type OutputFailure } from "./test-output-parts.ts";
import type { TestOutput } from "./test-output.ts";

/** What a file that a check left behind says. */
export interface TestReport extends TestOutput {
  readonly kind: string;
  /** When it says that it was written, where it says so without leaving the zone open; milliseconds of the epoch. */
  readonly writtenAt: number | null;
}

export type ReadReport =
  | { readonly report: TestReport; readonly problem: null }
  | { readonly report: null; readonly problem: string };

/** A failure as reports tell it: a message, and a text with a stack in it. */
export function toldFailure(name: string, message: string, body: string, known: CodePlace | null): OutputFailure {
  const lines = body.slice(0, LONGEST_BODY).split("\n");
  const said = message.trim() === "" ? lines : message.slice(0, LONGEST_BODY).split("\n");
  const first = said.find((line) => line.trim() !== "")?.trim() ?? "failed";
  const rest = [...said.slice(said.findIndex((line) => line.trim() === first) + 1), ...(said === lines ? [] : lines)];
  // The text mostly begins by saying the message once more.
  const more = rest.filter((line) => !line.trimEnd().endsWith(first));
  const detail = detailIn([first, ...more], 0, more.length + 1);
  return testFailure(name, first, placeIn(lines, known?.file ?? null) ?? known, detail);
}

const LONGEST_BODY = 20_000;

/** The nearest place of the project's own; in the file of the test, where that is known and named. */
function placeIn(lines: readonly string[], file: string | null): CodePlace | null {
  const places = lines.flatMap((line) => placeOf(line) ?? []);
  return (
    places.find((place) => file !== null && (place.file === file || place.file.endsWith(`/${file}`))) ??
    firstFrame(lines, 0, lines.length) ??
    places[0] ??
    null
  );
}

function placeOf(line: string): CodePlace | null {
  const found =
    /^\s*File "([^"]+)", line (\d{1,7})/.exec(line) ??
    /(?:^|[\s(])([\w@./\\-]+\.\w{1,5}):(\d{1,7})(?::\d{1,7})?(?=[\s):,]|$)/.exec(line);
  if (found === null || /^node:|node_modules\//.test(found[1]!)) return null;
  return { file: found[1]!, line: Number(found[2]) };
}

/* What comes from outside may be anything: each of these takes what fits and leaves the rest. */

export const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");
export const asCount = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;

/** Only a time that names its zone: one that leaves it open may be half a day off. */
export function timeOf(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
