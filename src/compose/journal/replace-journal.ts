import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { JournalAnchor, PendingJournal } from "../../core/events/journal-anchor.ts";
import { hasWaitingLines } from "../../adapters/journal/sqlite.ts";
import { START } from "../../adapters/journal/chain.ts";
import { newJournalId } from "../../adapters/journal/sqlite-file.ts";
import { createSqliteJournal, openJournalReadOnly, type SqliteJournal } from "../../adapters/journal/sqlite-journal.ts";
import type { JournalAnchors } from "./journal-anchors.ts";

/** What the first line of a new journal will say: what was lost, and who decided to continue without it. */
export async function plannedReplacement(
  file: string,
  anchor: JournalAnchor | null,
  { why, by }: { readonly why: string; readonly by: string },
): Promise<PendingJournal> {
  const { id, position, hash } = anchor ?? (await lastKnown(file));
  const kept = existsSync(file) || hasWaitingLines(file) ? `journal-${asideName()}.db` : null;
  return { id: newJournalId(), by, lost: { id, position, hash, why, kept } };
}

/** Keeps the old file, and begins a new journal. */
export async function replaceJournal(
  file: string,
  anchors: JournalAnchors,
  anchor: JournalAnchor | null,
  pending: PendingJournal,
): Promise<SqliteJournal> {
  const { id, position, hash, kept } = pending.lost;
  // From here on a crash is no loss: the next process that opens the journal finishes this.
  await anchors.write({ v: 1, id: id ?? pending.id, position, hash, at: anchor?.at ?? Date.now(), pending });
  if (kept !== null) await moveAside(file, join(dirname(file), kept));
  return finishReplacement(file, anchors, pending);
}

/** Makes the new journal where it is not there yet, and its first line where that is missing. */
export async function finishReplacement(
  file: string,
  anchors: JournalAnchors,
  { id, lost, by }: PendingJournal,
): Promise<SqliteJournal> {
  const journal = await createSqliteJournal(file, { newId: id });
  const { position } = await journal.head();
  if (position === 0) await journal.append(null, 0, [{ type: "journal.replaced", id, lost, by }], Date.now());
  await anchors.write({ v: 1, id, ...(await journal.head()), at: Date.now() });
  return journal;
}

const asideName = (): string => new Date().toISOString().replaceAll(/[:.]/g, "-");

/** What the file itself says, where it can be read. */
async function lastKnown(file: string): Promise<{ id: string | null; position: number; hash: string }> {
  const nothing = { id: null, ...START };
  if (!existsSync(file)) return nothing;
  const journal = await openJournalReadOnly(file).catch(() => null);
  if (journal === null) return nothing;
  try {
    return { id: journal.id, ...(await journal.head()) };
  } catch {
    // It is damaged so far that not even its end can be read: that is why it is replaced.
    return nothing;
  } finally {
    await journal.close();
  }
}

async function moveAside(file: string, to: string): Promise<void> {
  for (const end of ["-wal", "-shm", ""])
    if (existsSync(`${file}${end}`)) await rename(`${file}${end}`, join(dirname(to), `${basename(to)}${end}`));
}
