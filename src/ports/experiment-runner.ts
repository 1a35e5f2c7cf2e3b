import type { TreeId } from "../core/events/ids.ts";
import type { LineCoverage } from "../core/blame/change.ts";
import type { NamedTest } from "../core/gates/test-names.ts";

/** Makes clean checkouts: folders in which only the engine wrote. The user's own files are not touched. */
export interface ExperimentRunner {
  open(options: CheckoutRequest): Promise<ExperimentCheckout>;
  /**
   * Returns the paths that git ignores in this folder and that a clean checkout would lack: they are neither installed
   * packages nor files that clean checkouts copy. Only for the user's own checkout.
   */
  ignoredPaths?(path: string): Promise<readonly string[]>;
  /** Returns how many checkouts beyond the first the machine can run now; absent: none. */
  extraCheckouts?(): number;
}

export interface CheckoutRequest {
  readonly signal: AbortSignal;
  /** The commit that git shows there as HEAD; absent: that of the user's checkout. */
  readonly commit?: string;
  /** The tree whose files it has; absent: the commit's tree. */
  readonly tree?: string;
  /** The base of the work: links that lead out of the repository are kept only if the base has them. */
  readonly base?: string;
  /**
   * Checkouts of the same name get the same path, one after the other, because some clients store conversations by
   * folder. While a checkout of that name is in use, the next one gets its own path.
   */
  readonly name?: string;
  /** An agent works there: nothing that it writes is kept, not even files that builds leave for the next one. */
  readonly isForAgent?: boolean;
}

export interface PathsFromCommit {
  readonly from: string;
  readonly paths: readonly string[];
}

export interface ExperimentCheckout {
  readonly path: string;
  /**
   * Sets the files to those of a tree, with these texts instead of its own (`null`: without the file), and with the
   * paths of `taken` from another commit (absent if that commit lacks them). Returns the id of the resulting tree:
   * equal ids mean equal files.
   */
  set(tree: string, texts: ReadonlyMap<string, string | null>, taken?: PathsFromCommit): Promise<TreeId>;
  /** Returns the paths of all files that git knows in the current state. */
  paths(): Promise<readonly string[]>;
  /** Returns files that git knows and that changed since they were set. Absent if that cannot be determined. */
  writtenPaths?(): Promise<readonly string[]>;
  /**
   * Returns the current text of a file; `null` if it does not exist or is not text. Synchronous, because many files are
   * read.
   */
  text(path: string): string | null;
  close(): Promise<void>;
}

/** Runs a check on an experimental state of the files. */
export interface Trial {
  run(request: TrialRequest, control: { readonly signal: AbortSignal }): Promise<TrialRun>;
}

export interface TrialRequest {
  readonly command: string;
  /** The folder in which it runs. */
  readonly path: string;
  readonly timeoutMs: number;
  /** Run without reports of tests by name: for a check whose result changes with them. */
  readonly isBare?: boolean;
  /** Lines, by file, for which to count the tests that execute them, if the runner can. */
  readonly counted?: ReadonlyMap<string, readonly number[]>;
}

export interface TrialRun {
  readonly passed: boolean;
  /** The run did not finish, so it proves nothing. */
  readonly timedOut: boolean;
  readonly output: string;
  readonly tookMs: number;
  /** Every test of the run by name; absent if the runners did not report them completely. */
  readonly tests?: readonly NamedTest[];
  /** Coverage of the `counted` lines in files that were loaded. */
  readonly coverage?: readonly LineCoverage[];
}
