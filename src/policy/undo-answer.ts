import type { Event } from "../domain/event.ts";
import type { StoryState } from "../domain/story-state.ts";
import { leavesUndoOpen } from "../domain/undo.ts";

/** After each event of a story: can what a person said last still be taken back? */
export function withUndo(before: StoryState, after: StoryState, event: Event, at: number): StoryState {
  if (event.type === "person.answered") {
    // These speak of the run, and changed nothing here.
    if (after === before) return after;
    // While something runs, what is done about an answer is under way already.
    if (before.running !== null) return { ...after, undo: null };
    return { ...after, undo: { answer: event.answer, at, before: { ...before, policy: null, undo: null } } };
  }
  return after.undo === null || leavesUndoOpen(event) ? after : { ...after, undo: null };
}

/**
 * The story as it stood before the answer. What was noted since and is no consequence of it stays: what was spent and
 * warned of, how many questions were asked (their names must not come twice), and what people said of the story itself.
 */
export function undone(state: StoryState): StoryState {
  if (state.undo === null) return state;
  const { story, seq, policy, queued, held, stopping, spent, warned, flagged, escalations } = state;
  return {
    ...state.undo.before,
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
