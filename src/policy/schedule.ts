import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import { nextStep, type NextStep } from "./next-step.ts";
import { factsFor, orderKey } from "./queue-story.ts";

export interface Candidate {
  readonly key: string;
  readonly state: StoryState;
  readonly step: NextStep;
}

/** Stories whose pause is over, in the order in which they would stand in their lanes. */
export function dueStories(run: RunState, now: number): Candidate[] {
  const due: Candidate[] = [];
  for (const [key, id] of entries(run.timers)) {
    if (Number(key.slice(0, 16)) > now) break;
    const state = lookup(run.stories, id, byText)!;
    const step = nextStep(state, factsFor(run, state));
    due.push({ key: orderKey(state, step.urgency), state, step });
  }
  return due.sort((a, b) => byText(a.key, b.key));
}
