import { crc32 } from "node:zlib";
import type { Journal, Outlines, Snapshot, SnapshotPart } from "../../ports/journal.ts";
import { assert } from "../../stdx/assert.ts";
import { START } from "../journal/chain.ts";
import type { PostgresPool, Query } from "./pool.ts";

interface PostgresTextRow {
  readonly name: string;
  /** The driver returns large numbers as text. */
  readonly digest: string;
  readonly text: string;
}

type SnapshotReader = Pick<Journal, "latestSnapshot" | "latestOutlines" | "snapshotParts">;

/** Reads snapshots. One that is incomplete, or does not match the lines, is ignored: it is only a cache. */
export function createSnapshotReading(pool: PostgresPool): SnapshotReader {
  const { schema } = pool;
  const some = (query: Query, table: string, names: readonly string[]): Promise<readonly PostgresTextRow[]> => {
    const text = `SELECT name, digest, text FROM ${schema}.${table} WHERE name = ANY ($1) ORDER BY name`;
    return query<PostgresTextRow>({ text, values: [names] });
  };
  /** In pages, so that each reply is small enough to arrive in time. */
  const all = async (query: Query, table: string): Promise<readonly PostgresTextRow[]> => {
    const text = `SELECT name, digest, text FROM ${schema}.${table} WHERE name >= $1 AND name <> $2
      ORDER BY name LIMIT ${PAGE_ROWS}`;
    const rows: PostgresTextRow[] = [];
    for (let from = "", seen = NO_NAME; ; seen = from) {
      const page = await query<PostgresTextRow>({ name: `all-${table}`, text, values: [from, seen] });
      for (const row of page) rows.push(row);
      if (page.length < PAGE_ROWS) return rows;
      from = page.at(-1)!.name;
    }
  };
  /** Runs reads in one transaction, so that all see the same state. */
  const atOneMoment = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
    pool.transaction(async (query) => {
      await query({ text: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY" });
      return work(query);
    });
  const latest = async (query: Query, format: string): Promise<Snapshot | null> => {
    const found = await find(query, schema, format);
    if (found === null) return null;
    const [parts, outlines] = [await all(query, "part"), await all(query, "outline")];
    if (!areWhole(parts, found.parts) || !areWhole(outlines, found.parts)) return null;
    const whole = parts.map(({ name, text }, i) => ({ name, text, outline: outlines[i]!.text }));
    return { position: found.position, format, parts: whole };
  };
  const outlinesOf = async (query: Query, format: string, names?: readonly string[]): Promise<Outlines | null> => {
    const found = await find(query, schema, format);
    if (found === null) return null;
    const rows = await (names === undefined ? all(query, "outline") : some(query, "outline", names));
    if (!areWhole(rows, names === undefined ? found.parts : rows.length)) return null;
    return { position: found.position, parts: found.parts, outlines: rows.map(({ name, text }) => ({ name, text })) };
  };
  const partsOf = async (query: Query, format: string, position: number, names: readonly string[]) => {
    if ((await find(query, schema, format))?.position !== position) return null;
    if (names.length === 0) return [];
    const [parts, outlines] = [await some(query, "part", names), await some(query, "outline", names)];
    if (!areWhole(parts, outlines.length) || !areWhole(outlines, parts.length)) return null;
    return parts.map(({ name, text }, i): SnapshotPart => ({ name, text, outline: outlines[i]!.text }));
  };
  return {
    latestSnapshot: (format) => atOneMoment((query) => latest(query, format)),
    latestOutlines: (format, names) => atOneMoment((query) => outlinesOf(query, format, names)),
    snapshotParts: (format, position, names) => atOneMoment((query) => partsOf(query, format, position, names)),
  };
}

const PAGE_ROWS = 5000;
/** No part has this name: on the first page, `<>` excludes nothing. */
const NO_NAME = "\u0001";

/** Returns the snapshot of a format, if the line at its position still has the recorded hash. */
async function find(query: Query, schema: string, format: string): Promise<{ position: number; parts: number } | null> {
  const [row] = await query<{ position: string; parts: number; chain: string; hash: string | null }>({
    name: "snapshot",
    text: `SELECT snapshot.position, parts, chain, hash FROM ${schema}.snapshot
      LEFT JOIN ${schema}.line ON line.position = snapshot.position WHERE format = $1`,
    values: [format],
  });
  if (row === undefined) return null;
  const position = Number(row.position);
  const hash = position === START.position ? START.hash : row.hash;
  return hash === row.chain ? { position, parts: row.parts } : null;
}

/**
 * Reads and saves snapshots for one of many workers. All fold the same lines, so one snapshot serves all: the worker
 * whose changes fit the stored snapshot keeps updating it. Any other worker would have to write it in full, so it
 * treats its snapshot as saved while the stored one is recent. A worker that never saw a complete snapshot always
 * writes one.
 */
export function createSharedSnapshots(pool: PostgresPool): SnapshotReader & Pick<Journal, "saveSnapshot"> {
  const reading = createSnapshotReading(pool);
  const save = createSnapshotWriting(pool);
  let hasSeenOne = false;
  const isKeptByAnother = async ({ position, format }: Snapshot, since: number | null): Promise<boolean> => {
    const found = await find(pool.query, pool.schema, format);
    return found !== null && found.position !== since && found.position > position - LONG_LINES;
  };
  return {
    ...reading,
    latestSnapshot: async (format) => {
      const snapshot = await reading.latestSnapshot(format);
      hasSeenOne ||= snapshot !== null;
      return snapshot;
    },
    saveSnapshot: async (snapshot, since) => {
      if (hasSeenOne && (await isKeptByAnother(snapshot, since))) return true;
      const isSaved = await save(snapshot, since);
      hasSeenOne ||= isSaved;
      return isSaved;
    },
  };
}

/** Several times the usual distance between two snapshots. */
const LONG_LINES = 5000;

/**
 * Writes the parts in pieces that fit into a message. Each piece continues the one before, and all are in one
 * transaction.
 */
export function createSnapshotWriting(pool: PostgresPool): Journal["saveSnapshot"] {
  return async ({ position, format, parts }, since) => {
    const pieces = inPieces(parts);
    const saved = await (pieces.length === 1
      ? savePiece(pool.query, pool.schema, { position, format, parts }, since)
      : pool.transaction(async (query) => {
          for (const [i, piece] of pieces.entries()) {
            const answer = await savePiece(
              query,
              pool.schema,
              { position, format, parts: piece },
              i === 0 ? since : position,
            );
            if (answer !== true) return answer;
          }
          return true;
        }));
    assert(saved !== null, "a snapshot is of lines that exist");
    return saved;
  };
}

const PIECE_CHARS = 4_000_000;

function inPieces(parts: readonly SnapshotPart[]): readonly (readonly SnapshotPart[])[] {
  const pieces: SnapshotPart[][] = [[]];
  let chars = 0;
  for (const part of parts) {
    if (chars > PIECE_CHARS) {
      pieces.push([]);
      chars = 0;
    }
    pieces.at(-1)!.push(part);
    chars += part.text.length + part.outline.length;
  }
  return pieces;
}

async function savePiece(
  query: Query,
  schema: string,
  { position, format, parts }: Snapshot,
  since: number | null,
): Promise<boolean | null> {
  const [row] = await query<{ saved: boolean | null }>({
    name: "save-snapshot",
    text: `SELECT ${schema}.save_snapshot_2($1, $2, $3, $4, $5, $6, $7, $8) AS saved`,
    values: [
      position,
      format,
      since,
      parts.map(({ name }) => name),
      parts.map(({ name, text }) => digestOf(name, text)),
      parts.map(({ text }) => text),
      parts.map(({ name, outline }) => digestOf(name, outline)),
      parts.map(({ outline }) => outline),
    ],
  });
  return row!.saved;
}

function areWhole(rows: readonly PostgresTextRow[], count: number): boolean {
  return rows.length === count && rows.every(({ name, digest, text }) => Number(digest) === digestOf(name, text));
}

/** A quick checksum against damage, because there are thousands of parts. It does not protect against forgery. */
function digestOf(name: string, text: string): number {
  return crc32(text, crc32(name));
}
