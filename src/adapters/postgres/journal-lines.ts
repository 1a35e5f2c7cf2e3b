import { createHash, randomUUID } from "node:crypto";
import type { StoryId } from "../../core/events/ids.ts";
import type { Head, StoredEvent, AppendResult } from "../../ports/journal.ts";
import { readLine, START, type Line, FORMAT, storedOf } from "../journal/chain.ts";
import type { Append, Put, Write } from "../journal/group-writer.ts";
import type { PostgresPool } from "./pool.ts";

/** Reading, shared by the writable journal and the read-only one. */
export interface PostgresReading {
  lines(after: number): AsyncGenerator<Line>;
  readStored(after: number, only?: StoryId): AsyncGenerator<StoredEvent>;
  head(): Promise<Head>;
}

type Readable = Pick<PostgresPool, "schema" | "where" | "query">;

export function createReading(pool: Readable): PostgresReading {
  const { schema, where } = pool;
  const pages = createPages(pool);

  async function* lines(after: number): AsyncGenerator<Line> {
    for await (const page of pages(after)) yield* page;
  }
  async function* readStored(after: number, only?: StoryId): AsyncGenerator<StoredEvent> {
    for await (const page of pages(after, only)) for (const line of page) yield readLine(line, where);
  }
  const head = async (): Promise<Head> => {
    const text = `SELECT position, hash FROM ${schema}.line ORDER BY position DESC LIMIT 1`;
    const [row] = await pool.query<{ position: string; hash: string }>({ name: "head", text });
    return row === undefined ? START : { position: Number(row.position), hash: row.hash };
  };
  return { lines, readStored, head };
}

/** The size of one page. It bounds memory, and how long a read blocks the process. */
const PAGE_LINES = 2000;
const PAGE_CHARS = 4_000_000;
/** The first page is small, because most readers want only a few new lines. */
const FIRST_LINES = 200;

interface LineRow extends Omit<Line, "position" | "seq" | "stream"> {
  /** The driver returns large numbers as text. */
  readonly position: string;
  readonly seq: string;
  readonly stream: string;
}

function createPages({ schema, query }: Readable): (after: number, only?: StoryId) => AsyncGenerator<readonly Line[]> {
  const columns = `SELECT position, stream, seq, at, v, event, hash FROM ${schema}.line`;
  const ofAll = `${columns} WHERE position > $1 ORDER BY position LIMIT $2`;
  const ofOne = `${columns} WHERE stream = $3 AND position > $1 ORDER BY seq LIMIT $2`;
  const page = async (after: number, limit: number, only: StoryId | undefined): Promise<readonly Line[]> => {
    const asked =
      only === undefined
        ? { name: "page", text: ofAll, values: [after, limit] }
        : { name: "page of one", text: ofOne, values: [after, limit, only] };
    return (await query<LineRow>(asked)).map(lineOf);
  };
  return async function* pages(after, only) {
    let limit = FIRST_LINES;
    let next = page(after, limit, only);
    for (;;) {
      const lines = await next;
      if (lines.length < limit) {
        yield lines;
        return;
      }
      limit = nextLimit(lines);
      // Request the next page while the caller works on this one. If the caller stops, an error of that request is
      // dropped.
      next = page(lines.at(-1)!.position, limit, only);
      next.catch(() => undefined);
      yield lines;
    }
  };
}

function lineOf({ position, stream, seq, at, v, event, hash }: LineRow): Line {
  return {
    position: Number(position),
    stream: stream === "" ? null : (stream as Exclude<Line["stream"], null>),
    seq: Number(seq),
    at,
    v,
    event,
    hash,
  };
}

function nextLimit(lines: readonly Line[]): number {
  const chars = lines.reduce((sum, line) => sum + line.event.length, 0);
  return Math.max(1, Math.min(PAGE_LINES, Math.floor((PAGE_CHARS * lines.length) / chars)));
}

/** Keys to remove from the outbox with the next commit, because no caller waits for that. */
export interface DroppedKeys {
  /** Runs work that removes the keys collected so far; keeps them for later if it fails. */
  sweep<T>(work: (keys: readonly string[]) => Promise<T>): Promise<T>;
}

/**
 * Writes a group with one server call. The call may be repeated if its reply was lost: the server recognizes each
 * append by its ticket.
 */
export function createCommit(
  pool: PostgresPool,
  writer: string,
  dropped: DroppedKeys,
): (group: readonly Write[]) => Promise<AppendResult[]> {
  const text = `SELECT * FROM ${pool.schema}.append_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;
  return async (group) => {
    const appends = group.filter((write): write is Append => !("key" in write));
    const puts = group.filter((write): write is Put => "key" in write);
    const rows = await dropped.sweep((keys) =>
      pool.query<AppendRow>({ name: "append", text, values: [writer, ...valuesOf(appends, puts, keys)] }),
    );
    const outcomes = rows.map((row, i) => outcomeOf(row, appends[i]!));
    let next = 0;
    return group.map((write) => ("key" in write ? { ok: true, stored: [] } : outcomes[next++]!));
  };
}

function valuesOf(appends: readonly Append[], puts: readonly Put[], dropped: readonly string[]): unknown[] {
  return [
    appends.map(() => randomUUID()),
    appends.map(({ stream }) => streamText(stream)),
    appends.map(({ expectedSeq }) => expectedSeq),
    appends.map(({ events }) => events.length),
    appends.map(({ at }) => JSON.stringify(at)),
    appends.flatMap(({ events }) => events.map(({ text }) => text)),
    puts.map(({ key }) => keyId(key)),
    puts.map(({ key }) => key.replaceAll("\0", "\ufffd")),
    puts.map(({ text }) => Buffer.from(text)),
    dropped.map(keyId),
  ];
}

interface AppendRow {
  readonly is_ok: boolean;
  /** The driver returns large numbers as text. */
  readonly actual: string;
  readonly first: string;
  readonly hashes: readonly string[];
}

function outcomeOf({ is_ok, actual, first, hashes }: AppendRow, append: Append): AppendResult {
  const { stream, expectedSeq, events, at } = append;
  if (!is_ok) return { ok: false, conflict: { expected: expectedSeq, actual: Number(actual) } };
  const stored = events.map(({ event }, i): StoredEvent => {
    const [position, seq] = [Number(first) + i, expectedSeq + i + 1];
    return storedOf({ position, stream, seq, at, v: FORMAT, hash: hashes[i]! }, event);
  });
  return { ok: true, stored };
}

const streamText = (stream: StoryId | null): string => stream ?? "";

/** Hashes a key, because keys may have any length and an index limits it. */
export const keyId = (key: string): string => createHash("sha256").update(key).digest("hex");
