import { WAY_OUT } from "../cli/new-journal.ts";
import { RemandError } from "../domain/error.ts";
import type { Event } from "../domain/event.ts";
import type { FileMark } from "../domain/journal-anchor.ts";
import type { SqliteJournal } from "../adapters/journal/sqlite-journal.ts";
import type { Head } from "../ports/journal.ts";
import type { JournalAnchors } from "./journal-anchors.ts";

/** A line of these is recorded soon: it ended work, or let it through. */
const MOMENTOUS: ReadonlySet<Event["type"]> = new Set([
  "attempt.finished",
  "gate.judged",
  "person.answered",
  "story.accepted",
  "story.failed",
]);
/** Others are recorded with the next line after this time. */
const RECORD_MS = 5000;
/** The record is not written more often, however many lines there are. */
const PAUSE_MS = 250;

/**
 * A journal whose head is recorded in the clone from time to time, and when it is closed. Nobody waits for that but
 * who closes it. Only lines that are on the disk are recorded, so after a crash the record is behind, never ahead.
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
  // What was recorded must still be there: else a journal that was written again meanwhile would be recorded as right.
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
    /** Nothing is recorded of a journal that was written again. */
    closed: async (mark: FileMark | null): Promise<void> => {
      if (!isRewritten) await write(mark).catch(tellOnce);
    },
  };
}
