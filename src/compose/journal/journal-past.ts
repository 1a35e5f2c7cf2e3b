import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { JournalTrouble } from "../../app/host-plans.ts";
import { countText } from "../../stdx/plain-text.ts";
import type { JournalAnchor, PendingJournal } from "../../core/events/journal-anchor.ts";
import type { JournalReplacement } from "../../views/board/dashboard.ts";
import { fileMarkOf, hasWaitingLines, isSameFile } from "../../adapters/journal/sqlite.ts";
import {
  type SqliteReader,
  openJournalReadOnly,
  createSqliteJournal,
  type SqliteJournal,
} from "../../adapters/journal/sqlite-journal.ts";
import { START } from "../../adapters/journal/chain.ts";
import { newJournalId } from "../../adapters/journal/sqlite-file.ts";
import type { Head, JournalReader } from "../../ports/journal.ts";
import { journalAnchors, type JournalAnchors } from "./journal-anchors.ts";
import { readNote } from "../receipts/kept-receipts.ts";

export function missingJournal(anchor: JournalAnchor): JournalTrouble {
  return { kind: "missing", text: `The journal is missing: it had ${recordedText(anchor)}.` };
}

const recordedText = ({ position, at }: JournalAnchor): string =>
  `${countText(position, "line")} on ${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Compares the journal with its record; reads only two lines, however many there are. */
export async function compareWithAnchor(
  journal: Pick<SqliteReader, "id" | "hashAt" | "head" | "read">,
  anchor: JournalAnchor,
): Promise<JournalTrouble | null> {
  const changedTrouble = (text: string): JournalTrouble => ({ kind: "changed", text });
  if (journal.id !== null && journal.id !== anchor.id) {
    if ((await replacementIn(journal))?.lost.id === anchor.id) return null;
    return changedTrouble(
      `The journal is not the one that belongs here: its id is ${journal.id.slice(0, 8)}, and ${anchor.id.slice(0, 8)} is recorded with ${recordedText(anchor)}.`,
    );
  }
  const { position } = await journal.head();
  if (position < anchor.position)
    return changedTrouble(
      `The journal ends at line ${position}, but it had ${recordedText(anchor)}: line ${position + 1} and what followed were cut off, or an older copy was put back.`,
    );
  if (journal.hashAt(anchor.position) === anchor.hash) return null;
  return changedTrouble(
    `Line ${anchor.position} of the journal is not the one that was recorded: lines up to it were written again, or the file was replaced.`,
  );
}

/** The problem if the clone has receipts of another journal, and this one does not say that it replaced it. */
export async function receiptMismatch(
  root: string,
  journal: Pick<SqliteReader, "id" | "read">,
): Promise<JournalTrouble | null> {
  const noted = (await readNote(root))?.id ?? null;
  if (noted === null || journal.id === null || noted === journal.id) return null;
  if ((await replacementIn(journal))?.lost.id === noted) return null;
  const text = `The journal is not the one that belongs here: its id is ${journal.id.slice(0, 8)}, and the receipts here were made for ${noted.slice(0, 8)}.`;
  return { kind: "changed", text };
}

/** Compares the journal with the line that a receipt names. */
export async function compareWithReceipt(
  journal: Pick<SqliteReader, "hashAt" | "head">,
  { story, position, hash }: Head & { readonly story: string },
): Promise<JournalTrouble | null> {
  if (journal.hashAt(position) === hash) return null;
  const { position: last } = await journal.head();
  const text =
    last < position
      ? `The journal ends at line ${last}, but the receipt of ${story} names line ${position}: line ${last + 1} and what followed were cut off, or an older copy was put back.`
      : `Line ${position} of the journal is not the one that the receipt of ${story} names: lines up to it were written again, or the file was replaced.`;
  return { kind: "changed", text };
}

/** The replaced journal that a journal's first line names; `null` where it replaced none. */
export async function replacementIn(journal: Pick<JournalReader, "read">): Promise<JournalReplacement | null> {
  for await (const { event, at } of journal.read(0))
    return event.type === "journal.replaced" ? { lost: event.lost, by: event.by, at } : null;
  return null;
}

/** Whether the file is unchanged since its chain was last checked. */
export function isUntouched(file: string, anchor: JournalAnchor | null, head: Head): boolean {
  if (anchor?.file === undefined || head.hash !== anchor.hash) return false;
  const now = fileMarkOf(file);
  return now !== null && isSameFile(now, anchor.file);
}

/**
 * Whether another program wrote to the file. True only if neither a crash nor a copy explains the difference: it is
 * still the same file, and no lines wait next to it.
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

const WRITTEN_OUTSIDE: JournalTrouble = {
  kind: "changed",
  text: "Something other than Remand wrote to the journal's file after it was closed.",
};

/**
 * Finds what is wrong with a checkout's journal. `chain`: also checks its lines, unless the file was not written to.
 */
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

/** The first line of a new journal: what was lost, and who decided to continue without it. */
export async function plannedReplacement(
  file: string,
  anchor: JournalAnchor | null,
  { why, by }: { readonly why: string; readonly by: string },
): Promise<PendingJournal> {
  const { id, position, hash } = anchor ?? (await lastKnown(file));
  const kept = existsSync(file) || hasWaitingLines(file) ? `journal-${asideName()}.db` : null;
  return { id: newJournalId(), by, lost: { id, position, hash, why, kept } };
}

/** Keeps the old file under another name, and starts a new journal. */
export async function replaceJournal(
  file: string,
  anchors: JournalAnchors,
  anchor: JournalAnchor | null,
  pending: PendingJournal,
): Promise<SqliteJournal> {
  const { id, position, hash, kept } = pending.lost;
  // From here on a crash loses nothing: the next process that opens the journal finishes the replacement.
  await anchors.write({ v: 1, id: id ?? pending.id, position, hash, at: anchor?.at ?? Date.now(), pending });
  if (kept !== null) await moveAside(file, join(dirname(file), kept));
  return finishReplacement(file, anchors, pending);
}

/** Creates the new journal and its first line, if they do not exist yet. */
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

/** The last head and the id in the file, as far as it can be read. */
async function lastKnown(file: string): Promise<{ id: string | null; position: number; hash: string }> {
  const nothing = { id: null, ...START };
  if (!existsSync(file)) return nothing;
  const journal = await openJournalReadOnly(file).catch(() => null);
  if (journal === null) return nothing;
  try {
    return { id: journal.id, ...(await journal.head()) };
  } catch {
    // The file is too damaged to read its end, which is why it is replaced.
    return nothing;
  } finally {
    await journal.close();
  }
}

async function moveAside(file: string, to: string): Promise<void> {
  for (const end of ["-wal", "-shm", ""])
    if (existsSync(`${file}${end}`)) await rename(`${file}${end}`, join(dirname(to), `${basename(to)}${end}`));
}
