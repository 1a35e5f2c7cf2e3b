import type { Config } from "../config/config.ts";

export interface BlamePlan {
  readonly config: Config;
  /** What the failed check printed; `null`: the check is run first. */
  readonly output: string | null;
  /** The check; `null`: only what it printed is known. */
  readonly command: string | null;
  readonly prove: boolean;
  /** The commit to look at; `null`: the files as they are. */
  readonly at: string | null;
  readonly base: string | null;
  readonly limits: { readonly runs: number; readonly timeMs: number };
  readonly signal: AbortSignal;
  onRun(what: string): void;
  onNotice(text: string): void;
}
