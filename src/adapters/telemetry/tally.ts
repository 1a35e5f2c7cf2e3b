import type { RunState } from "../../domain/run-state.ts";
import type { StoryState } from "../../domain/story-state.ts";
import { entries } from "../../stdx/sorted-map.ts";

/** How many stories are open and how many wait for a person: counted once, then followed, however many there are. */
export interface Tally {
  readonly open: () => number;
  readonly waitingForPerson: () => number;
  count(state: RunState): void;
  moved(before: StoryState | undefined, after: StoryState): void;
}

export function createTally(): Tally {
  let open = 0;
  let waitingForPerson = 0;
  const add = (story: StoryState | undefined, by: 1 | -1): void => {
    if (story === undefined || story.ending !== null) return;
    open += by;
    if (story.escalation !== null) waitingForPerson += by;
  };
  return {
    open: () => open,
    waitingForPerson: () => waitingForPerson,
    count: (state) => {
      open = 0;
      waitingForPerson = 0;
      for (const [, story] of entries(state.stories)) add(story, 1);
    },
    moved: (before, after) => {
      add(before, -1);
      add(after, 1);
    },
  };
}
