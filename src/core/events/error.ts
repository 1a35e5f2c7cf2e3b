/**
 * An operating error: caused by the environment, not by the work and not by a bug. It states what happened and how to
 * fix it. "Errors" in `ARCHITECTURE.md` lists where each layer catches it.
 */
export class RemandError extends Error {
  readonly code: ErrorCode;
  /** How to fix it, as a sentence. */
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

/** Something wrong with a person's file, with its location. Readers return problems with whatever they could read. */
export interface Problem extends SourceLocation {
  readonly message: string;
  /** How to fix it. */
  readonly hint: string;
  /** An error makes the file unusable; a warning does not. */
  readonly severity: "error" | "warning";
}

export interface SourceLocation {
  readonly file: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  /** The line of the file with the problem, for the caret under it. */
  readonly source?: string;
  /** How many characters the caret underlines. */
  readonly length?: number;
}

/** Sorts problems in reading order: files in the order of their first problem, and each file from top to bottom. */
export function sortByLocation(problems: readonly Problem[]): readonly Problem[] {
  const files = [...new Set(problems.map(({ file }) => file))];
  return problems.toSorted(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}

/**
 * The result of a gate. Only `pass` passes it.
 *
 * - `fail`: the work is not good enough.
 * - `blocked`: the environment is broken, so the gate could not run.
 * - `error`: the gate itself broke: its reviewer crashed, timed out, or gave no readable reply.
 * - `inconclusive`: it ran and proved nothing: zero tests, an empty scope, a missing report, a flake.
 */
export const RESULTS = ["pass", "fail", "blocked", "error", "inconclusive"] as const;
export type Result = (typeof RESULTS)[number];

/** Whether the result says something about the work. The other results say what kept the gate from judging it. */
export const isConclusive = (result: Result): boolean => result === "pass" || result === "fail";

/**
 * The worst first. A failure of the work comes before whatever kept a gate from judging, because it can be acted on.
 */
const BY_WEIGHT: readonly Result[] = ["fail", "blocked", "error", "inconclusive", "pass"];

/** Compares two results for sorting, the worst first. */
export const byWeight = (a: Result, b: Result): number => BY_WEIGHT.indexOf(a) - BY_WEIGHT.indexOf(b);

/** Combines several results into one, the worst. Without any result nothing is proven: `inconclusive`. */
export const worstResult = (results: readonly Result[]): Result =>
  BY_WEIGHT.find((result) => results.includes(result)) ?? "inconclusive";

/** What is wrong with the machine, and how to fix it. */
export interface SystemFault {
  readonly fact: string;
  readonly fix: string;
}

/** Errors that come from the machine, not from the file or program in use: any other would have failed, too. */
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

/** Returns the fault that caused an error, or an error that it wraps; `null` for every other error. */
export function systemFault(error: unknown): SystemFault | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return FAULTS[code] ?? systemFault(error.cause);
}
