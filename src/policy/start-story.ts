import type { StoryEvent } from "../domain/event.ts";
import type { Policy } from "../domain/policy.ts";
import type { StoryState } from "../domain/story-state.ts";

/** A story takes the rules that hold now, and keeps them. */
export function started(state: StoryState, policy: Policy | null, at: number): StoryState {
  const running = { type: "step", step: "prepare", since: at, seq: state.seq + 1 } as const;
  // A second start is a retry of the first: it keeps the rules it began with. Only what people know of the base is
  // looked up again, because the base is.
  if (policy === null || state.policy !== null)
    return { ...state, running, wait: null, policy: withKnownFailures(state.policy, policy) };
  const phases = policy.phases.map((plan) => plan.phase);
  const phase = phases.find((each) => !state.completed.includes(each)) ?? phases[phases.length - 1]!;
  return { ...state, running, wait: null, policy, startedAt: at, phase, productReady: state.completed.includes(phase) };
}

function withKnownFailures(rules: Policy | null, now: Policy | null): Policy | null {
  if (rules === null || now === null || rules.knownFailures === now.knownFailures) return rules;
  const { knownFailures: _before, ...others } = rules;
  return { ...others, ...(now.knownFailures === undefined ? {} : { knownFailures: now.knownFailures }) };
}

/** What is known of the base of a story. */
export const withBase = (
  state: StoryState,
  event: Extract<StoryEvent, { type: "story.prepared" | "base.judged" }>,
): StoryState => (event.type === "story.prepared" ? prepared(state, event) : baseJudged(state, event));

/** What its base says is known before anything is done, unless its checks take long. */
function prepared(state: StoryState, event: Extract<StoryEvent, { type: "story.prepared" }>): StoryState {
  const { tree, commit, preExisting, flaky, known = [], baseRuns, isBaseOpen } = event;
  // What an earlier look at the base said is over.
  const { openBase: _openBase, flakyAtBase: _flaky, baseRuns: _runs, ...before } = state;
  return {
    ...before,
    running: null,
    tree,
    commit,
    preExisting,
    ...(flaky === undefined ? {} : { flakyAtBase: flaky }),
    ...(baseRuns === undefined ? {} : { baseRuns }),
    ...(known.length === 0 ? {} : { known: [...(state.known ?? []), ...known] }),
    ...(isBaseOpen === undefined ? {} : { openBase: { tree, commit } }),
  };
}

/** The checks of the base ended while the first attempt was made. */
function baseJudged(state: StoryState, event: Extract<StoryEvent, { type: "base.judged" }>): StoryState {
  const { openBase: _openBase, ...before } = state;
  const { preExisting, flaky, baseRuns = {} } = event;
  return {
    ...before,
    running: null,
    preExisting: [...new Set([...state.preExisting, ...preExisting])],
    flakyAtBase: [...new Set([...(state.flakyAtBase ?? []), ...flaky])],
    baseRuns: { ...state.baseRuns, ...baseRuns },
  };
}
