import { join } from "node:path";
import type { RunPlan } from "../cli/host.ts";
import type { StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Journal, Stored } from "../ports/journal.ts";
import type { Watcher } from "../ports/watcher.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { createNodeFiles } from "../adapters/files/node-files.ts";
import { createStoryShelf } from "../adapters/stories/story-shelf.ts";
import { storyProgressEdits } from "../writers/story-progress.ts";
import { storyProgress } from "./story-progress.ts";

export interface StoryNotes {
  /** Sees what the plan's own watcher sees, and has the files follow it. */
  readonly watcher: Watcher;
  /** The files as the state has them, when a run has ended. Throws where one cannot be written. */
  settle(state: RunState): Promise<void>;
}

/**
 * S4's fields in the stories' own files, while a run of the preset that promises them goes on. Everything else in the
 * files is a person's and stays byte for byte.
 */
export function createStoryNotes(root: string, plan: RunPlan, journal: Pick<Journal, "read">): StoryNotes {
  const { config, watcher, place } = plan;
  if (config.preset !== "story" || place === "in-place") return { watcher, settle: async () => undefined };
  const shelf = createStoryShelf({ folder: join(root, config.stories), files: createNodeFiles() });
  const lines = linesByStory(journal);
  const note = async (state: RunState, id: StoryId): Promise<void> => {
    const story = lookup(state.stories, id, byText);
    if (story === undefined || story.policy === null) return;
    await shelf.note(id, storyProgressEdits(storyProgress(story, await lines(id))));
  };
  const changed = new Set<StoryId>();
  let noting = Promise.resolve();
  let newest: RunState | null = null;
  const noteChanged = async (): Promise<void> => {
    for (const id of changed) {
      changed.delete(id);
      // Whatever stands in the way of a note now is told when the run ends, if it still does.
      await note(newest!, id).catch(() => undefined);
    }
  };
  return {
    watcher: {
      onOutput: (command, line) => watcher.onOutput(command, line),
      onLines: (told, state) => {
        watcher.onLines(told, state);
        newest = state;
        // A merge into a checkout waits for files that are not committed: there the notes wait for the merge.
        if (config.deliver === "merge") return;
        for (const { story } of told) if (story !== null) changed.add(story);
        noting = noting.then(noteChanged);
      },
    },
    async settle(state) {
      await noting;
      for (const { id } of plan.stories) await note(state, id);
    },
  };
}

/** The journal's lines of a story. Each is read once, whoever asks how often. */
function linesByStory({ read }: Pick<Journal, "read">): (story: StoryId) => Promise<readonly Stored[]> {
  const known = new Map<StoryId, Stored[]>();
  let position = 0;
  return async (story) => {
    for await (const line of read(position)) {
      position = line.position;
      if (line.story === null) continue;
      const own = known.get(line.story);
      if (own === undefined) known.set(line.story, [line]);
      else own.push(line);
    }
    return known.get(story) ?? [];
  };
}
