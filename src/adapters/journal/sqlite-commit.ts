import { statSync } from "node:fs";
import { RemandError } from "../../core/events/error.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { AppendResult, Head, StoredEvent } from "../../ports/journal.ts";
import type { Outbox } from "../../ports/notifier.ts";
import { assert } from "../../stdx/assert.ts";
import { type Line, lineAfter, storedOf } from "./chain.ts";
import type { Append, Write, GroupWriter, Put } from "./group-writer.ts";
import { streamText } from "./sqlite-reading.ts";
import { type SqliteDatabase, inTransaction, asJournalError } from "./sqlite.ts";

/**
 * Writes a group in one transaction. A conflict concerns one caller: none of its lines are written, but those of the
 * others are.
 */
export function createCommit(
  db: SqliteDatabase,
  file: string,
  readHead: () => Head,
  outbox: SqliteOutbox,
): (group: readonly Write[]) => AppendResult[] {
  const refuseMoved = createMoveWatch(file);
  const lengths = createLengths(db);
  const { append, alone } = createLineWriting(db, lengths);

  const writeGroup = (head: Head, group: readonly Write[]): { outcomes: AppendResult[]; head: Head } => {
    let last = head;
    const outcomes = group.map((write): AppendResult => {
      if ("key" in write) {
        outbox.put(write);
        return { ok: true, stored: [] };
      }
      const appended = append(last, write);
      if (appended.ok) last = appended.stored.at(-1) ?? last;
      return appended;
    });
    outbox.sweep();
    return { outcomes, head: last };
  };

  return (group) => {
    refuseMoved();
    try {
      const appended = alone(group);
      if (appended !== null) return [appended];
      const { outcomes, head } = inTransaction(db, () => {
        const now = readHead();
        lengths.expect(now);
        return writeGroup(now, group);
      });
      lengths.committed(head);
      outbox.onCommitted();
      return outcomes;
    } catch (error) {
      lengths.forget();
      throw error;
    }
  };
}

/** Inserts lines: those of one caller within a transaction, or a single line without one. */
function createLineWriting(db: SqliteDatabase, lengths: Lengths) {
  const values = "line (position, stream, seq, at, v, event, hash) VALUES (?, ?, ?, ?, ?, ?, ?)";
  const insert = db.prepare(`INSERT INTO ${values}`);
  const insertIfFree = db.prepare(`INSERT OR IGNORE INTO ${values}`);
  return {
    append(head: Head, { stream, expectedSeq, events, at }: Append): AppendResult {
      const actual = lengths.of(stream);
      if (actual !== expectedSeq) return { ok: false, conflict: { expected: expectedSeq, actual } };
      const stored: StoredEvent[] = [];
      let before = head;
      for (const [i, { text, event }] of events.entries()) {
        const line = lineAfter(before, stream, expectedSeq + i + 1, at, text);
        insert.run(...columnsOf(line));
        before = line;
        stored.push(storedOf(line, event));
      }
      lengths.set(stream, expectedSeq + events.length);
      return { ok: true, stored };
    },
    /**
     * Writes a single line with one statement, which is enough for most groups if no other process has written. `null`:
     * not possible, use a transaction.
     */
    alone([write, ...others]: readonly Write[]): AppendResult | null {
      const head = lengths.head();
      if (write === undefined || others.length > 0 || "key" in write || head === null) return null;
      const { stream, expectedSeq, events, at } = write;
      const [first, ...more] = events;
      if (first === undefined || more.length > 0 || lengths.remembered(stream) !== expectedSeq) return null;
      const line = lineAfter(head, stream, expectedSeq + 1, at, first.text);
      // Zero changes: another process took the position.
      if (Number(insertIfFree.run(...columnsOf(line)).changes) === 0) return null;
      lengths.set(stream, line.seq);
      lengths.committed(line);
      return { ok: true, stored: [storedOf(line, first.event)] };
    },
  };
}

function columnsOf({ position, stream, seq, at, v, event, hash }: Line): readonly (string | number)[] {
  return [position, streamText(stream), seq, at, v, event, hash];
}

type Lengths = ReturnType<typeof createLengths>;

/** The number of lines per stream, cached while only this writer writes. */
function createLengths(db: SqliteDatabase) {
  const seqOf = db.prepare("SELECT max(seq) AS seq FROM line WHERE stream = ?");
  const known = new Map<StoryId | null, number>();
  let knownAt: Head | null = null;
  return {
    of: (stream: StoryId | null): number => {
      const remembered = known.get(stream);
      if (remembered !== undefined) return remembered;
      const { seq } = seqOf.get(streamText(stream)) as { seq: number | null };
      return seq ?? 0;
    },
    /** An unknown stream counts as new; if it is not, inserting its first line fails. */
    remembered: (stream: StoryId | null): number => known.get(stream) ?? 0,
    /** The head after this writer's last line. */
    head: (): Head | null => knownAt,
    set: (stream: StoryId | null, length: number): void => void known.set(stream, length),
    /** Clears the cache if the head's hash differs: another process has written. */
    expect: ({ hash }: Head): void => {
      if (hash !== knownAt?.hash) known.clear();
    },
    committed: (head: Head): void => {
      knownAt = head;
    },
    forget: (): void => known.clear(),
  };
}

/**
 * Detects that the file was moved or deleted: on Unix a process can go on writing to a deleted file, and the lines
 * would be lost.
 */
function createMoveWatch(file: string): () => void {
  const inode = statSync(file).ino;
  let lookedAt = -Infinity;
  return () => {
    // Not at every commit, because the check costs as much as writing a line.
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

/**
 * The outbox as a table in the journal's file. A put is committed together with the other writes of the moment. Dropped
 * texts are deleted with the next put, because no caller waits for that.
 */
interface SqliteOutbox {
  /** Within a group's transaction: `put` writes a text, `sweep` deletes dropped ones. */
  put(put: Put): void;
  sweep(): void;
  /** Call after the group is committed. */
  onCommitted(): void;
  /** Deletes what was dropped since the last commit. */
  close(): void;
  through(writer: GroupWriter): Outbox;
}

export function createSqliteOutbox(db: SqliteDatabase, file: string): SqliteOutbox {
  const insert = db.prepare("INSERT OR REPLACE INTO outbox (key, text) VALUES (?, ?)");
  const select = db.prepare("SELECT text FROM outbox WHERE key = ?");
  const remove = db.prepare("DELETE FROM outbox WHERE key = ?");
  const dropped = new Set<string>();
  let swept: string[] = [];

  const sweep = (): void => {
    swept = [...dropped];
    for (const key of swept) remove.run(key);
  };
  const onCommitted = (): void => {
    for (const key of swept) dropped.delete(key);
    swept = [];
  };
  return {
    put: ({ key, text }) => void insert.run(key, text),
    sweep,
    onCommitted,
    close: () => {
      if (dropped.size === 0) return;
      inTransaction(db, sweep);
      onCommitted();
    },
    through: (writer) => ({
      put: async (key, text) => {
        // A key that is put again must not be deleted. Take it off the list now, before the write is queued.
        dropped.delete(key);
        const { ok } = await writer.write({ key, text });
        assert(ok, "putting into the outbox cannot conflict");
      },
      get: async (key) => {
        if (dropped.has(key)) return null;
        try {
          return (select.get(key) as { text: string } | undefined)?.text ?? null;
        } catch (error) {
          throw asJournalError(error, file);
        }
      },
      drop: async (key) => void dropped.add(key),
    }),
  };
}
