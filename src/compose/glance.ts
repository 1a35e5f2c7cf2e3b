import type { StoryId } from "../domain/ids.ts";
import type { RunOutline } from "../domain/outline.ts";
import { foldOutlines } from "../engine/fold-outlines.ts";
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
