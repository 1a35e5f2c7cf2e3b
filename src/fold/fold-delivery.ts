import type { Answer, Event } from "../core/events/event.ts";
import type { Delivery, StoryState } from "../core/stories/story-state.ts";
import { backoffMs, interruptAttempt } from "./fold-attempt.ts";
import { withTestsSeenBy } from "../decide/contested.ts";
import { invalidateGates } from "../decide/gate-status.ts";
import { targetMovesLimit } from "../decide/next-delivery.ts";

/**
 * The files changed without an attempt: every gate that looks at them runs again. Integrity looks at all of the work,
 * from its base: what the target or a person brought in was in no attempt's scope.
 */
export function branchChanged(
  state: StoryState,
  { tree, commit, changed }: Pick<Extract<Event, { type: "branch.updated" }>, "tree" | "commit" | "changed">,
): StoryState {
  const moved = { ...state, running: null, tree, commit };
  if (changed.length === 0) return moved;
  // Brought in for the rework that starts next, which keeps its scope.
  if (state.rework !== null) return invalidateGates({ ...moved, startedFrom: tree }, changed);
  return invalidateGates({ ...moved, startedFrom: null, scope: null, exceptions: [] }, changed);
}

/**
 * The work is what the person left, or what is on the story's own branch. Gates were closed by the person's answer. A
 * person has seen the tests of their own fix; those on a branch are work like any other.
 */
export function workAdopted(state: StoryState, event: Extract<Event, { type: "work.adopted" }>): StoryState {
  const { adopting: _done, adoptsBranch: _taken, ...rest } = branchChanged(state, event);
  return event.branch === undefined ? withTestsSeenBy(rest, event.tree) : rest;
}

/** Counted for every change that the target makes necessary; ended by an attempt or a person's answer. */
export function withTargetMove(state: StoryState): StoryState {
  return { ...state, counters: { ...state.counters, targetMoves: (state.counters.targetMoves ?? 0) + 1 } };
}

/** The step gave up because the target moved. It is tried again after a pause, unless a person is asked next. */
export function targetMoved(state: StoryState, detail: string, at: number): StoryState {
  const next = withTargetMove(interruptAttempt(state));
  const times = next.counters.targetMoves!;
  if (next.policy === null || times >= targetMovesLimit(next.policy)) return next;
  return { ...next, wait: { type: "time", until: at + backoffMs(next, times), why: detail } };
}

export function deliveryRefused(
  state: StoryState,
  { why, detail, commit }: Extract<Event, { type: "delivery.refused" }>,
): StoryState {
  const refused = { why, detail, ...(commit === undefined ? {} : { commit }) };
  const { approvedBy } = state.delivery ?? {};
  const kept: Delivery = why === "branch-moved" && approvedBy !== undefined ? { approvedBy } : {};
  return { ...state, running: null, delivery: { ...kept, refused } };
}

/** An approval is for what was verified when it was given. What the target adds to it later does not end it. */
export function withApproval(before: StoryState, after: StoryState, event: Event): StoryState {
  const isChanged = before.tree !== after.tree && event.type !== "branch.updated";
  return isChanged && after.delivery !== undefined ? withoutDelivery(after) : after;
}

export function withoutDelivery(state: StoryState): StoryState {
  const { delivery: _gone, ...rest } = state;
  return rest;
}

export function mergeApproved(state: StoryState, { by }: Answer): StoryState {
  return { ...withMovesForgiven(state), delivery: { approvedBy: by } };
}

/** Whether it is merged, git says. */
export function mergeClaimed(state: StoryState, { by }: Answer): StoryState {
  return { ...withMovesForgiven(state), delivery: { claimedBy: by } };
}

/** Only what the person was asked about is dropped: a later commit is asked about again. */
export function commitsDropped(state: StoryState, { commit }: { readonly commit: string }): StoryState {
  const { refused: _answered, ...kept } = state.delivery ?? {};
  return { ...state, delivery: { ...kept, drop: commit } };
}

export function withMovesForgiven(state: StoryState): StoryState {
  const { targetMoves: _forgiven, ...counters } = state.counters;
  return { ...state, counters };
}
