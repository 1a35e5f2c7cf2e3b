import { ENGINE_DEATHS } from "../core/stories/budget.ts";
import type { EscalationReason } from "../core/stories/escalation.ts";
import type { Event, Step } from "../core/events/event.ts";
import type { EngineDeaths, Running, StoryState } from "../core/stories/story-state.ts";

/**
 * Counts a death of the engine in a step. An agent or a check can end the engine itself (`kill -9 $PPID`, all memory
 * used). An interrupted attempt is not counted, so such a step would be dispatched again forever. Deaths in the same
 * step are therefore counted until the story makes progress; at the limit, a person is asked.
 */
export function countEngineDeath(state: StoryState): StoryState {
  if (state.running === null) return state;
  const during = nameOfRunning(state.running, state);
  const known = state.counters.engineDeaths;
  const engineDeaths: EngineDeaths = {
    during,
    kind: state.running.type,
    gate: state.running.type === "gate" ? state.running.gate : null,
    times: known?.during === during ? known.times + 1 : 1,
  };
  return { ...state, counters: { ...state.counters, engineDeaths } };
}

/** Resets the count when a step ended by itself: the story made progress. */
export function afterProgress(before: StoryState, after: StoryState, event: Pick<Event, "type">): StoryState {
  if (after.counters.engineDeaths === undefined) return after;
  const hasEnded = before.running !== null && after.running === null;
  if (!hasEnded || event.type === "work.interrupted" || event.type === "step.failed") return after;
  return { ...after, counters: withoutDeaths(after.counters) };
}

/** Resets what a person has looked at: deaths of the engine, and a budget that was used up in the middle of a step. */
export function resetInterruptions(counters: StoryState["counters"]): StoryState["counters"] {
  const { cutShort: _forgotten, ...others } = counters;
  return withoutDeaths(others);
}

function withoutDeaths(counters: StoryState["counters"]): StoryState["counters"] {
  const { engineDeaths: _forgotten, ...others } = counters;
  return others;
}

/** Says why a person must be asked if the engine died too often in the same step. */
export function deathReason({ counters }: StoryState): Extract<EscalationReason, { type: "engine-died" }> | null {
  const deaths = counters.engineDeaths;
  if (deaths === undefined || deaths.times < ENGINE_DEATHS) return null;
  return { type: "engine-died", during: deaths.during, kind: deaths.kind, times: deaths.times };
}

/**
 * Whether one more death would raise a question. Such a story runs alone: if several stories run when the engine dies,
 * each of them is counted, and only the one at fault makes the engine die alone.
 */
export function mustRunAlone({ counters, policy, ending, escalation, held }: StoryState): boolean {
  const isInFlight = policy !== null && ending === null && escalation === null && !held;
  return isInFlight && counters.engineDeaths?.times === ENGINE_DEATHS - 1;
}

/** Names the running step. An interrupted attempt is not counted, so its number is used again. */
function nameOfRunning(running: Running, { counters }: StoryState): string {
  if (running.type === "attempt") return `attempt ${counters.attempts}`;
  return running.type === "gate" ? `the ${running.gate} gate` : STEP_NAMES[running.step];
}

const STEP_NAMES: Readonly<Record<Step, string>> = {
  prepare: "the set-up",
  base: "the checks of the base",
  dispatch: "the dispatch",
  blame: "the blame search",
  "lint-fix": "the lint fix",
  brief: "the brief",
  restore: "the restore of the best tree",
  update: "the update of the branch",
  adopt: "taking in what a person changed",
  adjudication: "the adjudication",
  delivery: "the delivery",
};
