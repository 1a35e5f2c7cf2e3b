import type { StoryId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";

/** Signs what was accepted or waived. */
export interface Receipts {
  /** Makes the receipts that the story's lines ask for and that are not there yet. Trouble is reported, and costs no work. */
  issue(story: StoryId, state: RunState): Promise<void>;
}
