import { ENGINE_DEATHS } from "../core/stories/budget.ts";
import type { EscalationReason } from "../core/stories/escalation.ts";
import type { Event, Step } from "../core/events/event.ts";
import type { EngineDeaths, Running, StoryState } from "../core/stories/story-state.ts";

/**
 * An agent or a check can end the engine itself (`kill -9 $PPID`, all memory used). Such a step would be dispatched
 * again for ever, because what was interrupted is given back. So deaths in the same step are counted until the story
 * gets further, and the last one allowed is the step's failure.
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

/** Something that ran has ended by itself: the story got further, and the count starts at zero. */
export function afterProgress(before: StoryState, after: StoryState, event: Pick<Event, "type">): StoryState {
  if (after.counters.engineDeaths === undefined) return after;
  const hasEnded = before.running !== null && after.running === null;
  if (!hasEnded || event.type === "work.interrupted" || event.type === "step.failed") return after;
  return { ...after, counters: withoutDeaths(after.counters) };
}

/** A person has looked at it: neither deaths of the engine nor a budget that ran out in the middle is held against it. */
export function forgetTroubles(counters: StoryState["counters"]): StoryState["counters"] {
  const { cutShort: _forgotten, ...others } = counters;
  return withoutDeaths(others);
}

function withoutDeaths(counters: StoryState["counters"]): StoryState["counters"] {
  const { engineDeaths: _forgotten, ...others } = counters;
  return others;
}

/** Why a person must be asked, when the engine has died too often in the same step. */
export function deathReason({ counters }: StoryState): Extract<EscalationReason, { type: "engine-died" }> | null {
  const deaths = counters.engineDeaths;
  if (deaths === undefined || deaths.times < ENGINE_DEATHS) return null;
  return { type: "engine-died", during: deaths.during, kind: deaths.kind, times: deaths.times };
}

/**
 * One more death and a person is asked. Such a story runs alone: when several stories run as the engine dies, each of
 * them is counted, and only the one at fault dies alone.
 */
export function mustRunAlone({ counters, policy, ending, escalation, held }: StoryState): boolean {
  const isInFlight = policy !== null && ending === null && escalation === null && !held;
  return isInFlight && counters.engineDeaths?.times === ENGINE_DEATHS - 1;
}

/** Attempts are given back when they are interrupted, so the same number comes again. */
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
