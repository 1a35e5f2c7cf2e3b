import type { Answer, Event } from "../core/events/event.ts";
import type { Delivery, StoryState } from "../core/stories/story-state.ts";
import { backoffMs, interruptAttempt } from "./fold-attempt.ts";
import { withTestsSeenBy } from "../decide/contested.ts";
import { invalidateGates } from "../decide/gate-status.ts";
import { targetMovesLimit } from "../decide/next-delivery.ts";

/**
 * Applies a change of the files that no attempt made. Every gate that sees these files runs again. Integrity checks the
 * whole work from its base, because changes of the target or a person were in no attempt's scope.
 */
export function branchChanged(
  state: StoryState,
  { tree, commit, changed }: Pick<Extract<Event, { type: "branch.updated" }>, "tree" | "commit" | "changed">,
): StoryState {
  const moved = { ...state, running: null, tree, commit };
  if (changed.length === 0) return moved;
  // The change was brought in for the next rework, which keeps its scope.
  if (state.rework !== null) return invalidateGates({ ...moved, startedFrom: tree }, changed);
  return invalidateGates({ ...moved, startedFrom: null, scope: null, exceptions: [] }, changed);
}

/**
 * Adopts a person's fix or the story's own branch as the work. The person's answer has already marked the gates as
 * stale. A person has seen the tests of their own fix; tests on a branch get no such credit.
 */
export function workAdopted(state: StoryState, event: Extract<Event, { type: "work.adopted" }>): StoryState {
  const { adopting: _done, adoptsBranch: _taken, ...rest } = branchChanged(state, event);
  return event.branch === undefined ? withTestsSeenBy(rest, event.tree) : rest;
}

/** Counts a change that the target made necessary. An attempt or a person's answer resets the count. */
export function withTargetMove(state: StoryState): StoryState {
  return { ...state, counters: { ...state.counters, targetMoves: (state.counters.targetMoves ?? 0) + 1 } };
}

/** Ends a step that gave up because the target moved. It is retried after a pause, unless a person is asked next. */
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

/**
 * Ends an approval when the verified tree changes. A change that only brings in the target's commits does not end it.
 */
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

/** Records that a person says they merged the work. Git decides whether that is true. */
export function mergeClaimed(state: StoryState, { by }: Answer): StoryState {
  return { ...withMovesForgiven(state), delivery: { claimedBy: by } };
}

/** Drops only the commit that the person was asked about: a later commit raises a new question. */
export function commitsDropped(state: StoryState, { commit }: { readonly commit: string }): StoryState {
  const { refused: _answered, ...kept } = state.delivery ?? {};
  return { ...state, delivery: { ...kept, drop: commit } };
}

export function withMovesForgiven(state: StoryState): StoryState {
  const { targetMoves: _forgiven, ...counters } = state.counters;
  return { ...state, counters };
}
