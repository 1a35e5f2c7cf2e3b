import type { TreeId } from "../core/events/ids.ts";
import type { LineCoverage } from "../core/blame/change.ts";
import type { NamedTest } from "../core/gates/test-names.ts";

/** Makes clean checkouts: folders in which nothing but the engine wrote. The user's own files are not touched. */
export interface ExperimentRunner {
  open(options: CheckoutRequest): Promise<ExperimentCheckout>;
  /**
   * What git ignores in this folder, if it is the user's own checkout, and a clean checkout does not have: neither
   * installed packages nor files that are carried.
   */
  ignoredPaths?(path: string): Promise<readonly string[]>;
  /** How many checkouts beyond the first the machine can run now; absent: none. */
  extraCheckouts?(): number;
}

export interface CheckoutRequest {
  readonly signal: AbortSignal;
  /** The commit that git shows there as HEAD; absent: that of the user's checkout. */
  readonly commit?: string;
  /** The files; absent: the commit's. */
  readonly tree?: string;
  /** What the work started from: links that lead out of the repository are there only if they were there then. */
  readonly base?: string;
  /**
   * Checkouts of the same name have the same path, one after the other: some clients keep conversations by folder.
   * While one of that name is in use, the next gets a path of its own.
   */
  readonly name?: string;
  /** An agent works there: nothing that it writes is kept, not even what builds leave for the next one. */
  readonly isForAgent?: boolean;
}

export interface PathsFromCommit {
  readonly from: string;
  readonly paths: readonly string[];
}

export interface ExperimentCheckout {
  readonly path: string;
  /**
   * Makes the files be those of a tree, with these texts in place of its own (`null`: without the file), and with the
   * paths of `taken` as they are in another commit (absent where it has none). Says which tree that is: two of the same
   * name are the same files.
   */
  set(tree: string, texts: ReadonlyMap<string, string | null>, taken?: PathsFromCommit): Promise<TreeId>;
  /** The paths of all files that git knows in the present state. */
  paths(): Promise<readonly string[]>;
  /** Files that git knows and that are not as they were set: what ran there changed them. Absent: cannot be told. */
  writtenPaths?(): Promise<readonly string[]>;
  /** A file as it is there now; `null` where there is none, or it is no text. At once, because many are read. */
  text(path: string): string | null;
  close(): Promise<void>;
}

/** Runs a check on a state of the files that is only tried. */
export interface Trial {
  run(request: TrialRequest, control: { readonly signal: AbortSignal }): Promise<TrialRun>;
}

export interface TrialRequest {
  readonly command: string;
  /** The folder in which it runs. */
  readonly path: string;
  readonly timeoutMs: number;
  /** Without reports of tests by name: for a check that goes differently with them. */
  readonly isBare?: boolean;
  /** Lines, by file, for which the tests that run them are counted, where the runner can. */
  readonly counted?: ReadonlyMap<string, readonly number[]>;
}

export interface TrialRun {
  readonly passed: boolean;
  /** It did not come to its end, so it says nothing. */
  readonly timedOut: boolean;
  readonly output: string;
  readonly tookMs: number;
  /** Every test of the run by name; absent where the runners did not report them to the end. */
  readonly tests?: readonly NamedTest[];
  /** Of the lines that were asked for, those in files that were loaded. */
  readonly coverage?: readonly LineCoverage[];
}
