import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoryId } from "../../core/events/ids.ts";
import type { Head, StoredEvent, VerifyResult } from "../../ports/journal.ts";
import { readLine, START, verifyChain, type Line } from "./chain.ts";
import { createSnapshotReading, type SqliteSnapshots } from "./sqlite-snapshots.ts";
import { type SqliteDatabase, asJournalError, isCorrupt } from "./sqlite.ts";

/** Reading, shared by the writable journal and the read-only one. */
export interface SqliteReading {
  lines(after: number): AsyncGenerator<Line>;
  readStored(after: number, only?: StoryId): AsyncGenerator<StoredEvent>;
  head(): Head;
  hashAt(position: number): string | null;
  readonly snapshots: SqliteSnapshots;
  verify(noted?: Head, onProgress?: (checked: number) => void): Promise<VerifyResult>;
  /** Verifies only the lines after one that is known to be correct. */
  verifyAfter(from: Head): Promise<VerifyResult>;
}

export function createReading(db: SqliteDatabase, file: string): SqliteReading {
  const last = db.prepare("SELECT position, hash FROM line ORDER BY position DESC LIMIT 1");
  const pages = createPages(db, file);

  async function* lines(after: number): AsyncGenerator<Line> {
    for await (const page of pages(after)) yield* page;
  }
  async function* readStored(after: number, only?: StoryId): AsyncGenerator<StoredEvent> {
    for await (const page of pages(after, only)) for (const line of page) yield readLine(line, file);
  }
  const head = (): Head => {
    try {
      const row = last.get() as Head | undefined;
      return row === undefined ? START : { position: row.position, hash: row.hash };
    } catch (error) {
      throw asJournalError(error, file);
    }
  };
  const atPosition = db.prepare("SELECT hash FROM line WHERE position = ?");
  const hashAt = (position: number): string | null => {
    if (position === START.position) return START.hash;
    try {
      return (atPosition.get(position) as { hash: string } | undefined)?.hash ?? null;
    } catch (error) {
      throw asJournalError(error, file);
    }
  };
  return {
    lines,
    readStored,
    head,
    hashAt,
    snapshots: createSnapshotReading(db, file),
    verify: (noted, onProgress) => verifyFile(db, lines(0), noted, onProgress),
    verifyAfter: (from) => verifyChain(lines(from.position), undefined, undefined, from),
  };
}

/** The size of one page. It bounds memory, and how long a read blocks the process. */
const PAGE_LINES = 1000;
const PAGE_CHARS = 4_000_000;
/** The first page is small, because most readers want only a few new lines. */
const FIRST_LINES = 100;

function createPages(
  db: SqliteDatabase,
  file: string,
): (after: number, only?: StoryId) => AsyncGenerator<readonly Line[]> {
  const columns = "SELECT position, stream, seq, at, v, event, hash FROM line";
  const ofAll = db.prepare(`${columns} WHERE position > ? ORDER BY position LIMIT ?`);
  // Uses the index of streams, so that reading one story's lines does not read the other stories' lines.
  const ofOne = db.prepare(`${columns} WHERE stream = ? AND position > ? ORDER BY seq LIMIT ?`);
  const page = (after: number, limit: number, only: StoryId | undefined): readonly Line[] => {
    const rows = only === undefined ? ofAll.all(after, limit) : ofOne.all(only, after, limit);
    return (rows as (Line & { stream: string })[]).map((line) =>
      line.stream === "" ? { ...line, stream: null } : line,
    );
  };
  return async function* pages(after, only) {
    let from = after;
    let limit = FIRST_LINES;
    for (let isDamaged = false; ; await nextTurn()) {
      let lines: readonly Line[];
      try {
        lines = page(from, limit, only);
      } catch (error) {
        if (!isCorrupt(error) || isDamaged) throw asJournalError(error, file);
        // There is damage in this page: return the lines before it one by one.
        isDamaged = true;
        limit = 1;
        continue;
      }
      yield lines;
      if (lines.length < limit) return;
      from = lines.at(-1)!.position;
      if (!isDamaged) limit = nextLimit(lines);
    }
  };
}

function nextLimit(lines: readonly Line[]): number {
  const chars = lines.reduce((sum, line) => sum + line.event.length, 0);
  return Math.max(1, Math.min(PAGE_LINES, Math.floor((PAGE_CHARS * lines.length) / chars)));
}

/** Verifies the chain, then the database itself: an index that lost a line would allow a position to be used twice. */
async function verifyFile(
  db: SqliteDatabase,
  lines: AsyncIterable<Line>,
  noted: Head | undefined,
  onProgress: ((checked: number) => void) | undefined,
): Promise<VerifyResult> {
  let reached = 0;
  async function* countLines(): AsyncGenerator<Line> {
    for await (const line of lines) {
      yield line;
      reached = line.position;
    }
  }
  try {
    const verified = await verifyChain(countLines(), noted, onProgress);
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
