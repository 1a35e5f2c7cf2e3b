import { isRecord } from "../../stdx/assert.ts";

/** A planted fault of a mutation tool, and the result of the tests. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  /** The kind of change, in the tool's words. */
  readonly mutator: string;
  readonly original: string;
  readonly replacement: string;
  readonly status: MutantStatus;
  /** Why it was left out, if the report says so. */
  readonly reason: string;
}

export const MUTANT_STATUSES = [
  "killed",
  "survived",
  "no-coverage",
  "timeout",
  "ignored",
  "invalid",
  "pending",
] as const;
export type MutantStatus = (typeof MUTANT_STATUSES)[number];

export type MutationReport =
  | { readonly ok: true; readonly files: readonly string[]; readonly mutants: readonly Mutant[] }
  | { readonly ok: false; readonly problem: string };

/** Reads a report of any tool in the mutation-testing schema. Unknown statuses count as no verdict. */
export function readMutationReport(text: string): MutationReport {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { ok: false, problem: "it is no JSON" };
  }
  if (!isRecord(document) || !isRecord(document["files"]))
    return { ok: false, problem: "it has no `files`, so it is no report of mutation testing" };
  const mutants: Mutant[] = [];
  for (const [file, entry] of Object.entries(document["files"])) {
    if (!isRecord(entry) || !Array.isArray(entry["mutants"]))
      return { ok: false, problem: `files["${file.slice(0, 200)}"] has no list of mutants` };
    const lines = typeof entry["source"] === "string" ? entry["source"].split("\n") : [];
    for (const each of entry["mutants"] as unknown[]) {
      const mutant = mutantOf(each, file, lines);
      if (mutant === null)
        return { ok: false, problem: `files["${file.slice(0, 200)}"] has a mutant that cannot be read` };
      if (mutants.length < MOST_MUTANTS) mutants.push(mutant);
    }
  }
  return { ok: true, files: Object.keys(document["files"]), mutants };
}

const MOST_MUTANTS = 100_000;

const STATUSES: ReadonlyMap<string, MutantStatus> = new Map([
  ["Killed", "killed"],
  ["Survived", "survived"],
  ["NoCoverage", "no-coverage"],
  ["Timeout", "timeout"],
  ["Ignored", "ignored"],
  ["CompileError", "invalid"],
  ["RuntimeError", "invalid"],
  ["Pending", "pending"],
]);

function mutantOf(value: unknown, file: string, lines: readonly string[]): Mutant | null {
  if (!isRecord(value)) return null;
  const status = typeof value["status"] === "string" ? STATUSES.get(value["status"]) : undefined;
  const range = rangeOf(value["location"]);
  if (status === undefined || range === null) return null;
  return {
    file,
    line: range.start.line,
    mutator: text(value["mutatorName"]),
    original: cut(lines, range),
    replacement: text(value["replacement"]),
    status,
    reason: text(value["statusReason"]),
  };
}

const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, LONGEST_TEXT) : "");
const LONGEST_TEXT = 500;

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Range {
  readonly start: Position;
  readonly end: Position;
}

function rangeOf(location: unknown): Range | null {
  if (!isRecord(location)) return null;
  const start = positionOf(location["start"]);
  const end = positionOf(location["end"]);
  return start === null || end === null ? null : { start, end };
}

function positionOf(value: unknown): Position | null {
  if (!isRecord(value)) return null;
  const { line, column } = value as { line?: unknown; column?: unknown };
  return typeof line === "number" && typeof column === "number" ? { line, column } : null;
}

/** Returns the code that was changed; the schema counts lines and columns from 1. */
function cut(lines: readonly string[], { start, end }: Range): string {
  const taken = lines.slice(start.line - 1, end.line).map((line, at, all) => {
    const to = at === all.length - 1 ? end.column - 1 : line.length;
    return line.slice(at === 0 ? start.column - 1 : 0, to);
  });
  return taken.join("\n").slice(0, LONGEST_TEXT);
}
