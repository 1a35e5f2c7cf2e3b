import { statSync } from "node:fs";
import { RemandError } from "../../domain/error.ts";
import type { Appended, Head, Journal, JournalReader, Snapshot } from "../../ports/journal.ts";
import { assert } from "../../stdx/assert.ts";
import { brokenLink, eventText, lineAfter, readLine, START } from "./chain.ts";
import { createGroupWriter, type Append } from "./group-writer.ts";
import { SNAPSHOTS_KEPT } from "./memory-journal.ts";
import { asJournalError, CORRUPT_HINT } from "./sqlite-errors.ts";
import { closeWritten, openForReading, openForWriting, whenFree } from "./sqlite-file.ts";
import { createReading, digestOf, streamText, type SqliteReading } from "./sqlite-reading.ts";
import { createWatch } from "./sqlite-watch.ts";
import type { SqliteDatabase } from "./sqlite.ts";

export interface SqliteOptions {
  /** How long another process may hold the file before that is an error. */
  readonly lockTimeoutMs?: number;
  /** The file may not grow beyond this many pages; for tests, which would rather not fill a disk. */
  readonly maxPages?: number;
}

/**
 * The journal in one SQLite file. Appends are gathered for one turn of the event loop and committed together, because
 * the disk's answer is what costs; whoever appended goes on after it. Several processes may write: each commit looks
 * at the file first, so a writer that lost its place is refused whoever took it.
 */
export async function createSqliteJournal(file: string, options: SqliteOptions = {}): Promise<Journal> {
  const lockTimeoutMs = options.lockTimeoutMs ?? LOCK_TIMEOUT_MS;
  const db = await inOurWords(file, () => openForWriting(file, lockTimeoutMs));
  if (options.maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${options.maxPages}`);
  const reading = createReading(db, file);
  await refuseBrokenEnd(reading, db, file);
  const watch = createWatch(db);
  const commit = createCommit(db, reading, file);
  const writer = createGroupWriter(async (group) => {
    const outcomes = await inOurWords(file, () => whenFree(lockTimeoutMs, () => commit(group)));
    if (outcomes.some((each) => each.ok && each.stored.length > 0)) watch.tell();
    return outcomes;
  });
  const saveSnapshot = createSnapshotWriting(db, reading);

  return {
    append: async (stream, expectedSeq, events, at) => {
      assert(stream !== "", "a story's stream has a name");
      assert(Number.isFinite(at), "a line has a time");
      return writer.write({ stream, expectedSeq, at, texts: events.map(eventText) });
    },
    read: reading.stored,
    head: async () => reading.head(),
    watch: watch.watch,
    saveSnapshot: (snapshot) => inOurWords(file, () => whenFree(lockTimeoutMs, () => saveSnapshot(snapshot))),
    latestSnapshot: async (format) => reading.latestSnapshot(format),
    verify: reading.verify,
    close: async () => {
      watch.close();
      if (await writer.close()) closeWritten(db);
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
    latestSnapshot: async (format) => reading.latestSnapshot(format),
    verify: reading.verify,
    close: async () => {
      watch.close();
      if (open) db.close();
      open = false;
    },
  };
}

const LOCK_TIMEOUT_MS = 10_000;

/** Writes a group in one transaction. A conflict concerns one caller: nothing of it is written, the others' lines are. */
function createCommit(
  db: SqliteDatabase,
  reading: SqliteReading,
  file: string,
): (group: readonly Append[]) => Appended[] {
  const seqOf = db.prepare("SELECT max(seq) AS seq FROM line WHERE stream = ?");
  const insert = db.prepare(
    "INSERT INTO line (position, stream, seq, at, v, event, hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const refuseMoved = createMoveWatch(file);

  const write = (head: Head, { stream, expectedSeq, texts, at }: Append): Appended => {
    const { seq } = seqOf.get(streamText(stream)) as { seq: number | null };
    const actual = seq ?? 0;
    if (actual !== expectedSeq) return { ok: false, conflict: { expected: expectedSeq, actual } };
    let before = head;
    const stored = texts.map((text, i) => {
      const line = lineAfter(before, stream, expectedSeq + i + 1, at, text);
      insert.run(line.position, streamText(stream), line.seq, line.at, line.v, line.event, line.hash);
      before = line;
      // As it will be read: what JSON leaves out of an event is not there for its writer either.
      return readLine(line, file);
    });
    return { ok: true, stored };
  };

  return (group) => {
    refuseMoved();
    return inTransaction(db, () => {
      let head = reading.head();
      return group.map((append) => {
        const appended = write(head, append);
        if (appended.ok) head = appended.stored.at(-1) ?? head;
        return appended;
      });
    });
  };
}

function createSnapshotWriting(db: SqliteDatabase, reading: SqliteReading): (snapshot: Snapshot) => void {
  const lineAt = db.prepare("SELECT hash FROM line WHERE position = ?");
  const insert = db.prepare(
    "INSERT OR REPLACE INTO snapshot (position, format, chain, digest, text) VALUES (?, ?, ?, ?, ?)",
  );
  const forget = db.prepare(
    "DELETE FROM snapshot WHERE rowid NOT IN (SELECT rowid FROM snapshot ORDER BY position DESC, rowid DESC LIMIT ?)",
  );
  return ({ position, format, text }) => {
    inTransaction(db, () => {
      assert(position <= reading.head().position, "a snapshot is of lines that exist");
      const { hash } = position === 0 ? START : (lineAt.get(position) as { hash: string });
      insert.run(position, format, hash, digestOf(text), text);
      forget.run(SNAPSHOTS_KEPT);
    });
  };
}

/** `IMMEDIATE`, because what is read in it must still be so when it is written. */
function inTransaction<T>(db: SqliteDatabase, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

function rollBack(db: SqliteDatabase): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // A full disk ends the transaction by itself; the error that is on its way says what happened.
  }
}

/** On Unix a file that was deleted can be written to for ever, and nobody will read it. */
function createMoveWatch(file: string): () => void {
  const inode = statSync(file).ino;
  let lookedAt = -Infinity;
  return () => {
    // Not at every commit: to ask costs as much as to write a line.
    if (performance.now() - lookedAt < LOOK_MS) return;
    if (statSync(file, { throwIfNoEntry: false })?.ino !== inode) {
      const message = `the journal ${file} was moved or deleted while it was in use`;
      const hint = "Nothing was written since. Bring the file back and run the command again.";
      throw new RemandError("journal-corrupt", message, hint);
    }
    lookedAt = performance.now();
  };
}

const LOOK_MS = 100;

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
