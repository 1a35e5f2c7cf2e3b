import type { StoryAction } from "../core/stories/command.ts";
import type { EscalationReason } from "../core/stories/escalation.ts";
import { DEFAULT_TARGET_MOVES, type Policy } from "../core/events/policy.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { gateState } from "./charge.ts";
import { contestedNotes } from "./contested.ts";
import { escalateStory } from "./escalate.ts";

/**
 * Decides the delivery of work that passed all gates. Merging needs `merge: auto` with full autonomy, or a person's
 * approval.
 */
export function nextDelivery(state: StoryState, policy: Policy): StoryAction {
  if (state.delivered !== null) return accept(state, policy);
  const { approvedBy, claimedBy, drop, refused } = state.delivery ?? {};
  const dropping = drop === undefined ? {} : { drop };
  const how = deliveryOf(state, policy);
  if (how === "branch") return { ...accept(state, policy), ...dropping };
  if (how === "pull-request") return { type: "deliver", how: "pull-request", ...dropping };
  if (claimedBy !== undefined) return { type: "deliver", how: "merge", claimedBy };
  const moves = tooManyMoves(state, policy);
  if (moves !== null) return ask(state, moves);
  const isAutomatic = policy.merge === "auto" && policy.autonomy === "full";
  if (approvedBy === undefined && !isAutomatic) {
    const detail = refused?.why === "not-merged" ? { detail: refused.detail } : {};
    return ask(state, { type: "approval", of: "merge", ...detail });
  }
  return { type: "deliver", how: "merge", ...(approvedBy === undefined ? {} : { approvedBy }), ...dropping };
}

/** A person's choice for one story comes before the policy. */
const deliveryOf = ({ deliver }: Pick<StoryState, "deliver">, policy: Policy): Policy["deliver"] =>
  deliver ?? policy.deliver;

/** Accepts the story, with notes about what its gates passed it in spite of. */
function accept(state: StoryState, policy: Policy): Extract<StoryAction, { type: "accept" }> {
  const gates = new Set(policy.phases.flatMap((plan) => plan.gates));
  const notes = [...gates].flatMap((gate) => {
    const { last, fresh } = gateState(state, gate);
    return fresh && last?.result === "pass" ? (last.notes ?? []) : [];
  });
  const all = [...new Set([...notes, ...contestedNotes(state)])];
  return { type: "accept", ...(all.length === 0 ? {} : { notes: all }) };
}

/**
 * Asks about a commit on the branch that no gate has passed. Such a commit is never delivered, and never deleted
 * without an answer.
 */
export function unverifiedBranch(state: StoryState): StoryAction | null {
  const { refused, drop } = state.delivery ?? {};
  if (refused?.why !== "branch-moved" || drop !== undefined) return null;
  return ask(state, { type: "branch-moved", commit: refused.commit ?? "", detail: refused.detail });
}

/**
 * Returns the reason to ask if the target moved too often: a target that moves faster than the gates run could be
 * followed forever.
 */
export function tooManyMoves(state: StoryState, policy: Policy): EscalationReason | null {
  const times = state.counters.targetMoves ?? 0;
  if (times < targetMovesLimit(policy)) return null;
  return { type: "target-moves", times, merges: deliveryOf(state, policy) === "merge" };
}

export const targetMovesLimit = ({ limits }: Policy): number => limits.targetMoves ?? DEFAULT_TARGET_MOVES;

function ask(state: StoryState, reason: EscalationReason): StoryAction {
  return { type: "raise-escalation", escalation: escalateStory(state, reason, null) };
}
