/**
 * An operating error: caused by the environment, not by the work and not by a bug. It says what happened and what to do
 * about it, and it is caught in two places only (the engine's performer and `main`).
 */
export class RemandError extends Error {
  readonly code: ErrorCode;
  /** What to do about it, as a sentence. */
  readonly hint: string;

  constructor(code: ErrorCode, message: string, hint: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "RemandError";
    this.code = code;
    this.hint = hint;
  }
}

export type ErrorCode =
  | "usage"
  | "not-a-person"
  | "config-invalid"
  | "story-invalid"
  | "file-missing"
  | "file-unreadable"
  | "file-too-large"
  | "input-invalid"
  | "journal-full"
  | "journal-readonly"
  | "journal-corrupt"
  | "journal-lost"
  | "journal-newer"
  | "journal-locked"
  | "journal-unreachable"
  | "journal-refused"
  | "journal-moved"
  | "evidence-corrupt"
  | "git-missing"
  | "not-a-repository"
  | "no-commits"
  | "git-failed"
  | "ref-locked"
  | "workspace-broken"
  | "setup-failed"
  | "sandbox-missing"
  | "check-unusable"
  | "branch-missing"
  | "branch-taken"
  | "forge-refused"
  | "forge-unreachable";

/** Something wrong with a person's file, and where. Readers return these beside what they could read. */
export interface Problem extends SourceLocation {
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
  /** An error makes the thing unusable; a warning does not. */
  readonly severity: "error" | "warning";
}

export interface SourceLocation {
  readonly file: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  /** The line of the file the problem is on, for the caret under it. */
  readonly source?: string;
  /** How many characters the caret underlines. */
  readonly length?: number;
}

/** In reading order: files in the order of their first problem, and each file from top to bottom. */
export function inOrderOfPlace(problems: readonly Problem[]): readonly Problem[] {
  const files = [...new Set(problems.map(({ file }) => file))];
  return problems.toSorted(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}

/**
 * The result of a gate. Only `pass` opens it.
 *
 * - `fail`: the work is not good enough.
 * - `blocked`: the environment is broken, so the gate could not run.
 * - `error`: the gate itself broke: its reviewer crashed, timed out, said nothing readable.
 * - `inconclusive`: it ran and proved nothing: zero tests, an empty scope, a missing report, a flake.
 */
export const RESULTS = ["pass", "fail", "blocked", "error", "inconclusive"] as const;
export type Result = (typeof RESULTS)[number];

/** Does the result say anything about the work? The others say what kept a gate from judging. */
export const isConclusive = (result: Result): boolean => result === "pass" || result === "fail";

/** Gravest first. A failure of the work is something to act on; then comes what kept a gate from judging. */
const BY_WEIGHT: readonly Result[] = ["fail", "blocked", "error", "inconclusive", "pass"];

/** For sorting: the gravest first. */
export const byWeight = (a: Result, b: Result): number => BY_WEIGHT.indexOf(a) - BY_WEIGHT.indexOf(b);

/** The one result of several. Where nothing was said, nothing was proven. */
export const worstResult = (results: readonly Result[]): Result =>
  BY_WEIGHT.find((result) => results.includes(result)) ?? "inconclusive";

/** What is wrong with the machine, and what to do about it. */
export interface SystemFault {
  readonly fact: string;
  readonly fix: string;
}

/** Errors that say nothing about the file or the program they occurred with: any other would have failed, too. */
const FAULTS: Readonly<Record<string, SystemFault>> = {
  ENOSPC: { fact: "the disk is full", fix: "Make room on the disk, and run the same command again." },
  EDQUOT: { fact: "your disk quota is used up", fix: "Delete files of yours, and run the same command again." },
  EROFS: {
    fact: "the disk is read-only",
    fix: "Work in a copy on a disk that can be written to, or mount this one for writing.",
  },
  EMFILE: {
    fact: "too many files are open in this process",
    fix: "Raise the limit of open files (ulimit -n 4096), and run the same command again.",
  },
  ENFILE: {
    fact: "too many files are open on this system",
    fix: "End other programs, or raise the limit of the system, and run the same command again.",
  },
};

/** Of an error, or of one that it wraps; `null` for every other error. */
export function systemFault(error: unknown): SystemFault | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return FAULTS[code] ?? systemFault(error.cause);
}
