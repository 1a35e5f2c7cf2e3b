import { statSync } from "node:fs";
import { RemandError } from "../../domain/error.ts";
import type { StoryId } from "../../domain/ids.ts";
import type { Appended, Head, Stored } from "../../ports/journal.ts";
import { lineAfter, readLine } from "./chain.ts";
import type { Append, Write } from "./group-writer.ts";
import type { SqliteOutbox } from "./sqlite-outbox.ts";
import { streamText } from "./sqlite-reading.ts";
import { inTransaction } from "./sqlite-transaction.ts";
import type { SqliteDatabase } from "./sqlite.ts";

/** Writes a group in one transaction. A conflict concerns one caller: nothing of it is written, the others' lines are. */
export function createCommit(
  db: SqliteDatabase,
  file: string,
  readHead: () => Head,
  outbox: SqliteOutbox,
): (group: readonly Write[]) => Appended[] {
  const insert = db.prepare(
    "INSERT INTO line (position, stream, seq, at, v, event, hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const refuseMoved = createMoveWatch(file);
  const lengths = createLengths(db);

  const append = (head: Head, { stream, expectedSeq, texts, at }: Append): Appended => {
    const actual = lengths.of(stream);
    if (actual !== expectedSeq) return { ok: false, conflict: { expected: expectedSeq, actual } };
    const stored: Stored[] = [];
    let before = head;
    for (const [i, text] of texts.entries()) {
      const line = lineAfter(before, stream, expectedSeq + i + 1, at, text);
      insert.run(line.position, streamText(stream), line.seq, line.at, line.v, line.event, line.hash);
      before = line;
      // As it will be read: what JSON leaves out of an event is not there for its writer either.
      stored.push(readLine(line, file));
    }
    lengths.set(stream, expectedSeq + texts.length);
    return { ok: true, stored };
  };
  const written = (head: Head, group: readonly Write[]): { outcomes: Appended[]; head: Head } => {
    let last = head;
    const outcomes = group.map((write): Appended => {
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
      const { outcomes, head } = inTransaction(db, () => {
        const now = readHead();
        lengths.expect(now);
        return written(now, group);
      });
      lengths.committed(head);
      outbox.committed();
      return outcomes;
    } catch (error) {
      lengths.forget();
      throw error;
    }
  };
}

/** How many lines each stream has. It is remembered for as long as nobody but this writer has written. */
function createLengths(db: SqliteDatabase) {
  const seqOf = db.prepare("SELECT max(seq) AS seq FROM line WHERE stream = ?");
  const known = new Map<StoryId | null, number>();
  let knownAt = "";
  return {
    of: (stream: StoryId | null): number => {
      const remembered = known.get(stream);
      if (remembered !== undefined) return remembered;
      const { seq } = seqOf.get(streamText(stream)) as { seq: number | null };
      return seq ?? 0;
    },
    set: (stream: StoryId | null, length: number): void => void known.set(stream, length),
    /** The chain's hash says whether these are the lines that were there before, and all of them. */
    expect: ({ hash }: Head): void => {
      if (hash !== knownAt) known.clear();
    },
    committed: ({ hash }: Head): void => {
      knownAt = hash;
    },
    forget: (): void => known.clear(),
  };
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
