import { existsSync } from "node:fs";
import type { VerifyProgress } from "../../app/host.ts";
import { RemandError } from "../../core/events/error.ts";
import { NOTHING_FOLDED, checkSnapshot, withLine } from "../../engine/fold-journal.ts";
import { SNAPSHOT_FORMAT } from "../../engine/snapshot.ts";
import type { JournalReader } from "../../ports/journal.ts";
import type { VerifyDocument } from "../../views/board/dashboard.ts";
import { openJournalReadOnly } from "../../adapters/journal/sqlite-journal.ts";
import { stateFolder } from "../state-folder.ts";
import { journalAnchors, notedHeads } from "./journal-anchors.ts";
import { journalLocation } from "./read-journal.ts";
import { compareWithAnchor, missingJournal, replacementIn } from "./journal-past.ts";

/**
 * Checks every line of the journal: the chain, what commits and the clone remember of it, and what its snapshot says.
 * Nothing of it holds all lines, or the text of all stories, at once. `null` where nothing ever ran.
 */
export async function verifyJournal(
  root: string,
  db: string | null,
  onProgress: VerifyProgress,
): Promise<VerifyDocument | null> {
  return db === null ? verifyCheckout(root, onProgress) : verifyDatabase(root, db, onProgress);
}

async function verifyCheckout(root: string, onProgress: VerifyProgress): Promise<VerifyDocument | null> {
  const anchor = await (await journalAnchors(root)).read();
  const { journal: file } = stateFolder(root);
  if (!existsSync(file))
    return anchor === null || anchor.position === 0 ? null : notIntact(0, missingJournal(anchor).text);
  const journal = await openJournalReadOnly(file);
  try {
    const checked = await verifyLines(journal, await notedHeads(root, journal.identity), onProgress);
    if (!checked.ok || anchor === null) return checked;
    const trouble = await compareWithAnchor(journal, anchor);
    return trouble === null ? checked : notIntact(checked.position, trouble.text);
  } finally {
    await journal.close();
  }
}

async function verifyDatabase(root: string, db: string, onProgress: VerifyProgress): Promise<VerifyDocument | null> {
  const opened = await journalLocation(root, db).read();
  if (opened === null) return null;
  try {
    const heads = (await notesAnother(root)) ? new Set<string>() : await notedHeads(root, null);
    return await verifyLines(opened.journal, heads, onProgress);
  } finally {
    await opened.close();
  }
}

/** A checkout with a journal of its own has commits that know that one, not the fleet's; unless it was moved there. */
async function notesAnother(root: string): Promise<boolean> {
  try {
    const local = await journalLocation(root, null).read();
    await local?.close();
    return local !== null;
  } catch (error) {
    return !(error instanceof RemandError && error.code === "journal-moved");
  }
}

const notIntact = (position: number, problem: string): VerifyDocument => ({ ok: false, position, hash: null, problem });

async function verifyLines(
  journal: JournalReader,
  heads: Set<string>,
  onProgress: VerifyProgress,
): Promise<VerifyDocument> {
  const { position: all } = await journal.head();
  const chain = await journal.verify(undefined, (checked) => onProgress("chain", checked, all));
  if (!chain.ok) return notIntact(chain.position, chain.problem);
  const problem = await problemBesideTheChain(journal, heads, (read) => onProgress("state", read, all));
  const replaced = await replacementIn(journal);
  return { ok: problem === null, ...chain.head, problem, ...(replaced === null ? {} : { replaced }) };
}

/** What a chain that holds cannot show: an end that was cut off, and a snapshot that says something else. */
async function problemBesideTheChain(
  journal: JournalReader,
  missing: Set<string>,
  onProgress: (read: number) => void,
): Promise<string | null> {
  const snapshot = await journal.latestOutlines(SNAPSHOT_FORMAT, []);
  if (snapshot === null && missing.size === 0) return null;
  let folded = NOTHING_FOLDED();
  for await (const line of journal.read(0)) {
    missing.delete(line.hash);
    if (snapshot !== null && line.position <= snapshot.position) folded = withLine(folded, line);
    else if (missing.size === 0) break;
    if (line.position % PROGRESS_LINES === 0) onProgress(line.position);
  }
  const [head] = missing;
  if (head !== undefined)
    return `a commit notes the head ${head}, which is not there: the end was cut off, or the journal was rewritten`;
  if (snapshot === null) return null;
  const checked = await checkSnapshot(journal, folded);
  return checked.is === "different"
    ? `the lines, folded again, do not give the state of the snapshot: ${checked.where} differs`
    : null;
}

const PROGRESS_LINES = 10_000;
