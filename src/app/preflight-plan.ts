import type { Config } from "../config/config.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Story } from "../core/stories/story.ts";

/** One thing that was looked at, and how to fix it where it is not well. */
export interface Probe {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do about it; empty where nothing is wrong. */
  readonly fix: string;
}

export interface PreflightPlan {
  readonly config: Config;
  readonly policy: Policy;
  /** Something about the checkout that a person should know, and that stops nothing. */
  onNotice?(text: string): void;
  /** What takes long: a person waits for it. */
  onProgress?(text: string): void;
  readonly stories?: readonly Story[];
  /** `files`: the checkout as it is. `commit`: what git has of it, in a checkout that is removed again. */
  readonly at: "files" | "commit";
  /** Also runs the checks once; without it only what can be seen without running them is looked at. */
  readonly isRun: boolean;
  /** Runs them although a run of the same files by an earlier process is known. */
  readonly isFresh?: boolean;
  /** Ends the checks early. */
  readonly signal?: AbortSignal;
}

export interface Preflight {
  /** Each with its fix; none: the checks can run. */
  readonly problems: readonly Probe[];
  /** The checks were run, and passed. */
  readonly isGreen: boolean;
  readonly summary: string;
  /** Variables that are withheld from the checks, and without which they fail. */
  readonly variables: readonly string[];
}
