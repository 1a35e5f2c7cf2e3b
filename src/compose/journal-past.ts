import { existsSync } from "node:fs";
import type { JournalTrouble } from "../cli/host.ts";
import { counted } from "../domain/counted.ts";
import type { JournalAnchor } from "../domain/journal-anchor.ts";
import type { JournalReplacement } from "../views/dashboard.ts";
import { fileMarkOf, hasWaitingLines, isSameFile } from "../adapters/journal/file-mark.ts";
import type { SqliteReader } from "../adapters/journal/sqlite-journal.ts";
import type { Head, JournalReader } from "../ports/journal.ts";

export function missingJournal(anchor: JournalAnchor): JournalTrouble {
  return { kind: "missing", text: `The journal is missing: it had ${recordedText(anchor)}.` };
}

const recordedText = ({ position, at }: JournalAnchor): string =>
  `${counted(position, "line")} on ${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Compares the journal with its record; looks at two lines, however many there are. */
export async function compareWithAnchor(
  journal: Pick<SqliteReader, "id" | "hashAt" | "head" | "read">,
  anchor: JournalAnchor,
): Promise<JournalTrouble | null> {
  const changed = (text: string): JournalTrouble => ({ kind: "changed", text });
  if (journal.id !== null && journal.id !== anchor.id) {
    if ((await replacementIn(journal))?.lost.id === anchor.id) return null;
    return changed(
      `The journal is not the one that belongs here: its id is ${journal.id.slice(0, 8)}, and ${anchor.id.slice(0, 8)} is recorded with ${recordedText(anchor)}.`,
    );
  }
  const { position } = await journal.head();
  if (position < anchor.position)
    return changed(
      `The journal ends at line ${position}, but it had ${recordedText(anchor)}: line ${position + 1} and what followed were cut off, or an older copy was put back.`,
    );
  if (journal.hashAt(anchor.position) === anchor.hash) return null;
  return changed(
    `Line ${anchor.position} of the journal is not the one that was recorded: lines up to it were written again, or the file was replaced.`,
  );
}

/** What a journal's first line says of the one before it; `null` where it is the first. */
export async function replacementIn(journal: Pick<JournalReader, "read">): Promise<JournalReplacement | null> {
  for await (const { event, at } of journal.read(0))
    return event.type === "journal.replaced" ? { lost: event.lost, by: event.by, at } : null;
  return null;
}

/** Nothing has written to the file since its chain was last checked. */
export function isUntouched(file: string, anchor: JournalAnchor | null, head: Head): boolean {
  if (anchor?.file === undefined || head.hash !== anchor.hash) return false;
  const now = fileMarkOf(file);
  return now !== null && isSameFile(now, anchor.file);
}

/**
 * Another program wrote to the file. Only where no crash and no copy explains the difference: then it is still the same
 * file, and no lines wait beside it.
 */
export function wasWrittenOutside(file: string, { file: closed }: JournalAnchor): boolean {
  if (closed === undefined || !existsSync(file) || hasWaitingLines(file)) return false;
  const now = fileMarkOf(file);
  if (now === null || now.dev !== closed.dev || now.ino !== closed.ino) return false;
  return now.size !== closed.size || now.mtimeNs !== closed.mtimeNs;
}

export const changedLine = ({ position, problem }: { position: number; problem: string }): JournalTrouble => ({
  kind: "changed",
  text: `Line ${position} of the journal was changed after it was written: ${problem}.`,
});
