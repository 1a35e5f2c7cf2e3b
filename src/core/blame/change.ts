import type { FailureReading } from "./failure.ts";

/** One run of lines that an iteration changed: the smallest unit that can be reverted. */
export interface ChangedHunk {
  /** The position in the diff, counted from 0. */
  readonly id: number;
  readonly file: string;
  readonly oldFile: string;
  readonly change: "added" | "deleted" | "modified" | "renamed" | "copied";
  readonly isBinary: boolean;
  /** The first changed line in the new version; for deleted lines, the line that was after them. */
  readonly start: number;
  readonly end: number;
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** A named part of a file, with its first and last line. */
export interface CodeSymbol {
  readonly name: string;
  readonly kind: "function" | "type" | "value" | "test";
  readonly start: number;
  readonly end: number;
}

/** What is known of one file without running anything. */
export interface CodeFile {
  readonly path: string;
  readonly isTest: boolean;
  /** Files of the project that this file refers to, by an import or by their path in a string. */
  readonly imports: readonly string[];
  readonly symbols: readonly CodeSymbol[];
  /** The names that each line uses, by line from 1. Strings and comments do not count. */
  readonly names: readonly (readonly string[])[];
}

/** Everything that the ranking of suspects uses. All of it is read from files and output; nothing is run for it. */
export interface BlameMaterial {
  readonly failure: FailureReading;
  readonly hunks: readonly ChangedHunk[];
  /** Files after the iteration: the changed ones, the failing tests, and the files on the import path between. */
  readonly files: ReadonlyMap<string, CodeFile>;
  /** Files as they were before the iteration; only those that it changed. */
  readonly before: ReadonlyMap<string, CodeFile>;
  /** Files of tests that passed in the same run, if known. */
  readonly passedFiles: readonly string[];
  readonly coverage: readonly LineCoverage[];
}

/** How many failing and how many passing tests executed a line, according to a coverage report. */
export interface LineCoverage {
  readonly file: string;
  readonly line: number;
  readonly failed: number;
  readonly passed: number;
}

/** Whether this path looks like a test in the layouts of most projects. A project's own settings come first. */
export function looksLikeTest(path: string): boolean {
  return TEST_PATH.test(path);
}

const TEST_PATH =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testing)\/|(?:^|[/._-])(?:tests?|spec)\.\w+$|(?:^|\/)(?:test_[^/]*|conftest)\.py$|_test\.\w+$|(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|cs)$/;
