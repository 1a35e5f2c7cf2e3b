import type { Identity } from "../core/events/authority.ts";
import { FAILURE_CEILING } from "../core/stories/budget.ts";
import {
  type EscalationReason,
  type Waiver,
  asksForMerge,
  asksForRetry,
  keepsUndo,
} from "../core/stories/escalation.ts";
import type { Answer, Event } from "../core/events/event.ts";
import { GATES, type GateName } from "../core/gates/gate.ts";
import type { Dispute, StoryState } from "../core/stories/story-state.ts";
import { gateState, withGate } from "../decide/charge.ts";
import { allowTests, testsToRestore } from "../decide/contested.ts";
import { resetInterruptions } from "../decide/engine-deaths.ts";
import { isOpen, unwaivedFindings } from "../decide/gate-status.ts";
import { resetLocations } from "../decide/locations.ts";
import { commitsDropped, mergeApproved, mergeClaimed, withMovesForgiven, withoutDelivery } from "./fold-delivery.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";

/**
 * Applies a person's answer to a story. It closes the open escalation, resets the counters of that issue only, and
 * leaves the next step to be decided from the state as usual.
 */
export function applyAnswer(state: StoryState, answer: Answer, base: string, at: number): StoryState {
  const reason = state.escalation?.reason ?? null;
  const gate = answer.gate ?? state.escalation?.gate ?? state.failing?.gate ?? null;
  // A dispute changes nothing yet: the failures stay counted until the finding is overturned.
  const counters = answer.verb === "dispute" ? state.counters : { ...resetInterruptions(state.counters), unchanged: 0 };
  const { deferred: _, ...undeferred } = state;
  const next: StoryState = { ...undeferred, escalation: null, escalatedAt: null, counters };
  switch (answer.verb) {
    case "merge":
      return asksForMerge(reason) ? mergeApproved(next, answer) : state;
    case "pull-request":
      // About accepted work, which this answer has already reopened.
      return state;
    case "drop":
      return reason?.type === "branch-moved" ? commitsDropped(next, reason) : state;
    case "resolve":
      return resolveQuestion(forgiven(withoutDelivery(next), reason, gate), reason, answer);
    case "send-back":
      return sentBackByPerson(withoutDelivery(next), reason, gate, answer);
    case "waive":
      // A merge conflict cannot be waived: the work could not be merged.
      return gate === null || GATE_REGISTRY[gate].judgesWithTarget ? next : waiveGate(next, gate, answer, base, at);
    case "dispute":
      return gate === null ? next : disputeFindings(next, gate, answer, reason !== null);
    case "raise-budget":
      return raiseLimit(next, answer);
    case "force-complete":
      return forceAccept(next, answer, base, at);
    case "abandon":
      return { ...next, running: null, ending: { how: "abandoned", at, reason: reasonIn(answer) } };
    case "dismiss":
      return { ...next, running: null, ending: { how: "dismissed", at, reason: reasonIn(answer) } };
    case "defer":
      return state.escalation === null ? state : { ...state, deferred: { by: answer.by, reason: answer.message } };
    case "known":
      return calledKnown(next, reason, answer);
    case "target":
      return { ...next, targets: [...new Set([...(next.targets ?? []), ...testsMeant(reason, answer)])] };
    case "allow":
      return allowTests(state, next, answer);
    case "retry":
    case "declare-healthy":
    case "halt":
      // These answers are about the project, so they close no question of a story.
      return state;
  }
}

const reasonIn = ({ by, message }: Answer): string => `${by}: ${message}`;

/** Returns the failures that the answer names, or all that the question named. */
function testsMeant(reason: EscalationReason | null, { tests }: Answer): readonly string[] {
  return tests ?? (reason?.type === "failing-base" ? reason.tests : []);
}

function calledKnown(state: StoryState, reason: EscalationReason | null, answer: Answer): StoryState {
  const { by, message } = answer;
  const more = testsMeant(reason, answer).map((test) => ({ test, reason: message, by }));
  return more.length === 0 ? state : { ...state, known: [...(state.known ?? []), ...more] };
}

/** Whether the question is about the base or the story's target: the story is then prepared again. */
const isAboutTheBase = (reason: EscalationReason | null): boolean =>
  reason?.type === "failing-base" || reason?.type === "target-not-failing";

/** Applies that the person fixed the work: all gates run again, because the tree may have changed. */
function resolveQuestion(state: StoryState, reason: EscalationReason | null, answer: Answer): StoryState {
  if (isAboutTheBase(reason)) return { ...state, tree: null, preExisting: [] };
  if (asksForMerge(reason)) return mergeClaimed(state, answer);
  if (reason?.type === "approval" && reason.of === "retry")
    return { ...state, counters: { ...state.counters, approvedRetry: true } };
  // A step of the engine changes neither the work nor its evidence: it runs again, and nothing else changes.
  if (reason?.type === "engine-died" && reason.kind === "step") return state;
  let next: StoryState = {
    ...state,
    failing: null,
    rework: null,
    requested: null,
    productReady: true,
    disputes: [],
    adopting: answer.by,
  };
  for (const gate of GATES) if (gateState(next, gate).fresh) next = withGate(next, gate, { fresh: false });
  return next;
}

function sentBackByPerson(
  state: StoryState,
  reason: EscalationReason | null,
  gate: GateName | null,
  answer: Answer,
): StoryState {
  const guided = guidedBy(state, answer);
  const isApproval = reason?.type === "approval";
  // Approving a rework that was due anyway does not reset its count of failures.
  const next = isApproval ? guided : forgiven(guided, reason, gate);
  if (isApproval && reason.of === "retry") return { ...next, counters: { ...next.counters, approvedRetry: true } };
  const { comments } = answer;
  if (next.failing !== null && answer.phase === undefined && comments === undefined)
    return { ...next, disputes: [], failing: { ...next.failing, approved: true } };
  const waitsForAnAgent = reason !== null && (reason.type === "incomplete" || asksForRetry(reason));
  // The agent asked a question, or failed: the same work is dispatched again, now with the guidance.
  if (waitsForAnAgent && answer.phase === undefined) return next;
  const findings = [...testsToRestore(state, reason), ...(comments ?? []).map(({ finding }) => finding)];
  const listed = findings.length === 0 ? {} : { findings };
  return { ...next, requested: { phase: answer.phase ?? next.phase, message: answer.message, ...listed } };
}

/** Stores the message for the next brief, and the ids of its comments, so that none is used twice. */
function guidedBy(state: StoryState, { by, message, comments }: Answer): StoryState {
  const guided = message === "" ? state : { ...state, guidance: [...state.guidance, `${by}: ${message}`] };
  if (comments === undefined) return guided;
  return { ...guided, heard: [...new Set([...(state.heard ?? []), ...comments.map(({ id }) => id)])] };
}

/** Resets what led to this escalation, and nothing else. */
function forgiven(state: StoryState, reason: EscalationReason | null, gate: GateName | null): StoryState {
  const counters = { ...state.counters, lastFailure: null, stepFailures: 0 };
  switch (reason?.type) {
    case "incomplete":
      return { ...state, counters: { ...counters, dependencyWaits: 0 }, wait: null };
    case "agent-failure":
    case "agent-missing":
      return {
        ...state,
        counters: { ...counters, agentFailures: 0, timeouts: 0, rateLimits: 0, refusals: 0, missing: [] },
        wait: null,
      };
    case "target-moves":
      return resetGate(withMovesForgiven({ ...state, counters }), gate);
    case "gate-blocked":
      return resetGate({ ...state, counters: { ...counters, blocked: 0 } }, gate);
    case "stall":
      return resetGate(resetLocations({ ...state, counters, trees: [] }), gate);
    case "budget": {
      const budgetGate = gateOfBudget(reason.budget);
      return resetGate(resetGate({ ...state, counters }, gate), budgetGate);
    }
    default:
      return resetGate({ ...state, counters }, gate);
  }
}

function resetGate(state: StoryState, gate: GateName | null): StoryState {
  if (gate === null || state.gates[gate] === undefined) return state;
  return withGate(state, gate, {
    failures: 0,
    errors: 0,
    inconclusives: 0,
    flaky: [],
    ciRetries: 0,
    lintFixed: false,
    rounds: [],
  });
}

export function gateOfBudget(budget: string): GateName | null {
  const name = budget.startsWith("failures:") ? budget.slice("failures:".length) : "";
  return GATES.find((gate) => gate === name) ?? null;
}

export const identityOf = ({ identity }: Answer): { readonly identity?: Identity } =>
  identity === undefined ? {} : { identity };

/** Keeps the identity of a person who paused the story, even if a claim pauses it again. */
export function withPauseIdentity({ heldAs: before, ...state }: StoryState, now: Identity | undefined): StoryState {
  const heldAs = now === "claim" && state.held ? (before ?? now) : now;
  return heldAs === undefined ? state : { ...state, heldAs };
}

function waiveGate(state: StoryState, gate: GateName, answer: Answer, base: string, at: number): StoryState {
  const { last, fresh } = gateState(state, gate);
  const findings = answer.findings ?? (fresh && last?.result === "fail" ? last.blocking : []);
  const waiver: Waiver = {
    gate,
    findings,
    tree: findings.length === 0 ? state.tree : null,
    by: answer.by,
    ...identityOf(answer),
    reason: answer.message,
    at,
  };
  const next: StoryState = {
    ...state,
    waivers: [...state.waivers, waiver],
    disputes: state.disputes.filter((dispute) => !findings.includes(dispute.finding)),
  };
  if (isOpen(next, gate, base)) return next.failing?.gate === gate ? { ...next, failing: null } : next;
  const { last: judged, errors, inconclusives, ciRetries } = gateState(next, gate);
  const left = unwaivedFindings(next, gate, judged?.blocking ?? []);
  const isAllWaived = judged !== null && judged.blocking.length > 0 && left.length === 0;
  const tried = withGate(next, gate, {
    // The remaining findings block; the waived ones no longer do.
    last: judged === null || left.length === 0 ? judged : { ...judged, blocking: left },
    // A gate without a verdict runs again, and leaves out what was waived.
    ...(errors + inconclusives + ciRetries > 0 ? { errors: 0, inconclusives: 0, ciRetries: 0, flaky: [] } : {}),
  });
  // All of its findings are waived, but the tree is a different one: the gate runs again.
  return isAllWaived && tried.failing?.gate === gate ? { ...tried, failing: null } : tried;
}

/** Adds disputes. A finding is ruled on once; if it was, the question that was answered is asked again. */
function disputeFindings(state: StoryState, gate: GateName, answer: Answer, wasAsked: boolean): StoryState {
  const { upheld, overturned } = gateState(state, gate);
  const known = new Set([...[...state.disputes, ...upheld].map(({ finding }) => finding), ...overturned]);
  const findings = [...new Set(answer.findings)].filter((finding) => !known.has(finding));
  const { by, message: rationale } = answer;
  const added = findings.map((finding): Dispute => ({
    finding,
    gate,
    by,
    rationale,
    standing: "open",
    ...(wasAsked ? { isAnswer: true } : {}),
  }));
  return { ...state, disputes: [...state.disputes, ...added] };
}

function raiseLimit(state: StoryState, answer: Answer): StoryState {
  if (answer.budget === undefined || answer.limit === undefined) return state;
  const ceiling = gateOfBudget(answer.budget) === null ? Infinity : FAILURE_CEILING;
  return { ...state, raised: { ...state.raised, [answer.budget]: Math.min(answer.limit, ceiling) } };
}

/** Accepts the story, with a waiver in the person's name for each gate that did not let it through. */
function forceAccept(state: StoryState, answer: Answer, base: string, at: number): StoryState {
  const closed = (state.policy?.phases ?? [])
    .flatMap((plan) => plan.gates)
    .filter((gate) => !isOpen(state, gate, base));
  const waivers = [...new Set(closed)].map((gate): Waiver => {
    const findings = gateState(state, gate).last?.blocking ?? [];
    return { gate, findings, tree: state.tree, by: answer.by, ...identityOf(answer), reason: answer.message, at };
  });
  return {
    ...state,
    running: null,
    failing: null,
    rework: null,
    waivers: [...state.waivers, ...waivers],
    ending: { how: "accepted", at, forced: { by: answer.by, reason: answer.message } },
  };
}

/** Updates, after each event of a story, whether the last answer can still be undone. */
export function withUndo(before: StoryState, after: StoryState, event: Event, at: number): StoryState {
  if (event.type === "person.answered") {
    // The answer was about the run and changed nothing in this story.
    if (after === before) return after;
    // While something runs, work on the answer may have begun.
    if (before.running !== null) return { ...after, undo: null };
    return { ...after, undo: { answer: event.answer, at, before: { ...before, policy: null, undo: null } } };
  }
  return after.undo === null || keepsUndo(event) ? after : { ...after, undo: null };
}

/** Returns the story as it was before the answer, except for cost, warnings and pauses. */
export function undoAnswer(state: StoryState): StoryState {
  if (state.undo === null) return state;
  const { story, seq, policy, queued, held, heldAs, stopping, spent, warned, flagged, escalations } = state;
  const { heldAs: _, ...before } = state.undo.before;
  return {
    ...before,
    ...(heldAs === undefined ? {} : { heldAs }),
    story,
    seq,
    policy,
    queued,
    held,
    stopping,
    spent,
    warned,
    flagged,
    escalations,
  };
}
