import { RemandError } from "../../core/events/error.ts";
import type { Answer, Recorded } from "../../core/events/event.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { leavesUndoOpen, undoRefusal } from "../../core/stories/escalation.ts";
import type { StoryState } from "../../core/stories/story-state.ts";

/** The answer that is meant to be taken back, by its story or by the question that it answered; or why it cannot be. */
export function undoSubject(
  run: Pick<RunState, "escalation"> & Parameters<typeof undoRefusal>[0],
  states: readonly StoryState[],
  about: string,
): { readonly story: StoryId; readonly answer: Answer } {
  const state =
    states.find(({ story, undo }) => story.id === about || undo?.answer.escalation === about) ??
    // The question of a story whose answer is past taking back: its name begins with the story's.
    states.find(({ story }) => about.startsWith(`esc-${story.id}-`));
  if (state === undefined) {
    const isOfTheRun = about === run.escalation?.id || about.startsWith("esc-project-");
    throw new RemandError(
      "usage",
      isOfTheRun ? "an answer about the whole run is not taken back" : `no story and no question is called ${about}`,
      isOfTheRun ? "`remand run` resumes a run that was halted." : "remand status lists the stories.",
    );
  }
  const refusal = undoRefusal(run, state);
  if (state.undo === null || refusal !== null) throw tooLate(state.story.id, refusal ?? "");
  return { story: state.story.id, answer: state.undo.answer };
}

export function tooLate(story: StoryId, why: string): RemandError {
  return new RemandError(
    "usage",
    `it is too late to take an answer to ${story} back: ${why}`,
    `Say something new instead: remand rework ${story} --message "…", or remand stop ${story}.`,
  );
}

/** Was the newest undo among a story's lines in time? It was, if nothing was begun between the answer and it. */
export function isLastUndoHeard(lines: readonly Recorded[]): boolean {
  const at = lines.findLastIndex(({ event }) => event.type === "answer.undone");
  const answered = lines.findLastIndex(({ event }, i) => i < at && event.type === "person.answered");
  return answered >= 0 && lines.slice(answered + 1, at).every(({ event }) => leavesUndoOpen(event));
}
