import type { Event } from "../events/event.ts";
import type { StoryId } from "../events/ids.ts";
import type { StoryOutline, RunState } from "./run-state.ts";
import type { StoryState } from "./story-state.ts";
import { byText, lookup, type SortedMap } from "../../stdx/sorted-map.ts";

/** What may come after an answer without making it too late to take it back: nothing of it touches the work. */
const LEAVES_IT_OPEN: ReadonlySet<Event["type"]> = new Set<Event["type"]>([
  "work.sent-back",
  "grace.granted",
  "escalation.raised",
  "budget.warned",
  "story.changed",
  "story.flagged",
  "story.held",
  "story.released",
  "policy.applied",
]);

export const leavesUndoOpen = (event: Event): boolean => LEAVES_IT_OPEN.has(event.type);

/** Of the run, what it takes: who builds on whom, and of whom work has begun. */
type UndoContext = Pick<RunState, "dependents"> & {
  readonly stories: SortedMap<StoryId, Pick<StoryOutline, "policy">>;
};

/** Why the last answer to a story cannot be taken back any more; `null` where it can. */
export function undoRefusal(run: UndoContext, { story, undo, ending, running }: StoryState): string | null {
  if (undo === null)
    return running === null ? "nothing that was said about it can be taken back any more" : "work on it has begun";
  if (ending?.how !== "accepted") return null;
  const begun = (lookup(run.dependents, story.id, byText) ?? []).filter(
    (id) => lookup(run.stories, id, byText)?.policy != null,
  );
  return begun.length === 0 ? null : `work that builds on it has begun: ${begun.join(", ")}`;
}
