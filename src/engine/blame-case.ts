import type { ExperimentCheckout, Trial } from "../ports/experiment-runner.ts";
import type { ExtraCheckouts } from "./proof-runner.ts";

/** A failure, and the change that it came with. */
export interface BlameCase {
  /** What the failed check printed. */
  readonly output: string;
  /** Where it ran: its paths are said from there. */
  readonly root: string;
  /** The last good state, and the one that failed. */
  readonly base: string;
  readonly tree: string;
  readonly diff: string;
  isTest(path: string): boolean;
}

export interface BlameTools {
  readonly checkout: ExperimentCheckout;
  textBefore(path: string): Promise<string | null>;
  /** How it is proven; `null` where it is only read. */
  readonly proof: ProofOptions | null;
  readonly signal: AbortSignal;
  now(): number;
  onRun?(what: string): void;
  /** Further checkouts, where several runs may be made at once. */
  readonly more?: ExtraCheckouts;
}

export interface ProofOptions {
  readonly trial: Trial;
  readonly command: string;
  readonly limits: { readonly runs: number; readonly timeMs: number };
}
