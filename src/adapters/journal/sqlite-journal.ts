import { RemandError } from "../../domain/error.ts";
import type { Head, Journal, JournalReader } from "../../ports/journal.ts";
import type { Outbox } from "../../ports/outbox.ts";
import { assert } from "../../stdx/assert.ts";
import { brokenLink, keptEvent, START } from "./chain.ts";
import { createGroupWriter } from "./group-writer.ts";
import { createCommit } from "./sqlite-commit.ts";
import { asJournalError, CORRUPT_HINT } from "./sqlite-errors.ts";
import { closeWritten, openForReading, openForWriting, whenFree } from "./sqlite-file.ts";
import { createSqliteOutbox } from "./sqlite-outbox.ts";
import { createReading, type SqliteReading } from "./sqlite-reading.ts";
import { createSnapshotWriting } from "./sqlite-snapshots.ts";
import { createWatch } from "./sqlite-watch.ts";
import type { SqliteDatabase } from "./sqlite.ts";

export interface SqliteOptions {
  /** How long another process may hold the file before that is an error. */
  readonly lockTimeoutMs?: number;
  /** The file may not grow beyond this many pages; for tests, which would rather not fill a disk. */
  readonly maxPages?: number;
}

export interface SqliteJournal extends Journal {
  /** In the same file, so that what goes into both is forced to the disk once. */
  readonly outbox: Outbox;
}

/**
 * The journal in one SQLite file. Appends are gathered for one turn of the event loop and committed together, because
 * the disk's answer is what costs; whoever appended goes on after it. Several processes may write: each commit looks
 * at the file first, so a writer that lost its place is refused whoever took it.
 */
export async function createSqliteJournal(file: string, options: SqliteOptions = {}): Promise<SqliteJournal> {
  const lockTimeoutMs = options.lockTimeoutMs ?? LOCK_TIMEOUT_MS;
  const db = await inOurWords(file, () => openForWriting(file, lockTimeoutMs));
  if (options.maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${options.maxPages}`);
  const reading = createReading(db, file);
  await refuseBrokenEnd(reading, db, file);
  const watch = createWatch(db);
  const outbox = createSqliteOutbox(db, file);
  const commit = createCommit(db, file, reading.head, outbox);
  const writer = createGroupWriter(async (group) => {
    const outcomes = await inOurWords(file, () => whenFree(lockTimeoutMs, () => commit(group)));
    if (outcomes.some((each) => each.ok && each.stored.length > 0)) watch.tell();
    return outcomes;
  });
  const saveSnapshot = createSnapshotWriting(db, reading.head);

  return {
    append: async (stream, expectedSeq, events, at) => {
      assert(stream !== "", "a story's stream has a name");
      assert(Number.isFinite(at), "a line has a time");
      return writer.write({ stream, expectedSeq, at, events: events.map(keptEvent) });
    },
    read: reading.stored,
    head: async () => reading.head(),
    watch: watch.watch,
    saveSnapshot: (snapshot, since) =>
      inOurWords(file, () => whenFree(lockTimeoutMs, () => saveSnapshot(snapshot, since))),
    ...snapshotsOf(reading),
    verify: reading.verify,
    outbox: outbox.through(writer),
    close: async () => {
      watch.close();
      if (await writer.close()) closeWritten(db, outbox.close);
    },
  };
}

/** For `status` and `log` beside a running engine. It makes no file, changes none, and holds up nobody. */
export async function openJournalReadOnly(file: string, options: SqliteOptions = {}): Promise<JournalReader> {
  const db = await inOurWords(file, () => openForReading(file, options.lockTimeoutMs ?? LOCK_TIMEOUT_MS));
  const reading = createReading(db, file);
  const watch = createWatch(db);
  let open = true;
  return {
    read: reading.stored,
    head: async () => reading.head(),
    watch: watch.watch,
    ...snapshotsOf(reading),
    verify: reading.verify,
    close: async () => {
      watch.close();
      if (open) db.close();
      open = false;
    },
  };
}

function snapshotsOf({
  snapshots,
}: SqliteReading): Pick<Journal, "latestSnapshot" | "latestOutlines" | "snapshotParts"> {
  return {
    latestSnapshot: async (format) => snapshots.latest(format),
    latestOutlines: async (format, names) => snapshots.outlines(format, names),
    snapshotParts: async (format, position, names) => snapshots.parts(format, position, names),
  };
}

const LOCK_TIMEOUT_MS = 10_000;

/** The last line must follow from the one before it: who writes on after damage buries it. */
async function refuseBrokenEnd(reading: SqliteReading, db: SqliteDatabase, file: string): Promise<void> {
  let problem: string | null = null;
  try {
    const { position } = reading.head();
    let before: Head = START;
    for await (const line of reading.lines(Math.max(0, position - 2))) {
      const isLast = line.position === position;
      if (isLast) problem = brokenLink(before, line.seq - 1, line);
      before = line;
    }
  } catch (error) {
    db.close();
    throw error;
  }
  if (problem === null) return;
  db.close();
  throw new RemandError("journal-corrupt", `the end of the journal ${file} is damaged: ${problem}`, CORRUPT_HINT);
}

async function inOurWords<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asJournalError(error, file);
  }
}
