import type { FailureReading } from "./failure.ts";

/** One run of lines that an iteration changed: the smallest thing that can be taken back. */
export interface ChangedHunk {
  /** By its place in the diff, from 0. */
  readonly id: number;
  readonly file: string;
  readonly oldFile: string;
  readonly change: "added" | "deleted" | "modified" | "renamed" | "copied";
  readonly isBinary: boolean;
  /** The first changed line in the new version; for lines that are gone, the one they stood before. */
  readonly start: number;
  readonly end: number;
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** A named part of a file, with the lines it takes. */
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
  /** Files of the project that it names: by import, or by their path in a text. */
  readonly imports: readonly string[];
  readonly symbols: readonly CodeSymbol[];
  /** The names that each line uses, by line from 1; texts and comments do not count. */
  readonly names: readonly (readonly string[])[];
}

/** Everything that blame is ranked from. All of it is read, nothing of it was run. */
export interface BlameMaterial {
  readonly failure: FailureReading;
  readonly hunks: readonly ChangedHunk[];
  /** Files as the iteration left them: the changed ones, the failing tests, and what lies between. */
  readonly files: ReadonlyMap<string, CodeFile>;
  /** Files as they were before, where the iteration changed them. */
  readonly before: ReadonlyMap<string, CodeFile>;
  /** Files of tests that passed in the same run, where that is known. */
  readonly passedFiles: readonly string[];
  readonly coverage: readonly LineCoverage[];
}

/** How often tests that failed and tests that passed went through lines, where a coverage report says so. */
export interface LineCoverage {
  readonly file: string;
  readonly line: number;
  readonly failed: number;
  readonly passed: number;
}

/** Is this a test by its path, as most projects lay them out? What a project's own settings say goes before this. */
export function looksLikeTest(path: string): boolean {
  return TEST_PATH.test(path);
}

const TEST_PATH =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testing)\/|(?:^|[/._-])(?:tests?|spec)\.\w+$|(?:^|\/)(?:test_[^/]*|conftest)\.py$|_test\.\w+$|(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|cs)$/;
