import type { StoryId, TreeId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import type { World } from "./command.ts";
import { journalRefusal } from "./new-journal.ts";
import { freshLoopId, loopId, newestLoopId, type LoopWish } from "./loop-plan.ts";

/** What the journal knows of the loops that ran in a folder. */
export interface SeenLoops {
  readonly run: RunState;
  /** Loops whose files were brought back after they had ended, with what was there before them. */
  readonly undone: ReadonlySet<StoryId>;
  readonly prepared: ReadonlyMap<StoryId, { readonly tree: TreeId; readonly commit: string }>;
}

/**
 * `null` where nothing ever ran, or where a new journal is to take the place of one that was changed. Without that a
 * changed one is refused here: it may say that a loop was accepted.
 */
export async function seenLoops(world: Pick<World, "cwd" | "host">, isNew = false): Promise<SeenLoops | null> {
  const trouble = await world.host.journalTrouble(world.cwd, true);
  if (trouble !== null && (isNew || trouble.kind === "missing")) return null;
  if (trouble !== null) throw journalRefusal(trouble);
  const look = await world.host.look(world.cwd);
  if (look === null) return null;
  const undone = new Set<StoryId>();
  const prepared = new Map<StoryId, { tree: TreeId; commit: string }>();
  try {
    for await (const { story, event } of look.lines(0)) {
      if (story === null) continue;
      if (event.type === "story.prepared") prepared.set(story, { tree: event.tree, commit: event.commit });
      if (event.type === "story.accepted") undone.delete(story);
      if (event.type === "tree.restored") undone.add(story);
    }
    return { run: look.state, undone, prepared };
  } finally {
    await look.close();
  }
}

export interface ChosenLoop {
  readonly id: StoryId;
  /** How it stands, where it has been run before. */
  readonly known: StoryState | null;
  /** The loop that was accepted and then undone, where this one starts over because of that. */
  readonly undone: StoryId | null;
}

/** The loop that a wish means: the newest of its goal and check, or a new one where that was asked for or undone. */
export function chosenLoop(seen: SeenLoops | null, wish: Pick<LoopWish, "goal" | "check">, fresh: boolean): ChosenLoop {
  const first = loopId(wish);
  if (seen === null) return { id: first, known: null, undone: null };
  const newest = newestLoopId(first, seen.run);
  const known = lookup(seen.run.stories, newest, byText) ?? null;
  const isUndone = seen.undone.has(newest) && known?.ending?.how === "accepted";
  if (known === null || !(fresh || isUndone)) return { id: newest, known, undone: null };
  return { id: freshLoopId(first, seen.run), known: null, undone: isUndone ? newest : null };
}
