import { RemandError } from "../domain/error.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import type { Stored } from "../ports/journal.ts";
import { entries } from "../stdx/sorted-map.ts";
import type { World } from "./command.ts";
import type { Look } from "./host.ts";
import { knownIds } from "./option-values.ts";
import { storiesOf } from "../views/run-summary.ts";

/** Looks at what there is, and lets go of it whatever happens. */
export async function looking<T>(world: World, work: (look: Look) => Promise<T>): Promise<T> {
  const look = await world.host.look(world.cwd);
  if (look === null) {
    throw new RemandError("usage", "nothing has run here yet", "Begin with remand run, remand loop or remand demo.");
  }
  try {
    return await work(look);
  } finally {
    await look.close();
  }
}

/** The one story that was asked for. */
export function storyOf(run: RunState, typed: string): StoryState {
  const known = [...entries(run.stories)].map(([id]) => id);
  return storiesOf(run, knownIds([typed], known))[0]!;
}

export async function linesOf(look: Look, story: string | null): Promise<Stored[]> {
  const lines: Stored[] = [];
  for await (const line of look.lines(0)) if (story === null || line.story === story) lines.push(line);
  return lines;
}
