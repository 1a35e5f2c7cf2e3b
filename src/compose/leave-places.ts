import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { storyId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Workspace } from "../ports/workspace.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";

/** Places of stories that are over, which an engine that was killed did not get to take away. */
export async function leavePlaces(stateFolder: string, state: RunState, workspace: Workspace): Promise<void> {
  const names = await readdir(join(stateFolder, "worktrees")).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const name of names) {
    const story = lookup(state.stories, storyId(name), byText);
    if (story !== undefined && story.ending !== null) await workspace.dispose(story.story.id);
  }
}
