import { targetsNotFailing, unsortedFailures } from "../core/gates/base-failures.ts";
import type { Lane, StartAttempt, StartGate, StoryAction } from "../core/stories/command.ts";
import { countText } from "../stdx/plain-text.ts";
import type { Escalation, EscalationReason } from "../core/stories/escalation.ts";
import { type GateName, timeLimitRole } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Dispute, StoryState } from "../core/stories/story-state.ts";
import { afterAgentFailure, reinforceRole, withUsefulOptions } from "./after-agent.ts";
import { afterFailure, giveUp } from "./after-failure.ts";
import { gateState, iterationLimit } from "./charge.ts";
import { contestedQuestion } from "./contested.ts";
import { stalledUnchanged } from "./converge.ts";
import { deathReason } from "./engine-deaths.ts";
import { escalateStory } from "./escalate.ts";
import { gatesOfPhase, nextGate } from "./gate-status.ts";
import { nextDelivery, tooManyMoves, unverifiedBranch } from "./next-delivery.ts";
import { routeForPerson, standIn } from "./route.ts";
import { scopeForPerson } from "./scope-for.ts";
import { forecastUsd, overspent, toWarn } from "./spending.ts";

/** A story's next step, its lane, and the urgency of its kind: gates, then reworks, then new work. */
export interface NextStep {
  readonly lane: Lane;
  readonly urgency: 0 | 1 | 2;
  readonly action: StoryAction;
}

export interface Facts {
  readonly base: string;
  /** The usual time of accepted stories of this kind, if enough of them are known. */
  readonly usualMs: number | null;
}

/**
 * Returns the next step of a story that can move: the caller has checked that nothing runs for it, no question is open,
 * and it does not wait. There is always a step: a story that could neither move nor ask would be lost.
 */
export function nextStep(state: StoryState, facts: Facts): NextStep {
  const policy = state.policy;
  if (policy === null) return { lane: "developers", urgency: 2, action: { type: "start-story" } };
  const planned = planFor(state, policy, facts);
  const action =
    planned.type === "raise-escalation" ? raiseQuestion(state, planned.escalation, policy, facts) : planned;
  // Work in progress comes before new work: gates first, then rework, then the next phase.
  const isDispatch = action.type === "start-attempt" || action.type === "start-story";
  return { lane: laneOf(action), urgency: isDispatch ? 1 : 0, action };
}

const planFor = (state: StoryState, policy: Policy, facts: Facts): StoryAction =>
  engineDied(state) ??
  stepsThatBroke(state, policy) ??
  pendingNotice(state, facts) ??
  cutShort(state) ??
  work(state, policy, facts);

/** Raises a question, with only the answers that would get the story past it. */
function raiseQuestion(state: StoryState, escalation: Escalation, policy: Policy, facts: Facts): StoryAction {
  const after = (then: StoryState): StoryAction => planFor(then, policy, facts);
  return { type: "raise-escalation", escalation: withUsefulOptions(state, escalation, facts.base, after) };
}

/** Returns a notice for people; each is given once. */
function pendingNotice(state: StoryState, { usualMs }: Facts): StoryAction | null {
  const use = toWarn(state);
  if (use !== null) return { type: "warn-budget", ...use };
  const takenMs = state.spent.timeMs;
  if (usualMs === null || state.flagged || takenMs <= usualMs * FAR_BEYOND_USUAL) return null;
  return { type: "flag-story", usualMs, takenMs };
}

const FAR_BEYOND_USUAL = 3;

function engineDied(state: StoryState): StoryAction | null {
  const reason = deathReason(state);
  return reason === null ? null : ask(state, reason, state.counters.engineDeaths?.gate ?? null);
}

/** Asks a person when the engine's own steps (a full disk, a git error) or repairs have failed too often. */
function stepsThatBroke(state: StoryState, policy: Policy): StoryAction | null {
  const { stepFailures, blocked } = state.counters;
  if (blocked >= policy.limits.blocked)
    return ask(state, { type: "gate-blocked", times: blocked, detail: CALLED_HEALTHY }, nowAt(state));
  if (stepFailures < policy.limits.errors) return null;
  return ask(
    state,
    { type: "gate-error", errors: stepFailures, detail: state.wait?.why ?? "a step of the engine failed" },
    nowAt(state),
  );
}

const CALLED_HEALTHY = "infrastructure failed again after each health check passed";

function work(state: StoryState, policy: Policy, facts: Facts): StoryAction {
  if (state.tree === null) return { type: "start-story" };
  if (state.adopting !== undefined) return { type: "adopt-work", by: state.adopting };
  const unverified = unverifiedBranch(state);
  if (unverified !== null) return unverified;
  // Gates run only after it is known what fails without the work.
  if (state.openBase !== undefined && state.productReady) return { type: "judge-base" };
  const base = aboutTheBase(state);
  if (base !== null) return ask(state, base, null);
  const { branch } = state.story;
  if (state.adoptsBranch === true && branch !== undefined) return { type: "adopt-work", by: THE_FILE, branch };
  const open = state.disputes.find(({ standing }) => standing === "open");
  if (open !== undefined)
    return { type: "adjudicate", finding: open.finding, gate: open.gate, role: policy.roles.adjudicator };
  const dispute = state.disputes[0];
  if (dispute !== undefined)
    return ask(state, { type: "dispute", finding: dispute.finding, detail: bothSides(dispute) }, dispute.gate);
  if (state.requested !== null) return sendBackForPerson(state, policy, state.requested.phase);
  const contested = contestedQuestion(state, facts.base);
  if (contested !== null) return ask(state, contested.reason, contested.gate);
  const gate = nextGate(state, facts.base);
  const isOver = state.failing === null && state.productReady && gate === null;
  if (isOver) return nextDelivery(state, policy);
  const broke = overBudget(state) ?? afterAgentFailure(state, policy);
  if (broke !== null) return broke;
  const judgement = state.failing === null ? null : gateState(state, state.failing.gate).last;
  if (state.failing !== null && judgement !== null) return afterFailure(state, policy, state.failing, judgement);
  if (gate === null || !state.productReady) return startAttempt(state, policy);
  const same = policy.circuitBreaker ? stalledUnchanged(state, policy) : null;
  return same === null ? judge(state, policy, gate) : giveUp(state, policy, { type: "stall", ...same }, gate);
}

/** The `by` of an adoption: the story's file names the branch. */
const THE_FILE = "the story's file";

/**
 * Asks about failures at the base: a person must classify each as known, as the story's target, or as something to fix
 * first.
 */
function aboutTheBase(state: StoryState): EscalationReason | null {
  const targets = targetsNotFailing(state);
  if (targets.length > 0) return { type: "target-not-failing", targets };
  const tests = unsortedFailures(state);
  return tests.length === 0 ? null : { type: "failing-base", tests };
}

/** Describes the reason of a dispute and the ruling on it. */
function bothSides({ by, rationale, ruling }: Dispute): string {
  return `disputed by ${by}: ${rationale}${ruling === undefined ? "" : ` — upheld by ${ruling}`}`;
}

/** A used-up budget of money or time always asks a person: failing the story would waste what was already spent. */
function overBudget(state: StoryState): StoryAction | null {
  const use = overspent(state);
  return use === null ? null : ask(state, { type: "budget", ...use }, nowAt(state));
}

/**
 * Asks about the budget before a step that it cut short may start again, including steps that need no budget to start.
 */
function cutShort(state: StoryState): StoryAction | null {
  return state.counters.cutShort === undefined ? null : overBudget(state);
}

function startAttempt(state: StoryState, policy: Policy): StoryAction {
  const { rework, counters } = state;
  const limit = iterationLimit(state, policy);
  if (counters.attempts >= limit)
    return giveUp(
      state,
      policy,
      { type: "budget", budget: "iterations", used: counters.attempts, limit },
      nowAt(state),
    );
  const phase = rework?.route.phase ?? state.phase;
  const wanted = rework?.route.role ?? state.story.role ?? policy.roles.phase[phase];
  const role = standIn(policy, wanted, counters.missing);
  if (role === null) return ask(state, { type: "agent-missing", role: wanted }, null);
  const attempt: StartAttempt = {
    type: "start-attempt",
    attempt: state.attempts.length + 1,
    phase,
    role,
    ...(rework?.route.tddPhase === undefined ? {} : { tddPhase: rework.route.tddPhase }),
    reworkOf: rework?.gate ?? null,
    spellOutFormat: counters.lastFailure?.type === "unclear",
    timeoutMs: policy.limits.timeoutMs.developer,
    forecastUsd: forecastUsd(state),
    ...reinforceRole(state, policy, role, phase),
  };
  return attempt;
}

function judge(state: StoryState, policy: Policy, gate: GateName): StoryAction {
  const moves = GATE_REGISTRY[gate].judgesWithTarget ? tooManyMoves(state, policy) : null;
  if (moves !== null) return ask(state, moves, gate);
  const { errors, inconclusives, ciRetries, trouble, flaky } = gateState(state, gate);
  const { limits, autonomy } = policy;
  const detail = trouble ?? "";
  if (errors >= limits.errors) return ask(state, { type: "gate-error", errors, detail }, gate);
  if (inconclusives >= limits.inconclusives) {
    // Neither rework nor another run of the gate fixes a flaky test (S3.20).
    const changing = `${flaky.join(", ")} gave different answers about the same tree, ${countText(inconclusives, "time")}`;
    return ask(
      state,
      flaky.length > 0
        ? { type: "non-deterministic", detail: changing }
        : { type: "gate-inconclusive", times: inconclusives, detail },
      gate,
    );
  }
  if (ciRetries > limits.ciRetries) return ask(state, { type: "gate-blocked", times: ciRetries, detail }, gate);
  const isRetry = errors > 0 || ciRetries > 0;
  if (isRetry && autonomy === "conservative" && !state.counters.approvedRetry)
    return ask(state, { type: "approval", of: "retry" }, gate);
  return startGate(state, policy, gate);
}

export function startGate(state: StoryState, policy: Policy, gate: GateName): StartGate {
  const { last, overturned } = gateState(state, gate);
  const { stages, stageOrder } = policy.gates[gate];
  const failedAt = last?.stages?.find((stage) => stage.result !== "pass")?.stage;
  const from = stageOrder === "in-order" && failedAt !== undefined ? Math.max(0, stages.indexOf(failedAt)) : 0;
  return {
    type: "start-gate",
    gate,
    tree: state.tree!,
    stages: stages.slice(from),
    since: last === null || last.tree === state.tree ? null : last.tree,
    answer: (last?.blocking ?? []).filter((finding) => !overturned.includes(finding)),
    timeoutMs: policy.limits.timeoutMs[timeLimitRole(gate)],
  };
}

function sendBackForPerson(state: StoryState, policy: Policy, phase: StoryState["phase"]): StoryAction {
  const route = routeForPerson(state, policy, phase);
  const scope = scopeForPerson(policy, route);
  return { type: "send-back", gate: "person", variant: "phase", failure: 0, failureLimit: null, route, scope };
}

function ask(state: StoryState, reason: EscalationReason, gate: GateName | null): StoryAction {
  return { type: "raise-escalation", escalation: escalateStory(state, reason, gate) };
}

/** Returns the gate that the story is at, for a question that no gate raised. */
function nowAt(state: StoryState): GateName | null {
  if (state.failing !== null || !state.productReady) return state.failing?.gate ?? null;
  return gatesOfPhase(state, state.phase).find((gate) => !gateState(state, gate).fresh) ?? null;
}

export function laneOf(action: StoryAction): Lane {
  switch (action.type) {
    case "start-story":
    case "start-attempt":
      return "developers";
    case "start-gate":
      return GATE_REGISTRY[action.gate].lane;
    case "adjudicate":
      return "critics";
    case "judge-base":
    case "find-blame":
    case "fix-lint":
    case "adopt-work":
    case "deliver":
      return "checks";
    default:
      return "engine";
  }
}
