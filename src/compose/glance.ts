import type { StoryId } from "../domain/ids.ts";
import type { RunOutline } from "../domain/outline.ts";
import type { CloseLook } from "../cli/host.ts";
import { foldCloseUp, foldOutlines } from "../engine/fold-outlines.ts";
import { journalPlace } from "./journal-place.ts";

/** How the stories stand, and nothing else. */
export async function glance(
  root: string,
  db: string | null,
  only: readonly StoryId[] | "open" | null = null,
): Promise<RunOutline | null> {
  const opened = await journalPlace(root, db).read();
  if (opened === null) return null;
  try {
    return await foldOutlines(opened.journal, only);
  } finally {
    await opened.close();
  }
}

/** Some stories as they are, and their lines. */
export async function closeUp(
  root: string,
  db: string | null,
  of: readonly StoryId[] | "asking",
): Promise<CloseLook | null> {
  const opened = await journalPlace(root, db).read();
  if (opened === null) return null;
  const { journal, close } = opened;
  try {
    return { ...(await foldCloseUp(journal, of)), lines: (story) => journal.read(0, story), close };
  } catch (error) {
    await close();
    throw error;
  }
}
