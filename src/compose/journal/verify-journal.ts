import { existsSync } from "node:fs";
import type { VerifyProgress } from "../../app/host-plans.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Event } from "../../core/events/event.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import { NOTHING_FOLDED, checkSnapshot, withLine } from "../../engine/fold-journal.ts";
import { SNAPSHOT_FORMAT } from "../../engine/snapshot.ts";
import type { JournalReader } from "../../ports/journal.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { VerifyDocument } from "../../views/board/dashboard.ts";
import { createEvidenceStore } from "../../adapters/evidence/evidence-store.ts";
import { verifyReceipts } from "../receipts/verify-receipts.ts";
import { openJournalReadOnly } from "../../adapters/journal/sqlite-journal.ts";
import { stateFolder } from "../state-folder.ts";
import { journalAnchors, notedHeads } from "./journal-anchors.ts";
import { journalLocation } from "./read-journal.ts";
import { compareWithAnchor, missingJournal, replacementIn, receiptMismatch } from "./journal-past.ts";

/**
 * Checks every line of the journal: the chain, what commits and the clone remember of it, and its snapshot; then its
 * evidence and its receipts. Never holds all lines, or the text of all stories, in memory. `null` where nothing ever
 * ran.
 */
export async function verifyJournal(
  root: string,
  db: string | null,
  env: EnvVariables,
  onProgress: VerifyProgress,
): Promise<VerifyDocument | null> {
  return db === null ? verifyCheckout(root, env, onProgress) : verifyDatabase(root, db, onProgress);
}

async function verifyCheckout(
  root: string,
  env: EnvVariables,
  onProgress: VerifyProgress,
): Promise<VerifyDocument | null> {
  const anchor = await (await journalAnchors(root)).read();
  const { journal: file, evidence: folder } = stateFolder(root);
  if (!existsSync(file))
    return anchor === null || anchor.position === 0 ? null : notIntact(0, missingJournal(anchor).text);
  const journal = await openJournalReadOnly(file);
  try {
    const checked = await verifyLines(journal, await notedHeads(root, journal.identity), onProgress);
    if (!checked.ok) return checked;
    const trouble =
      (anchor === null ? null : await compareWithAnchor(journal, anchor)) ?? (await receiptMismatch(root, journal));
    if (trouble !== null) return notIntact(checked.position, trouble.text);
    const evidence = await verifyEvidence(journal, createEvidenceStore(folder), onProgress);
    const receipts = await verifyReceipts(root, env, journal);
    return withFindings(checked, [...receipts.problems, ...evidence.problems], {
      evidence: evidence.checked,
      receipts: receipts.checked,
    });
  } finally {
    await journal.close();
  }
}

async function verifyDatabase(root: string, db: string, onProgress: VerifyProgress): Promise<VerifyDocument | null> {
  const opened = await journalLocation(root, db).read();
  if (opened === null) return null;
  try {
    const heads = (await notesAnother(root)) ? new Set<string>() : await notedHeads(root, null);
    const checked = await verifyLines(opened.journal, heads, onProgress);
    if (!checked.ok) return checked;
    const evidence = await verifyEvidence(opened.journal, opened.evidence, onProgress);
    return withFindings(checked, evidence.problems, { evidence: evidence.checked });
  } finally {
    await opened.close();
  }
}

/** Whether the commits of this checkout name its own journal instead of the fleet's, unless it was moved there. */
async function notesAnother(root: string): Promise<boolean> {
  try {
    const local = await journalLocation(root, null).read();
    await local?.close();
    return local !== null;
  } catch (error) {
    return !(error instanceof RemandError && error.code === "journal-moved");
  }
}

type EnvVariables = Readonly<Record<string, string | undefined>>;

function withFindings(
  checked: VerifyDocument,
  problems: readonly string[],
  counts: Pick<VerifyDocument, "evidence" | "receipts">,
): VerifyDocument {
  const [first, ...more] = problems;
  if (first === undefined) return { ...checked, ...counts };
  return { ...notIntact(0, first), ...(more.length === 0 ? {} : { more }) };
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

/** Finds what a valid chain cannot show: an end that was cut off, and a snapshot with another content. */
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

/** Checks every text that a line names: whether it exists, and whether its content is unchanged. */
async function verifyEvidence(
  journal: Pick<JournalReader, "read">,
  evidence: Pick<Evidence, "read" | "placeOf">,
  onProgress: VerifyProgress,
): Promise<{ readonly checked: number; readonly problems: readonly string[] }> {
  const named = new Map<EvidenceId, string>();
  for await (const { event, position, story } of journal.read(0))
    for (const id of evidenceIn(event)) if (!named.has(id)) named.set(id, `line ${position} (${story}, ${event.type})`);
  const problems: string[] = [];
  let checked = 0;
  for (const [id, where] of named) {
    const state = await stateOf(evidence, id);
    if (state !== "whole")
      problems.push(`the evidence ${id.slice(0, 12)} that ${where} names ${state}: ${evidence.placeOf(id)}`);
    if (++checked % PROGRESS_FILES === 0) onProgress("evidence", checked, named.size);
  }
  return { checked, problems };
}

const PROGRESS_FILES = 1000;

async function stateOf(
  evidence: Pick<Evidence, "read">,
  id: EvidenceId,
): Promise<"whole" | "is missing" | "was changed"> {
  try {
    return (await evidence.read(id)) === null ? "is missing" : "whole";
  } catch (error) {
    if (error instanceof RemandError && error.code === "evidence-corrupt") return "was changed";
    throw error;
  }
}

function evidenceIn(event: Event): readonly EvidenceId[] {
  switch (event.type) {
    case "gate.judged":
      return event.judgement.evidence;
    case "attempt.started":
      return event.brief === null ? [] : [event.brief];
    case "attempt.finished":
      return event.message === undefined ? [] : [event.message];
    case "work.sent-back":
      return event.note === undefined ? [event.brief] : [event.brief, event.note];
    default:
      return [];
  }
}
