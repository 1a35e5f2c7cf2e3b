import { RemandError } from "../domain/error.ts";
import type { StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";

/** The story that is to be held, or to go on; or why that cannot be. */
export function holdSubject(run: RunState, about: string, wanted: "held" | "released"): StoryId {
  const state = lookup(run.stories, about as StoryId, byText);
  if (state === undefined)
    throw new RemandError("usage", `there is no story ${about}`, "remand status lists the stories.");
  const { story, ending, held } = state;
  if (ending !== null)
    throw new RemandError(
      "usage",
      `${story.id} is over: ${ending.how}`,
      "A story that is over is not changed any more.",
    );
  if (held === (wanted === "held"))
    throw new RemandError(
      "usage",
      held ? `${story.id} is held already` : `${story.id} is not held`,
      held ? `Let it go on: remand run ${story.id}.` : `Hold it: remand stop ${story.id}.`,
    );
  return story.id;
}
