import type { Story } from "../domain/story.ts";
import type { Probe, RunPlan } from "./host.ts";

export interface PreflightPlan extends Pick<RunPlan, "config" | "policy" | "onNotice"> {
  readonly stories?: readonly Story[];
  /** `files`: the checkout as it is. `commit`: what git has of it, in a checkout that is removed again. */
  readonly at: "files" | "commit";
  /** Also runs the checks once; without it only what can be seen without running them is looked at. */
  readonly isRun: boolean;
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
