import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoryId } from "../../domain/ids.ts";
import type { Head, Snapshot, Stored, Verified } from "../../ports/journal.ts";
import { readLine, START, verifyChain, type Line } from "./chain.ts";
import { asJournalError, isCorrupt } from "./sqlite-errors.ts";
import type { SqliteDatabase } from "./sqlite.ts";

/** Reading, the same for whoever writes too and for whoever only looks. */
export interface SqliteReading {
  lines(after: number): AsyncGenerator<Line>;
  stored(after: number): AsyncGenerator<Stored>;
  head(): Head;
  latestSnapshot(format: string): Snapshot | null;
  verify(noted: Head | undefined): Promise<Verified>;
}

/** One look at the file takes no more than this, so that neither memory nor the process's other work suffers. */
const PAGE_LINES = 1000;
const PAGE_CHARS = 4_000_000;

export function createReading(db: SqliteDatabase, file: string): SqliteReading {
  const page = db.prepare(
    "SELECT position, stream, seq, at, v, event, hash FROM line WHERE position > ? ORDER BY position LIMIT ?",
  );
  const last = db.prepare("SELECT position, hash FROM line ORDER BY position DESC LIMIT 1");

  const readPage = (after: number): { readonly lines: readonly Line[]; readonly isLast: boolean } => {
    const lines: Line[] = [];
    let chars = 0;
    for (const row of page.iterate(after, PAGE_LINES)) {
      const line = row as Line & { stream: string };
      lines.push(line.stream === "" ? { ...line, stream: null } : line);
      chars += line.event.length;
      if (chars > PAGE_CHARS) return { lines, isLast: false };
    }
    return { lines, isLast: lines.length < PAGE_LINES };
  };
  async function* pages(after: number): AsyncGenerator<readonly Line[]> {
    for (let from = after; ; await nextTurn()) {
      const { lines, isLast } = told(file, () => readPage(from));
      yield lines;
      if (isLast) return;
      from = lines.at(-1)!.position;
    }
  }
  const head = (): Head => {
    const row = told(file, () => last.get()) as Head | undefined;
    return row === undefined ? START : { position: row.position, hash: row.hash };
  };
  async function* lines(after: number): AsyncGenerator<Line> {
    for await (const each of pages(after)) yield* each;
  }

  return {
    lines,
    stored: async function* stored(after) {
      for await (const each of pages(after)) for (const line of each) yield readLine(line, file);
    },
    head,
    latestSnapshot: createSnapshotReading(db, file),
    verify: async (noted) => verifyFile(db, lines(0), noted),
  };
}

/**
 * The newest snapshot that is whole and belongs to these very lines. Anything else is passed over: it would only have
 * been a short cut, and reading the lines instead will say if the file is damaged.
 */
function createSnapshotReading(db: SqliteDatabase, file: string): SqliteReading["latestSnapshot"] {
  const found = db.prepare(
    "SELECT position, chain, digest, text FROM snapshot WHERE format = ? ORDER BY position DESC",
  );
  const lineAt = db.prepare("SELECT hash FROM line WHERE position = ?");
  return (format) => {
    try {
      for (const row of found.iterate(format)) {
        const { position, chain, digest, text } = row as {
          position: number;
          chain: string;
          digest: string;
          text: string;
        };
        const line = position === 0 ? START : (lineAt.get(position) as { hash: string } | undefined);
        if (line?.hash === chain && digest === digestOf(text)) return { position, format, text };
      }
      return null;
    } catch (error) {
      if (isCorrupt(error)) return null;
      throw asJournalError(error, file);
    }
  };
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The chain, then the database itself: an index that lost a line would let a writer take a place twice. */
async function verifyFile(db: SqliteDatabase, lines: AsyncIterable<Line>, noted: Head | undefined): Promise<Verified> {
  let reached = 0;
  async function* counted(): AsyncGenerator<Line> {
    for await (const line of lines) {
      yield line;
      reached = line.position;
    }
  }
  try {
    const verified = await verifyChain(counted(), noted);
    if (!verified.ok) return verified;
    const { integrity_check: said } = db.prepare("PRAGMA integrity_check(1)").get() as { integrity_check: string };
    return said === "ok" ? verified : { ok: false, position: reached, problem: `the file is damaged: ${said}` };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    if (!isCorrupt(cause)) throw error;
    return { ok: false, position: reached + 1, problem: "the file is damaged from here on" };
  }
}

export function streamText(stream: StoryId | null): string {
  return stream ?? "";
}

/** Does it, and says in our words what went wrong. */
export function told<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asJournalError(error, file);
  }
}
