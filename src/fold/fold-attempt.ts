import type {
  AttemptFinished,
  AttemptStarted,
  AttemptUnclear,
  Cost,
  EngineEnd,
  WorkInterrupted,
} from "../core/events/event.ts";
import type { AttemptOutcome, AttemptSummary } from "../core/stories/attempt.ts";
import { addUsd, spend } from "../core/stories/budget.ts";
import type { Counters, StoryState, Wait } from "../core/stories/story-state.ts";
import { type AgentSession, type RoleName, storyId } from "../core/events/ids.ts";
import { withGate } from "../decide/charge.ts";
import { countEngineDeath } from "../decide/engine-deaths.ts";
import { invalidateAfterRework } from "../decide/gate-status.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";

export function attemptStarted(state: StoryState, event: AttemptStarted, at: number): StoryState {
  return {
    ...state,
    running: { type: "attempt", attempt: event.attempt, role: event.role, since: at, seq: state.seq + 1, unclear: 0 },
    wait: null,
    // The old conversation is gone even if this attempt ends without a result.
    sessions: event.fresh === undefined ? state.sessions : withoutSession(state.sessions, event.role),
    scope: event.reworkOf === null ? null : state.scope,
    startedFrom: isFirstSinceReady(state) && !isStillToPutBack(state, event) ? state.tree : state.startedFrom,
    // Counted at the start, not at the end: a crash in between must not grant a free attempt.
    counters: { ...state.counters, attempts: state.counters.attempts + 1, lastFailure: null, approvedRetry: false },
    attempts: [
      ...state.attempts,
      {
        attempt: event.attempt,
        phase: event.phase,
        role: event.role,
        ...(event.tddPhase === undefined ? {} : { tddPhase: event.tddPhase }),
        reworkOf: event.reworkOf,
        ...(event.model === undefined ? {} : { model: event.model }),
        ...(event.fresh === undefined ? {} : { fresh: true }),
        outcome: "running",
        asked: 0,
        tree: null,
        summary: "",
        failed: "",
      },
    ],
  };
}

function withoutSession(sessions: StoryState["sessions"], role: RoleName): StoryState["sessions"] {
  const { [role]: _left, ...others } = sessions;
  return others;
}

/** Whether this attempt is the first since the last one that ended as ready. */
function isFirstSinceReady({ attempts, startedFrom }: StoryState): boolean {
  return startedFrom === null || attempts.at(-1)?.outcome === "ready";
}

/**
 * Whether changes outside an attempt's scope are still in the tree. A gate rejected them, and the next attempt reverts
 * them: they must not become the baseline, and reverting them must not count as a new change.
 */
function isStillToPutBack({ attempts, startedFrom }: StoryState, { reworkOf, phase }: AttemptStarted): boolean {
  const hadScope = phase !== "implement" || (attempts.at(-1)?.reworkOf ?? null) !== null;
  const isRefused = reworkOf !== null && reworkOf !== "person" && GATE_REGISTRY[reworkOf].refusesByRule;
  return isRefused && hadScope && startedFrom !== null;
}

/**
 * Handles a reply that could not be read. The agent is asked again; beyond the limit, the attempt ends without a
 * result.
 */
export function attemptUnclear(before: StoryState, event: AttemptUnclear, at: number): StoryState {
  const { detail } = event;
  const state: StoryState = {
    ...before,
    spent: spend(before.spent, event, true),
    sessions: withSession(before, event.session),
  };
  const running = state.running;
  if (running?.type !== "attempt") return state;
  const unclear = running.unclear + 1;
  if (unclear <= (state.policy?.limits.clarifications ?? 0))
    return { ...withLastAttempt(state, { asked: unclear }), running: { ...running, unclear } };
  return endAttempt({ ...state, running: null }, { type: "unclear", detail }, detail, at);
}

export function attemptFinished(state: StoryState, event: AttemptFinished, at: number): StoryState {
  const cost = event.costUsd ?? 0;
  const fresh = event.productChanged ? { ...state, counters: { ...state.counters, unchanged: 0 } } : state;
  const moved: StoryState = {
    ...invalidateAfterRework(fresh, event.changed),
    running: null,
    tree: event.tree,
    commit: event.commit,
    spent: spend(state.spent, event, true),
    locations: withCost(state, cost),
    exceptions: event.exceptions ?? [],
    message: event.outcome.type === "ready" ? (event.message ?? null) : state.message,
    sessions: withSession(state, event.session),
  };
  const product = event.product ?? event.tree;
  const seen: StoryState = event.outcome.type === "ready" ? { ...moved, trees: [...moved.trees, product] } : moved;
  return endAttempt(event.productChanged ? seen : countUnchanged(seen, event), event.outcome, event.summary, at);
}

/** Stores the conversation for the role of the last attempt. */
function withSession(state: StoryState, session: AgentSession | undefined): StoryState["sessions"] {
  const role = state.attempts.at(-1)?.role;
  return session === undefined || role === undefined ? state.sessions : { ...state.sessions, [role]: session };
}

/**
 * Counts a rework that left the product unchanged. All evidence still holds, so only the gate that sent the work back
 * runs again; a stall rule limits how often.
 */
function countUnchanged(state: StoryState, event: AttemptFinished): StoryState {
  if (state.rework === null || event.outcome.type !== "ready") return state;
  const counted = { ...state, counters: { ...state.counters, unchanged: state.counters.unchanged + 1 } };
  return state.rework.gate === "person" ? counted : withGate(counted, state.rework.gate, { fresh: false });
}

function endAttempt(state: StoryState, outcome: AttemptOutcome, summary: string, at: number): StoryState {
  const next = withLastAttempt(state, { outcome: outcome.type, tree: state.tree, summary });
  return outcome.type === "ready" ? endReady(next) : endWithoutProduct(next, outcome, at);
}

/** Ends an attempt with a product. The gates decide whether it is good enough. */
function endReady(state: StoryState): StoryState {
  const { targetMoves: _underOldWork, ...before } = state.counters;
  return {
    ...state,
    productReady: true,
    rework: null,
    guidance: [],
    counters: { ...before, agentFailures: 0, rateLimits: 0, refusals: 0, stepFailures: 0, lastFailure: null },
  };
}

/**
 * Ends an attempt without a product. No rework budget is charged: the attempt that was counted at the start is
 * subtracted again, and each kind of ending has its own limit.
 */
function endWithoutProduct(
  state: StoryState,
  outcome: Exclude<AttemptOutcome, { type: "ready" }>,
  at: number,
): StoryState {
  const before = state.counters;
  const counters: Counters = { ...before, attempts: before.attempts - 1, lastFailure: outcome };
  // No wait if a person is asked next: it would announce a retry that does not happen.
  const backoff = (times: number): Wait | null => {
    const isLast = state.policy !== null && times >= state.policy.limits.agentFailures;
    return isLast ? null : { type: "time", until: at + backoffMs(state, times), why: outcome.type };
  };
  switch (outcome.type) {
    case "unclear":
    case "crashed": {
      const agentFailures = before.agentFailures + 1;
      return { ...state, counters: { ...counters, agentFailures }, wait: backoff(agentFailures) };
    }
    case "timed-out":
      return { ...state, counters: { ...counters, timeouts: before.timeouts + 1 } };
    case "refused":
      return { ...state, counters: { ...counters, refusals: before.refusals + 1 } };
    case "rate-limited": {
      const wait: Wait = { type: "time", until: outcome.retryAt, why: "the agent's provider limits the rate" };
      return { ...state, counters: { ...counters, rateLimits: before.rateLimits + 1 }, wait };
    }
    case "missing":
      return { ...state, counters: { ...counters, missing: [...before.missing, lastRole(state)] } };
    case "blocked":
      return { ...state, counters: { ...counters, blocked: before.blocked + 1, lastFailure: null } };
    case "incomplete":
      return incomplete(state, outcome, counters, at);
    case "unusable":
      return { ...state, counters };
    case "stopped":
      return { ...state, counters: { ...counters, lastFailure: null }, held: true };
    case "cut-short":
      return { ...state, counters: { ...counters, lastFailure: null, cutShort: outcome.budget } };
  }
}

function incomplete(
  state: StoryState,
  outcome: Extract<AttemptOutcome, { type: "incomplete" }>,
  counters: Counters,
  at: number,
): StoryState {
  if (outcome.category === "infrastructure")
    return { ...state, counters: { ...counters, blocked: counters.blocked + 1, lastFailure: null } };
  if (outcome.category !== "blocked_by_dependency") return { ...state, counters };
  const dependencyWaits = counters.dependencyWaits + 1;
  const wait: Wait =
    outcome.waitsFor === undefined
      ? { type: "time", until: at + backoffMs(state, dependencyWaits), why: outcome.blocker }
      : { type: "story", story: storyId(outcome.waitsFor), why: outcome.blocker };
  return { ...state, counters: { ...counters, dependencyWaits }, wait };
}

/**
 * Ends the running step with an unknown result. Neither the agent nor the work is at fault: the attempt is not counted,
 * and the next step is decided again.
 */
export function interruptAttempt(state: StoryState): StoryState {
  const { running, counters } = state;
  if (running?.type !== "attempt") return { ...state, running: null };
  const next = withLastAttempt(state, { outcome: "interrupted" });
  return { ...next, running: null, counters: { ...counters, attempts: counters.attempts - 1 } };
}

/**
 * Interrupts the step and records the reason: a death of the engine counts, and so does what a step used that a budget
 * ended.
 */
export function workInterrupted(state: StoryState, { engine, overrun }: WorkInterrupted): StoryState {
  const next = interruptAttempt(engine === "died" ? countEngineDeath(state) : state);
  if (overrun === undefined) return next;
  const counters = { ...next.counters, cutShort: overrun.budget };
  return { ...next, counters, spent: spend(next.spent, overrun, false) };
}

/** Continues the running step. A death of the engine counts nevertheless: the step may be its cause. */
export function workResumed(state: StoryState, engine: EngineEnd): StoryState {
  const { running } = state;
  if (running === null) return state;
  const counted = engine === "died" ? countEngineDeath(state) : state;
  return { ...counted, running: { ...running, resumed: true } };
}

/** Changes the last attempt of the list, which is the running or the newest one. */
export function withLastAttempt(state: StoryState, change: Partial<AttemptSummary>): StoryState {
  const last = state.attempts.length - 1;
  return {
    ...state,
    attempts: state.attempts.map((attempt, at) => (at === last ? { ...attempt, ...change } : attempt)),
  };
}

/**
 * Returns the wait before a retry. It doubles each time; the exponent is capped, because a wait of years would be a
 * silent stop.
 */
export function backoffMs(state: StoryState, times: number): number {
  return (state.policy?.limits.backoffMs ?? 0) * 2 ** Math.min(times - 1, 10);
}

function lastRole(state: StoryState): Counters["missing"][number] {
  return state.attempts[state.attempts.length - 1]!.role;
}

function withCost(state: StoryState, costUsd: number): StoryState["locations"] {
  if (state.watched === null || costUsd === 0) return state.locations;
  const locations = { ...state.locations };
  const share = costUsd / state.watched.places.length;
  for (const place of state.watched.places) {
    const record = locations[place];
    if (record !== undefined) locations[place] = { ...record, totalCostUsd: addUsd(record.totalCostUsd, share) };
  }
  return locations;
}

/** Only adds the cost: an attempt that no longer belongs to the story must still be paid. */
export function addCostOnly(state: StoryState, cost: Cost): StoryState {
  return { ...state, spent: spend(state.spent, cost, true) };
}

export function isRunningAttempt(state: StoryState, attempt: number): boolean {
  return state.running?.type === "attempt" && state.running.attempt === attempt;
}
