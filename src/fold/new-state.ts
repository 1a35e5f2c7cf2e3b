import { gatesThat } from "../core/gates/gate.ts";
import { NOTHING_SPENT } from "../core/stories/budget.ts";
import type { GateState, StoryState } from "../core/stories/story-state.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Story } from "../core/stories/story.ts";
import type { StoryEvent } from "../core/events/event.ts";
import type { Policy } from "../core/events/policy.ts";

export const EMPTY_RUN: RunState = {
  position: 0,
  seq: 0,
  policy: null,
  stories: null,
  dependents: null,
  lanes: { engine: null, developers: null, critics: null, auditors: null, checks: null },
  timers: null,
  busy: { engine: 0, developers: 0, critics: 0, auditors: 0, checks: 0 },
  inFlight: 0,
  remediation: null,
  escalation: null,
  escalations: 0,
  halted: null,
  spent: NOTHING_SPENT,
  raised: {},
  warned: [],
  usual: {},
  base: "",
};

export const UNJUDGED: GateState = {
  last: null,
  fresh: false,
  lastPass: null,
  trouble: null,
  flaky: [],
  failures: 0,
  failuresEver: 0,
  errors: 0,
  inconclusives: 0,
  ciRetries: 0,
  lintFixed: false,
  rounds: [],
  seen: [],
  overturned: [],
  upheld: [],
  base: "",
};

const NO_COUNTS: StoryState["counters"] = {
  attempts: 0,
  agentFailures: 0,
  timeouts: 0,
  rateLimits: 0,
  refusals: 0,
  dependencyWaits: 0,
  blocked: 0,
  unchanged: 0,
  stepFailures: 0,
  lastFailure: null,
  approvedRetry: false,
  missing: [],
};

export function newStory(story: Story, arrival: number, at: number): StoryState {
  return {
    story,
    seq: 0,
    arrival,
    policy: null,
    startedAt: null,
    phase: "implement",
    completed: story.completed,
    running: null,
    productReady: false,
    tree: null,
    commit: "",
    startedFrom: null,
    gates: {},
    attempts: [],
    failing: null,
    rework: null,
    reworks: 0,
    scope: null,
    exceptions: [],
    message: null,
    asked: {},
    sessions: {},
    requested: null,
    wait: null,
    escalation: null,
    escalatedAt: null,
    escalations: 0,
    disputes: [],
    waivers: [],
    undo: null,
    guidance: [],
    counters: NO_COUNTS,
    locations: {},
    watched: null,
    trees: [],
    raised: {},
    warned: [],
    grace: {},
    spent: NOTHING_SPENT,
    preExisting: [],
    held: false,
    stopping: null,
    flagged: false,
    delivered: null,
    queued: null,
    // A story's file may say that the work is done: no gate judged it, and the state records that.
    ending:
      story.shelf === "done"
        ? { how: "accepted", at, forced: { by: "the story's file", reason: "its status says done" } }
        : null,
  };
}

/**
 * Copies a story's state as it is stored, field by field, so that all states have one hidden class: spreading objects
 * of many shapes takes eight times as long, and the fold does little else.
 */
export function keptStory(state: StoryState, seq: number, queued: StoryState["queued"]): StoryState {
  return {
    story: state.story,
    seq,
    arrival: state.arrival,
    policy: state.policy,
    startedAt: state.startedAt,
    phase: state.phase,
    completed: state.completed,
    running: state.running,
    productReady: state.productReady,
    tree: state.tree,
    commit: state.commit,
    startedFrom: state.startedFrom,
    gates: state.gates,
    attempts: state.attempts,
    failing: state.failing,
    rework: state.rework,
    reworks: state.reworks,
    scope: state.scope,
    exceptions: state.exceptions,
    message: state.message,
    asked: state.asked,
    sessions: state.sessions,
    requested: state.requested,
    wait: state.wait,
    escalation: state.escalation,
    escalatedAt: state.escalatedAt,
    escalations: state.escalations,
    disputes: state.disputes,
    waivers: state.waivers,
    undo: state.undo,
    guidance: state.guidance,
    counters: state.counters,
    locations: state.locations,
    watched: state.watched,
    trees: state.trees,
    raised: state.raised,
    warned: state.warned,
    grace: state.grace,
    spent: state.spent,
    preExisting: state.preExisting,
    ...pauseOf(state),
    stopping: state.stopping,
    flagged: state.flagged,
    delivered: state.delivered,
    queued,
    ending: state.ending,
    ...(state.heard === undefined ? {} : { heard: state.heard }),
    ...(state.baseRuns === undefined ? {} : { baseRuns: state.baseRuns }),
    ...(state.openBase === undefined ? {} : { openBase: state.openBase }),
    ...(state.flakyAtBase === undefined ? {} : { flakyAtBase: state.flakyAtBase }),
    ...(state.known === undefined ? {} : { known: state.known }),
    ...(state.targets === undefined ? {} : { targets: state.targets }),
    ...(state.licensed === undefined ? {} : { licensed: state.licensed }),
    ...(state.seenTree === undefined ? {} : { seenTree: state.seenTree }),
    ...deliveryIn(state),
    ...adoptionOf(state),
  };
}

const deliveryIn = ({ deliver, delivery }: StoryState): Pick<StoryState, "deliver" | "delivery"> => ({
  ...(deliver === undefined ? {} : { deliver }),
  ...(delivery === undefined ? {} : { delivery }),
});

/** Starts a story with the current policy, which it keeps. */
export function beginStory(state: StoryState, rules: Policy | null, at: number): StoryState {
  const policy = rules === null ? null : withOracle(rules, state.story);
  const running = { type: "step", step: "prepare", since: at, seq: state.seq + 1 } as const;
  // A second start is a retry of the first and keeps the policy. Only the known failures are updated, because the base
  // runs again.
  if (policy === null || state.policy !== null)
    return { ...state, running, wait: null, policy: withKnownFailures(state.policy, policy) };
  const phases = policy.phases.map((plan) => plan.phase);
  const phase = phases.find((each) => !state.completed.includes(each)) ?? phases[phases.length - 1]!;
  return { ...state, running, wait: null, policy, startedAt: at, phase, productReady: state.completed.includes(phase) };
}

const ORACLES = gatesThat(({ reviewer }) => reviewer === "oracle");

/** S3.1: adds the oracle that a story names as the last gate of its work, whatever the config says. */
function withOracle(policy: Policy, { oracle }: Story): Policy {
  if (oracle === undefined) return policy;
  const phases = policy.phases.map((plan) =>
    plan.phase === "implement" ? { ...plan, gates: [...new Set([...plan.gates, ...ORACLES])] } : plan,
  );
  return { ...policy, phases, ...(oracle === true ? {} : { roles: { ...policy.roles, oracle } }) };
}

function withKnownFailures(rules: Policy | null, now: Policy | null): Policy | null {
  if (rules === null || now === null || rules.knownFailures === now.knownFailures) return rules;
  const { knownFailures: _before, ...others } = rules;
  return { ...others, ...(now.knownFailures === undefined ? {} : { knownFailures: now.knownFailures }) };
}

/** Stores what is known about the base of a story. */
export const withBase = (
  state: StoryState,
  event: Extract<StoryEvent, { type: "story.prepared" | "base.judged" }>,
): StoryState => (event.type === "story.prepared" ? storyPrepared(state, event) : baseJudged(state, event));

/** Stores the prepared work. The results of the base are known now, unless its checks take long. */
function storyPrepared(state: StoryState, event: Extract<StoryEvent, { type: "story.prepared" }>): StoryState {
  const { tree, commit, preExisting, flaky, known = [], baseRuns, isBaseOpen } = event;
  // Removes the results of an earlier run of the base.
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
    // A branch is adopted only before the journal has any work of the story.
    ...(state.tree === null && state.attempts.length === 0 && state.story.branch !== undefined
      ? { adoptsBranch: true }
      : {}),
  };
}

/** Stores the results of the base whose checks ended while the first attempt was running. */
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

const adoptionOf = ({ adopting, adoptsBranch }: StoryState): Pick<StoryState, "adopting" | "adoptsBranch"> => ({
  ...(adopting === undefined ? {} : { adopting }),
  ...(adoptsBranch === undefined ? {} : { adoptsBranch }),
});

const pauseOf = ({ held, heldAs, deferred }: StoryState): Pick<StoryState, "held" | "heldAs" | "deferred"> => ({
  held,
  ...(heldAs === undefined ? {} : { heldAs }),
  ...(deferred === undefined ? {} : { deferred }),
});
