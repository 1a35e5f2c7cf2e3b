import type { EscalationEvent, Recorded, SentBack, StoryEvent } from "../core/events/event.ts";
import { eventCost, addEventCost } from "../core/events/event-cost.ts";
import { PHASES, type Phase } from "../core/stories/story.ts";
import type { Policy } from "../core/events/policy.ts";
import { withStartLicense } from "../core/gates/base-failures.ts";
import type { Dispute, StoryState } from "../core/stories/story-state.ts";
import { gateState, refundFailure, withGate } from "../decide/charge.ts";
import { contestedQuestion, withTestsMoved, withoutTestsSeen } from "../decide/contested.ts";
import { afterProgress } from "../decide/engine-deaths.ts";
import { invalidateGates, nextGate } from "../decide/gate-status.ts";
import { blamedLocations, recordRework } from "../decide/locations.ts";
import { applyAnswer, withPauseIdentity, undoAnswer, withUndo } from "./fold-answer.ts";
import {
  attemptFinished,
  attemptStarted,
  attemptUnclear,
  backoffMs,
  interruptAttempt,
  isRunningAttempt,
  addCostOnly,
  workInterrupted,
  workResumed,
} from "./fold-attempt.ts";
import { blameFound, addCounts, gateJudged } from "./fold-gate.ts";
import {
  branchChanged,
  deliveryRefused,
  targetMoved,
  withApproval,
  withTargetMove,
  withoutDelivery,
  workAdopted,
} from "./fold-delivery.ts";
import { questionRaised, reopenStory } from "./queue-story.ts";
import { beginStory, withBase } from "./new-state.ts";

type FoldedEvent = Exclude<StoryEvent, { type: "story.added" }> | EscalationEvent;
type AppliedEvent = Exclude<FoldedEvent, { type: "answer.undone" }>;

/** The facts about the project that a story's fold needs. */
export interface ProjectFacts {
  readonly policy: Policy | null;
  readonly base: string;
  /** Whether the last answer can still be undone. Called only for an undo. */
  mayUndo(): boolean;
}

/** Applies one event to one story. Pure: the same story and event give the same next story. */
export function evolveStory(
  state: StoryState,
  recorded: Recorded & { event: FoldedEvent },
  around: ProjectFacts,
): StoryState {
  const { event, at } = recorded;
  if (event.type === "answer.undone") return around.mayUndo() ? undoAnswer(state) : state;
  // A settled story does not change, but the cost of an agent that was still running is added.
  const open = state.ending === null ? state : reopenStory(state, event);
  if (open === null) return eventCost(event) === null ? state : { ...state, spent: addEventCost(state.spent, event) };
  const moved = withApproval(open, applyEvent(open, event, around, at), event);
  const next = afterProgress(open, steady(open, moved, event), event);
  const after = advancePhase(clearStop(next), around.base);
  return withUndo(state, after, event, at);
}

/** Clears a request to stop when nothing runs any more. */
function clearStop(state: StoryState): StoryState {
  return state.running === null && state.stopping !== null ? { ...state, stopping: null } : state;
}

/** Resets the count of failed engine steps after a step that worked. */
function steady(before: StoryState, after: StoryState, event: AppliedEvent): StoryState {
  const hasWorked = before.running?.type === "step" && after.running === null && event.type !== "step.failed";
  if (!hasWorked || after.counters.stepFailures === 0) return after;
  return { ...after, counters: { ...after.counters, stepFailures: 0 } };
}

function applyEvent(state: StoryState, event: AppliedEvent, around: ProjectFacts, at: number): StoryState {
  switch (event.type) {
    case "story.changed":
      return { ...state, story: withStartLicense(state, event.story) };
    case "story.started":
      return beginStory(state, around.policy, at);
    case "story.prepared":
    case "base.judged":
      return withBase(state, event);
    case "attempt.started":
      return attemptStarted(state, event, at);
    case "attempt.unclear":
      return isRunningAttempt(state, event.attempt) ? attemptUnclear(state, event, at) : addCostOnly(state, event);
    case "attempt.finished":
      return isRunningAttempt(state, event.attempt) ? attemptFinished(state, event, at) : addCostOnly(state, event);
    case "gate.started":
      return { ...state, running: { type: "gate", gate: event.gate, since: at, seq: state.seq + 1 }, wait: null };
    case "gate.judged":
      return gateJudged(state, event.judgement, around.base, at);
    case "blame.found":
      return blameFound(state, event.gate, event.blame, event);
    case "work.sent-back":
      return sentBack(state, event, at);
    case "grace.granted":
      return { ...state, grace: { ...state.grace, [event.gate]: (state.grace[event.gate] ?? 0) + 1 } };
    case "escalation.raised":
      return questionRaised(state, event.escalation, at);
    case "person.answered":
      return applyAnswer(state, event.answer, around.base, at);
    case "budget.warned":
      return { ...state, warned: [...state.warned, event.budget] };
    default:
      return appliedStep(state, event, at);
  }
}

type StepEvent = Extract<
  FoldedEvent,
  {
    type:
      | `step.${string}`
      | `finding.${string}`
      | "lint.fixed"
      | "branch.updated"
      | "tree.restored"
      | "work.delivered"
      | "work.adopted"
      | "delivery.refused"
      | "policy.applied";
  }
>;
type Remaining =
  | StepEvent
  | Extract<
      FoldedEvent,
      {
        type:
          | "story.accepted"
          | "story.failed"
          | "story.flagged"
          | "story.held"
          | "story.released"
          | "work.interrupted"
          | "work.resumed";
      }
    >;

function appliedStep(state: StoryState, event: Remaining, at: number): StoryState {
  switch (event.type) {
    case "step.started":
      return { ...state, running: { type: "step", step: event.step, since: at, seq: state.seq + 1 }, wait: null };
    case "step.failed":
      return stepFailed(state, event.infrastructure, event.detail, at, event.lasting === true);
    case "lint.fixed": {
      const fixed = withGate(
        invalidateGates({ ...state, running: null, tree: event.tree, commit: event.commit }, event.changed),
        "ci",
        { lintFixed: true, fresh: false },
      );
      return withTestsMoved(state, { ...fixed, failing: null });
    }
    case "branch.updated":
      return withTestsMoved(state, withTargetMove(branchChanged(state, event)));
    case "work.adopted":
      return workAdopted(state, event);
    case "delivery.refused":
      return deliveryRefused(state, event);
    case "tree.restored":
      return withoutTestsSeen(restoreWork(state, event.tree, event.commit));
    case "finding.disputed":
      return {
        ...state,
        disputes: [
          ...state.disputes,
          { finding: event.finding, gate: event.gate, by: event.by, rationale: event.rationale, standing: "open" },
        ],
      };
    case "finding.adjudicated":
      return applyRuling(askedForIt(state, event), event);
    case "work.delivered":
      return { ...withoutDelivery(state), running: null, delivered: event.where };
    case "story.accepted":
      return acceptStory(state, event.notes, at);
    case "story.failed":
      return { ...state, running: null, ending: { how: event.how, at, reason: event.reason } };
    case "story.flagged":
      return { ...state, flagged: true };
    case "work.interrupted":
      return event.cause === "target-moved" ? targetMoved(state, event.detail, at) : workInterrupted(state, event);
    case "work.resumed":
      return workResumed(state, event.engine);
    case "story.held":
      return {
        ...withPauseIdentity(state, event.identity),
        held: true,
        stopping: event.now === true && state.running !== null ? event.by : state.stopping,
      };
    case "story.released":
      return { ...withPauseIdentity(state, undefined), held: false };
    case "policy.applied":
      return { ...state, policy: event.policy };
  }
}

function acceptStory(state: StoryState, notes: readonly string[] = [], at: number): StoryState {
  const passedWith = notes.length === 0 ? {} : { notes };
  return { ...state, running: null, ending: { how: "accepted", at, forced: null, ...passedWith } };
}

/** Sends the work back to a phase, whose product and those of later phases must be made again. */
function sentBack(state: StoryState, event: SentBack, at: number): StoryState {
  const { gate, route } = event;
  const places = state.failing?.blame ? blamedLocations(state.failing.blame) : [];
  const watching = gate === "person" ? state : recordRework(state, gate, places, at);
  const moved = route.phase === state.phase ? watching : atPhase(watching, route.phase);
  return {
    ...moved,
    running: null,
    completed: moved.completed.filter((phase) => PHASES.indexOf(phase) < PHASES.indexOf(route.phase)),
    productReady: false,
    failing: null,
    requested: null,
    scope: event.scope,
    rework: { gate, route, brief: event.brief, ...(event.note === undefined ? {} : { note: event.note }) },
    reworks: state.reworks + 1,
  };
}

/** Moves the story to the next phase when every gate of this phase lets the work through. */
function advancePhase(state: StoryState, base: string): StoryState {
  const phases = state.policy?.phases.map((plan) => plan.phase) ?? [];
  const following = phases[phases.indexOf(state.phase) + 1];
  const isDone = state.productReady && state.running === null && state.failing === null && state.disputes.length === 0;
  if (following === undefined || !isDone || state.requested !== null || nextGate(state, base) !== null) return state;
  if (contestedQuestion(state, base) !== null) return state;
  const moved = atPhase({ ...state, completed: [...state.completed, state.phase] }, following);
  return advancePhase({ ...moved, productReady: moved.completed.includes(following) }, base);
}

/** Enters a phase. Passes of another phase are no longer fresh; the counts of failures stay. */
function atPhase(state: StoryState, phase: Phase): StoryState {
  let next: StoryState = { ...state, phase, trees: [], counters: { ...state.counters, unchanged: 0 } };
  for (const plan of state.policy?.phases ?? [])
    for (const gate of plan.gates)
      if (gateState(next, gate).last !== null) next = withGate(next, gate, { last: null, fresh: false });
  return next;
}

function restoreWork(state: StoryState, tree: StoryState["tree"], commit: string): StoryState {
  const failing = state.failing === null ? null : { ...state.failing, restored: true };
  let next: StoryState = { ...state, running: null, tree, commit, failing };
  for (const gate of Object.keys(state.gates) as (keyof typeof state.gates)[])
    next = withGate(next, gate, { fresh: false });
  return next;
}

/** Ends the failed step. An attempt that the infrastructure cut short is not counted. */
function stepFailed(before: StoryState, infra: boolean, detail: string, at: number, lasting: boolean): StoryState {
  const state = interruptAttempt(before);
  const stepFailures = state.counters.stepFailures + (lasting ? (state.policy?.limits.errors ?? 1) : 1);
  const blocked = state.counters.blocked + (infra ? 1 : 0);
  const wait = { type: "time", until: at + backoffMs(state, stepFailures), why: detail } as const;
  return { ...state, wait, counters: { ...state.counters, stepFailures, blocked } };
}

/** Counts the roles that were asked. A ruling by the engine, for lack of an agent, is not counted. */
function askedForIt(state: StoryState, { by, asked }: Adjudicated): StoryState {
  const more = asked ?? (by === "engine" ? {} : { [by]: 1 });
  return { ...state, asked: addCounts(state.asked, more) };
}

type Adjudicated = Extract<FoldedEvent, { type: "finding.adjudicated" }>;

function applyRuling(state: StoryState, event: Adjudicated): StoryState {
  const { finding, upheld, by, reason } = event;
  const dispute = state.disputes.find((each) => each.finding === finding);
  const paid: StoryState = { ...state, running: null, spent: addEventCost(state.spent, event) };
  if (dispute === undefined) return paid;
  return upheld
    ? findingStands(paid, dispute, reason === "" ? by : `${by}: ${reason}`)
    : findingFalls({ ...paid, disputes: paid.disputes.filter((each) => each !== dispute) }, dispute);
}

/** Records an upheld finding. A question whose answer was the dispute is asked again. */
function findingStands(state: StoryState, dispute: Dispute, ruling: string): StoryState {
  const { finding, gate, isAnswer } = dispute;
  const noted = withGate(state, gate, { upheld: [...gateState(state, gate).upheld, { finding, says: ruling }] });
  const stands: readonly Dispute[] = isAnswer ? [] : [{ ...dispute, standing: "refused", ruling }];
  return { ...noted, disputes: noted.disputes.flatMap((each) => (each === dispute ? stands : [each])) };
}

/** Records an overturned finding. The gate runs again without it, because that is not a pass. */
function findingFalls(state: StoryState, { finding, gate }: Dispute): StoryState {
  const { overturned, last, rounds } = gateState(state, gate);
  const out = { overturned: [...overturned, finding], fresh: false };
  const counters = { ...state.counters, unchanged: 0 };
  if (state.failing?.gate !== gate || last === null) return withGate({ ...state, counters }, gate, out);
  const { blame } = state.failing;
  const isRefunded = blame?.verdict === "flaky" || blame?.verdict === "pre-existing";
  // The gate judges the same work again: only its new result is charged, not both.
  const back = withGate(isRefunded ? state : refundFailure(state, last), gate, { ...out, rounds: rounds.slice(0, -1) });
  return { ...back, counters, failing: null };
}
