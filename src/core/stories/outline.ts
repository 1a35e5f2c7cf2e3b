import type { GateName, Judgement } from "../gates/gate.ts";
import type { StoryId } from "../events/ids.ts";
import type { RunState } from "./run-state.ts";
import type { Counters, StoryState } from "./story-state.ts";
import type { Story } from "./story.ts";
import type { SortedMap } from "../../stdx/sorted-map.ts";

/**
 * What is needed of a story to say where it stands and who must act. Every story state is one; where there are
 * thousands of stories, it is all that is read of most of them.
 */
export interface StoryOutline extends Pick<
  StoryState,
  "policy" | "phase" | "running" | "waivers" | "wait" | "escalation" | "held" | "ending" | "raised" | "spent"
> {
  readonly story: Pick<Story, "id" | "title" | "shelf" | "dependsOn">;
  /** Every attempt that began: the number of the newest is how many there are. */
  readonly attempts: { readonly length: number };
  /** Those that count against the limit. */
  readonly counters: Pick<Counters, "attempts">;
  readonly gates: { readonly [G in GateName]?: GateOutline };
}

export interface GateOutline {
  readonly fresh: boolean;
  readonly last: (Pick<Judgement, "result" | "notes"> & { readonly blocking: { readonly length: number } }) | null;
}

export interface RunOutline extends Pick<
  RunState,
  "policy" | "remediation" | "escalation" | "halted" | "spent" | "raised"
> {
  readonly stories: SortedMap<StoryId, StoryOutline>;
  /** How many stories have ended and are not among `stories`, where those of long ago were left out. */
  readonly unlisted?: Settled;
}

export interface Settled {
  readonly accepted: number;
  readonly failed: number;
}

/** Is a person asked about this story? The one rule for every list and every count of questions. */
export function isAsking({ escalation, ending }: Pick<StoryOutline, "escalation" | "ending">): boolean {
  return escalation !== null && ending === null;
}
