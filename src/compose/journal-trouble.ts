import { existsSync } from "node:fs";
import type { JournalTrouble } from "../cli/host.ts";
import { openJournalReadOnly } from "../adapters/journal/sqlite-journal.ts";
import { journalAnchors } from "./journal-anchors.ts";
import { changedLine, compareWithAnchor, isUntouched, missingJournal, wasWrittenOutside } from "./journal-past.ts";

const WRITTEN_OUTSIDE: JournalTrouble = {
  kind: "changed",
  text: "Something other than Remand wrote to the journal's file after it was closed.",
};

/** What is wrong with a checkout's journal. `chain`: also checks its lines, unless nothing has written to the file. */
export async function journalTrouble(root: string, file: string, chain: boolean): Promise<JournalTrouble | null> {
  const anchor = await (await journalAnchors(root)).read();
  if (anchor?.pending !== undefined) return null;
  if (!existsSync(file)) return anchor === null || anchor.position === 0 ? null : missingJournal(anchor);
  if (anchor === null && !chain) return null;
  const journal = await openJournalReadOnly(file);
  try {
    const trouble = anchor === null ? null : await compareWithAnchor(journal, anchor);
    if (trouble !== null || isUntouched(file, anchor, await journal.head())) return trouble;
    if (!chain) return anchor !== null && wasWrittenOutside(file, anchor) ? WRITTEN_OUTSIDE : null;
    const verified = await journal.verify();
    return verified.ok ? null : changedLine(verified);
  } finally {
    await journal.close();
  }
}
