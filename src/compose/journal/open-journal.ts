import { existsSync } from "node:fs";
import { WAY_OUT, journalRefusal } from "../../app/with-journal.ts";
import { countText } from "../../stdx/plain-text.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Event } from "../../core/events/event.ts";
import type { FileMark, JournalAnchor } from "../../core/events/journal-anchor.ts";
import { hasWaitingLines } from "../../adapters/journal/sqlite.ts";
import { hasLivingOwner } from "../../adapters/journal/ownership.ts";
import { type SqliteJournal, createSqliteJournal, openJournalReadOnly } from "../../adapters/journal/sqlite-journal.ts";
import type { Head } from "../../ports/journal.ts";
import { type JournalAnchors, journalAnchors, notedHeads } from "./journal-anchors.ts";
import { newestReceipt } from "../receipts/kept-receipts.ts";
import {
  changedLine,
  compareWithAnchor,
  compareWithReceipt,
  isUntouched,
  missingJournal,
  receiptMismatch,
  finishReplacement,
  plannedReplacement,
  replaceJournal,
} from "./journal-past.ts";

export interface OpenOptions {
  /** When a new journal may replace another. Absent: never. */
  readonly newJournal?: { readonly when: "missing" | "asked"; readonly by: string } | undefined;
  /** Where the user's key is; without it, receipts are not checked. */
  readonly userState?: string | undefined;
  /** Throws where this process may not replace a journal, as a person may. */
  assertMayReplace(event: Event): void;
  onNotice(text: string): void;
}

/**
 * Opens a checkout's journal for its one engine. Refuses a journal that does not continue its own past: a line was
 * changed, the end was cut off, the file is an older copy or another journal, or it is missing.
 */
export async function openJournal(root: string, file: string, options: OpenOptions): Promise<SqliteJournal> {
  const anchors = await journalAnchors(root);
  const anchor = await anchors.read();
  const { pending } = anchor ?? {};
  if (pending !== undefined && (await isBegun(file, pending.id))) {
    const journal = await finishReplacement(file, anchors, pending);
    return anchoredJournal(journal, anchors, await journal.head(), options.onNotice);
  }
  try {
    return await checkedJournal(root, file, anchors, anchor, options);
  } catch (error) {
    if (!(error instanceof RemandError) || !isReplaceable(error)) throw error;
    const { newJournal } = options;
    const mayBegin = newJournal?.when === "asked" || (newJournal?.when === "missing" && error.code === "journal-lost");
    if (newJournal === undefined || !mayBegin) throw withWayOut(error);
    const pending = await plannedReplacement(file, anchor, { why: error.message, by: newJournal.by });
    if (newJournal.when === "asked") options.assertMayReplace({ type: "journal.replaced", ...pending });
    const journal = await replaceJournal(file, anchors, anchor, pending);
    const { lost } = pending;
    options.onNotice(
      `A new journal begins. ${error.message} ${lost.kept === null ? "" : `The old file is kept as .remand/${lost.kept}. `}The new journal records this.`,
    );
    return anchoredJournal(journal, anchors, await journal.head(), options.onNotice);
  }
}

const isReplaceable = ({ code }: RemandError): boolean => code === "journal-corrupt" || code === "journal-lost";

function withWayOut(error: RemandError): RemandError {
  if (error.hint.includes("--new-journal")) return error;
  return new RemandError(error.code, error.message, `${error.hint} ${WAY_OUT}`, { cause: error.cause });
}

async function isBegun(file: string, id: string): Promise<boolean> {
  if (!existsSync(file)) return !hasWaitingLines(file);
  const journal = await openJournalReadOnly(file).catch(() => null);
  await journal?.close();
  return journal?.id === id;
}

async function checkedJournal(
  root: string,
  file: string,
  anchors: JournalAnchors,
  anchor: JournalAnchor | null,
  { newJournal, onNotice, userState }: OpenOptions,
): Promise<SqliteJournal> {
  const isThere = existsSync(file);
  if (!isThere && anchor !== null && anchor.position > 0) throw journalRefusal(missingJournal(anchor));
  const isIntact = isThere && (await refuseChanged(root, file, anchor, { userState, onNotice })) === "untouched";
  if (isThere && newJournal?.when === "asked") onNotice("The journal is in order: --new-journal was not needed.");
  const journal = await createSqliteJournal(file, anchor === null ? {} : { newId: anchor.id });
  try {
    // A snapshot is trusted only if nothing but Remand has written to the file.
    if (isThere && !isIntact) await journal.dropSnapshots();
    const head = await journal.head();
    if (!isIntact || anchor?.id !== journal.id)
      await anchors.write({ v: 1, id: journal.identity.id, ...head, at: Date.now() });
    return anchoredJournal(journal, anchors, head, onNotice);
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/** `untouched`: the file was not written to since its chain was last checked, so the check is skipped. */
async function refuseChanged(
  root: string,
  file: string,
  anchor: JournalAnchor | null,
  { userState, onNotice }: Pick<OpenOptions, "userState" | "onNotice">,
): Promise<"untouched" | "checked"> {
  const journal = await openJournalReadOnly(file);
  try {
    const trouble = anchor === null ? null : await compareWithAnchor(journal, anchor);
    if (trouble !== null) throw journalRefusal(trouble);
    if (userState !== undefined) await refuseUnlikeReceipt(root, userState, journal);
    const head = await journal.head();
    if (isUntouched(file, anchor, head)) return "untouched";
    if (head.position > MANY_LINES) onNotice(`Checking ${countText(head.position, "line")} of the journal.`);
    const verified = await journal.verify();
    if (!verified.ok) throw journalRefusal(changedLine(verified));
    // Without a record in this clone, only commits can show that the end was cut off.
    if (anchor === null) await refuseUnknownHeads(root, journal);
    return "checked";
  } finally {
    await journal.close();
  }
}

/**
 * The newest receipt names a line and is signed, so without the key it cannot be made to fit other lines. The chain is
 * checked from that line on, whatever the clone's own record says; that costs only the lines written since.
 */
async function refuseUnlikeReceipt(
  root: string,
  userState: string,
  journal: Awaited<ReturnType<typeof openJournalReadOnly>>,
): Promise<void> {
  const mismatch = await receiptMismatch(root, journal);
  if (mismatch !== null) throw journalRefusal(mismatch);
  const newest = await newestReceipt(root, userState, journal.id);
  if (newest === null) return;
  const unlike = await compareWithReceipt(journal, newest);
  if (unlike !== null) throw journalRefusal(unlike);
  const position = newest.position - 1;
  const verified = await journal.verifyAfter({ position, hash: journal.hashAt(position) ?? "" });
  if (!verified.ok) throw journalRefusal(changedLine(verified));
}

/** From this many lines on, checking them takes a noticeable time. */
const MANY_LINES = 200_000;

async function refuseUnknownHeads(
  root: string,
  journal: Awaited<ReturnType<typeof openJournalReadOnly>>,
): Promise<void> {
  const heads = await notedHeads(root, journal.identity);
  if (heads.size === 0) return;
  for await (const { hash } of journal.read(0)) heads.delete(hash);
  const [missing] = heads;
  if (missing === undefined) return;
  const { position } = await journal.head();
  const text = `The journal ends at line ${position}, but a commit notes the head ${missing.slice(0, 12)}, which is not in it: its end was cut off, or it was written again.`;
  throw journalRefusal({ kind: "changed", text });
}

const NEVER_NEW: OpenOptions = { assertMayReplace: () => undefined, onNotice: () => undefined };

/**
 * Opens a journal to append from outside of the engine. If an engine is running, only the recorded head is compared.
 */
export async function openJournalBeside(root: string, file: string): Promise<SqliteJournal> {
  if (!(await hasLivingOwner(file))) return openJournal(root, file, NEVER_NEW);
  const anchor = await (await journalAnchors(root)).read();
  const journal = await createSqliteJournal(file);
  const trouble = anchor === null ? null : await compareWithAnchor(journal, anchor);
  if (trouble === null) return journal;
  await journal.close();
  throw journalRefusal(trouble);
}

/** Lines after which the head is recorded soon, because they ended work or let it through. */
const MOMENTOUS: ReadonlySet<Event["type"]> = new Set([
  "attempt.finished",
  "gate.judged",
  "person.answered",
  "story.accepted",
  "story.failed",
]);
/** After other lines, the head is recorded with the first line after this time. */
const RECORD_MS = 5000;
/** The shortest pause between two records, however many lines there are. */
const PAUSE_MS = 250;

/**
 * A journal whose head is recorded in the clone from time to time and when it is closed. Only `close` waits for the
 * record. Only lines on the disk are recorded, so after a crash the record is behind the journal, never ahead.
 */
export function anchoredJournal(
  journal: SqliteJournal,
  anchors: JournalAnchors,
  from: Head,
  onNotice: (text: string) => void,
): SqliteJournal {
  const recorder = createRecorder(journal, anchors, from, onNotice);
  let isOpen = true;
  const closeMarked = async (): Promise<FileMark | null> => {
    if (!isOpen) return null;
    isOpen = false;
    await recorder.stop();
    const mark = await journal.closeMarked();
    await recorder.closed(mark);
    return mark;
  };
  return {
    ...journal,
    append: async (stream, expectedSeq, events, at) => {
      recorder.refuseRewritten();
      const appended = await journal.append(stream, expectedSeq, events, at);
      const last = appended.ok ? appended.stored.at(-1) : undefined;
      if (last !== undefined)
        recorder.grown(
          last,
          events.some(({ type }) => MOMENTOUS.has(type)),
        );
      return appended;
    },
    closeMarked,
    close: async () => void (await closeMarked()),
  };
}

function createRecorder(journal: SqliteJournal, anchors: JournalAnchors, from: Head, onNotice: (text: string) => void) {
  let head: Head = { position: from.position, hash: from.hash };
  let recorded = head;
  let recordedAt = performance.now();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  let isRewritten = false;
  let isTold = false;

  const write = async (file: FileMark | null): Promise<void> => {
    const { position, hash } = head;
    const mark = file === null ? {} : { file };
    await anchors.write({ v: 1, id: journal.identity.id, position, hash, at: Date.now(), ...mark });
    recorded = { position, hash };
  };
  const tellOnce = (error: unknown): void => {
    if (isTold) return;
    isTold = true;
    onNotice(`Cannot record the journal's head in the git directory: ${(error as Error).message}`);
  };
  // The recorded line must still be there; otherwise a journal that was rewritten meanwhile would be recorded as valid.
  const compare = (): void => {
    isRewritten ||= journal.hashAt(recorded.position) !== recorded.hash;
  };
  const record = (): void => {
    timer = null;
    recordedAt = performance.now();
    compare();
    if (!isRewritten) writing = writing.then(() => write(null)).catch(tellOnce);
  };
  return {
    refuseRewritten: (): void => {
      if (!isRewritten) return;
      const message = `Line ${recorded.position} of the journal was changed while it was in use.`;
      throw new RemandError("journal-corrupt", message, `Bring the file back from a backup. ${WAY_OUT}`);
    },
    grown: ({ position, hash }: Head, isMomentous: boolean): void => {
      if (position > head.position) head = { position, hash };
      if (timer !== null || (!isMomentous && performance.now() - recordedAt < RECORD_MS)) return;
      timer = setTimeout(record, PAUSE_MS);
      timer.unref();
    },
    stop: async (): Promise<void> => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await writing;
      compare();
    },
    /** Records nothing of a journal that was rewritten. */
    closed: async (mark: FileMark | null): Promise<void> => {
      if (!isRewritten) await write(mark).catch(tellOnce);
    },
  };
}
