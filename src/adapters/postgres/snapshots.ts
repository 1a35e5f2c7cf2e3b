import { crc32 } from "node:zlib";
import type { Journal, Outlines, Snapshot, SnapshotPart } from "../../ports/journal.ts";
import { assert } from "../../stdx/assert.ts";
import { START } from "../journal/chain.ts";
import type { PostgresPool, Query } from "./pool.ts";

interface TextRow {
  readonly name: string;
  /** A large number comes as text. */
  readonly digest: string;
  readonly text: string;
}

type Reading = Pick<Journal, "latestSnapshot" | "latestOutlines" | "snapshotParts">;

/**
 * Reading of snapshots. One that is not whole, or does not belong to these very lines, is passed over: it would only
 * have been a short cut.
 */
export function createSnapshotReading(pool: PostgresPool): Reading {
  const { schema } = pool;
  const texts = (query: Query, table: string, names?: readonly string[]): Promise<readonly TextRow[]> => {
    const some = names === undefined ? "" : " WHERE name = ANY ($1)";
    const text = `SELECT name, digest, text FROM ${schema}.${table}${some} ORDER BY name`;
    return query<TextRow>({ text, ...(names === undefined ? {} : { values: [names] }) });
  };
  /** Everything that is read in it is of one moment, whatever others write meanwhile. */
  const atOneMoment = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
    pool.transaction(async (query) => {
      await query({ text: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY" });
      return work(query);
    });
  const latest = async (query: Query, format: string): Promise<Snapshot | null> => {
    const found = await find(query, schema, format);
    if (found === null) return null;
    const [parts, outlines] = [await texts(query, "part"), await texts(query, "outline")];
    if (!areWhole(parts, found.parts) || !areWhole(outlines, found.parts)) return null;
    const all = parts.map(({ name, text }, i) => ({ name, text, outline: outlines[i]!.text }));
    return { position: found.position, format, parts: all };
  };
  const outlinesOf = async (query: Query, format: string): Promise<Outlines | null> => {
    const found = await find(query, schema, format);
    if (found === null) return null;
    const rows = await texts(query, "outline");
    if (!areWhole(rows, found.parts)) return null;
    return { position: found.position, outlines: rows.map(({ name, text }) => ({ name, text })) };
  };
  const partsOf = async (query: Query, format: string, position: number, names: readonly string[]) => {
    if ((await find(query, schema, format))?.position !== position) return null;
    if (names.length === 0) return [];
    const [parts, outlines] = [await texts(query, "part", names), await texts(query, "outline", names)];
    if (!areWhole(parts, outlines.length) || !areWhole(outlines, parts.length)) return null;
    return parts.map(({ name, text }, i): SnapshotPart => ({ name, text, outline: outlines[i]!.text }));
  };
  return {
    latestSnapshot: (format) => atOneMoment((query) => latest(query, format)),
    latestOutlines: (format) => atOneMoment((query) => outlinesOf(query, format)),
    snapshotParts: (format, position, names) => atOneMoment((query) => partsOf(query, format, position, names)),
  };
}

/** The snapshot of a format, if its place in the chain is still what it was. */
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

export function createSnapshotWriting(pool: PostgresPool): Journal["saveSnapshot"] {
  return async ({ position, format, parts }, since) => {
    const [row] = await pool.query<{ saved: boolean | null }>({
      name: "save-snapshot",
      text: `SELECT ${pool.schema}.save_snapshot_1($1, $2, $3, $4, $5, $6, $7, $8) AS saved`,
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
    assert(row!.saved !== null, "a snapshot is of lines that exist");
    return row!.saved;
  };
}

function areWhole(rows: readonly TextRow[], count: number): boolean {
  return rows.length === count && rows.every(({ name, digest, text }) => Number(digest) === digestOf(name, text));
}

/** Against damage, and quick, because there are thousands. Whoever wants to deceive could write any sum there is. */
function digestOf(name: string, text: string): number {
  return crc32(text, crc32(name));
}
