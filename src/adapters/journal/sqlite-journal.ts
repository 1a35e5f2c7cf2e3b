import { RemandError } from "../../core/events/error.ts";
import type { Head, Journal, JournalReader, VerifyResult } from "../../ports/journal.ts";
import type { Outbox } from "../../ports/notifier.ts";
import type { FileMark } from "../../core/events/journal-anchor.ts";
import { assert } from "../../stdx/assert.ts";
import { START, brokenLink, keptEvent, type Line } from "./chain.ts";
import { createGroupWriter } from "./group-writer.ts";
import { createCommit, createSqliteOutbox } from "./sqlite-commit.ts";
import {
  closeWritten,
  openForReading,
  openForWriting,
  whenFree,
  type JournalIdentity,
  ensureIdentity,
  newJournalId,
  readIdentity,
  markMoved,
} from "./sqlite-file.ts";
import { type SqliteDatabase, fileMarkOf, inTransaction, CORRUPT_HINT, asJournalError } from "./sqlite.ts";
import { type SqliteReading, createReading } from "./sqlite-reading.ts";
import { createSnapshotWriting } from "./sqlite-snapshots.ts";

export interface SqliteOptions {
  /** How long to wait for a file that another process locks. */
  readonly lockTimeoutMs?: number;
  /** The maximum number of pages, for tests of a full disk. */
  readonly maxPages?: number;
  /** The id for a journal without one; default: a random id. */
  readonly newId?: string;
}

export interface SqliteJournal extends Journal {
  /** In the same file, so that writes to both are synced once. */
  readonly outbox: Outbox;
  readonly identity: JournalIdentity;
  /** Returns the hash of the line at this position; `null` if there is none. */
  hashAt(position: number): string | null;
  /** Deletes the snapshots. They are a cache: the next reader folds the lines instead. */
  dropSnapshots(): Promise<void>;
  /** Closes the journal. Returns the file's state, or `null` if another connection has written since it was opened. */
  closeMarked(): Promise<FileMark | null>;
}

/**
 * The journal in one SQLite file. Appends of one turn of the event loop are committed together, because syncing the
 * disk is what costs; callers continue after the commit. Several processes may write: each commit checks the file first
 * and rejects an append if another writer has added to its stream.
 */
export async function createSqliteJournal(file: string, options: SqliteOptions = {}): Promise<SqliteJournal> {
  const lockTimeoutMs = options.lockTimeoutMs ?? LOCK_TIMEOUT_MS;
  const newId = options.newId ?? newJournalId();
  const db = await inOurWords(file, () => openForWriting(file, lockTimeoutMs, newId));
  if (options.maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${options.maxPages}`);
  const reading = createReading(db, file);
  await refuseBrokenEnd(reading, db, file);
  const identity = await inOurWords(file, () => whenFree(lockTimeoutMs, () => ensureIdentity(db, reading.head, newId)));
  const writtenByOthers = createWriteDetector(db);
  const watch = createWatch(db);
  const outbox = createSqliteOutbox(db, file);
  const commit = createCommit(db, file, reading.head, outbox);
  const writer = createGroupWriter(async (group) => {
    const outcomes = await inOurWords(file, () => whenFree(lockTimeoutMs, () => commit(group)));
    if (outcomes.some((each) => each.ok && each.stored.length > 0)) watch.tell();
    return outcomes;
  });
  const saveSnapshot = createSnapshotWriting(db, reading.head);
  const closeMarked = async (): Promise<FileMark | null> => {
    watch.close();
    if (!(await writer.close())) return null;
    return closeWritten(db, outbox.close, () => (writtenByOthers() ? null : fileMarkOf(file)));
  };

  return {
    id: identity.id,
    identity,
    hashAt: reading.hashAt,
    dropSnapshots: () =>
      inOurWords(file, () => whenFree(lockTimeoutMs, () => inTransaction(db, () => db.exec(NO_SNAPSHOTS)))),
    append: async (stream, expectedSeq, events, at) => {
      assert(stream !== "", "a story's stream has a name");
      assert(Number.isFinite(at), "a line has a time");
      return writer.write({ stream, expectedSeq, at, events: events.map(keptEvent) });
    },
    read: reading.readStored,
    head: async () => reading.head(),
    watch: watch.watch,
    saveSnapshot: (snapshot, since) =>
      inOurWords(file, () => whenFree(lockTimeoutMs, () => saveSnapshot(snapshot, since))),
    ...snapshotsOf(reading),
    verify: reading.verify,
    outbox: outbox.through(writer),
    closeMarked,
    close: async () => void (await closeMarked()),
  };
}

const NO_SNAPSHOTS = "DELETE FROM snapshot; DELETE FROM part; DELETE FROM outline";

/** SQLite's `data_version` changes exactly when another connection commits. */
function createWriteDetector(db: SqliteDatabase): () => boolean {
  const asked = db.prepare("PRAGMA data_version");
  const version = (): number => (asked.get() as { data_version: number }).data_version;
  const before = version();
  return () => version() !== before;
}

export interface SqliteReader extends JournalReader {
  readonly identity: JournalIdentity | null;
  hashAt(position: number): string | null;
  /** Verifies only the lines after one that is known to be correct. */
  verifyAfter(from: Head): Promise<VerifyResult>;
}

/**
 * Opens the journal for `status` and `log` beside a running engine. Creates and changes no file, and blocks no writer.
 */
export async function openJournalReadOnly(file: string, options: SqliteOptions = {}): Promise<SqliteReader> {
  const db = await inOurWords(file, () => openForReading(file, options.lockTimeoutMs ?? LOCK_TIMEOUT_MS));
  const reading = createReading(db, file);
  const watch = createWatch(db);
  let open = true;
  const identity = readIdentity(db);
  return {
    id: identity?.id ?? null,
    identity,
    hashAt: reading.hashAt,
    read: reading.readStored,
    head: async () => reading.head(),
    watch: watch.watch,
    ...snapshotsOf(reading),
    verify: reading.verify,
    verifyAfter: reading.verifyAfter,
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

/** Rejects a journal whose last line does not follow from the one before: writing on would bury the damage. */
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

/** Notifies watchers of this process's lines at once, and of other processes' lines by polling. */
export interface SqliteWatch {
  watch: Journal["watch"];
  /** Call after this process added lines. */
  tell(): void;
  close(): void;
}

/** How often the file is polled. SQLite answers from shared memory, so a poll costs almost nothing. */
const POLL_MS = 100;

export function createWatch(db: SqliteDatabase): SqliteWatch {
  const asked = db.prepare("PRAGMA data_version");
  const watchers = new Set<Parameters<Journal["watch"]>[0]>();
  let timer: NodeJS.Timeout | null = null;
  let seen: unknown;

  const tell = (whose: "ours" | "others"): void => {
    for (const watcher of watchers) watcher(whose);
  };
  /** SQLite's `data_version` changes exactly when another connection commits. */
  const version = (): unknown => (asked.get() as { data_version: number }).data_version;
  const look = (): void => {
    let now: unknown;
    try {
      now = version();
    } catch {
      // The watcher's next read reports in full what is wrong with the file.
      tell("others");
      return;
    }
    if (now === seen) return;
    seen = now;
    tell("others");
  };
  const rest = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };

  return {
    watch: (notice) => {
      // Each call gets its own watcher, so that the same function can watch twice.
      const watcher: typeof notice = (whose) => notice(whose);
      watchers.add(watcher);
      if (timer === null) {
        seen = version();
        timer = setInterval(look, POLL_MS);
      }
      return () => {
        watchers.delete(watcher);
        if (watchers.size === 0) rest();
      };
    },
    tell: () => tell("ours"),
    close: () => {
      watchers.clear();
      rest();
    },
  };
}

/** Everything in a journal's file, for moving it to a database. */
export interface SqliteContents {
  head(): Head;
  lines(after: number): AsyncIterable<Line>;
  verify(): Promise<VerifyResult>;
  outbox(): readonly { readonly key: string; readonly text: string }[];
  /**
   * Locks the file against writers while `work` runs, and then marks it as moved. Returns `false`, and does nothing, if
   * the file has lines after this head.
   */
  handOver(head: Head, to: string, work: () => Promise<void>): Promise<boolean>;
  close(): void;
}

export async function openSqliteContents(file: string): Promise<SqliteContents> {
  const db = await openForWriting(file, LOCK_TIMEOUT_MS, newJournalId()).catch((error: unknown) => {
    throw asJournalError(error, file);
  });
  const reading = createReading(db, file);
  return {
    head: reading.head,
    lines: reading.lines,
    verify: () => reading.verify(),
    outbox: () => db.prepare("SELECT key, text FROM outbox ORDER BY key").all() as { key: string; text: string }[],
    handOver: async (head, to, work) => {
      await whenFree(LOCK_TIMEOUT_MS, () => db.exec("BEGIN IMMEDIATE"));
      try {
        const isCurrent = reading.head().hash === head.hash;
        if (isCurrent) {
          markMoved(db, to, Date.now());
          await work();
        }
        db.exec(isCurrent ? "COMMIT" : "ROLLBACK");
        return isCurrent;
      } catch (error) {
        db.exec("ROLLBACK");
        throw asJournalError(error, file);
      }
    },
    close: () => db.close(),
  };
}
