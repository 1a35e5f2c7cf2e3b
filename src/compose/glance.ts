import { existsSync } from "node:fs";
import type { RunOutline } from "../domain/outline.ts";
import { foldOutlines } from "../engine/fold-outlines.ts";
import { openJournalReadOnly } from "../adapters/journal/sqlite-journal.ts";
import { stateFolder } from "./state-folder.ts";

/** How the stories stand, and nothing else. */
export async function glance(root: string): Promise<RunOutline | null> {
  const { journal: file } = stateFolder(root);
  if (!existsSync(file)) return null;
  const journal = await openJournalReadOnly(file);
  try {
    return await foldOutlines(journal);
  } finally {
    await journal.close();
  }
}
