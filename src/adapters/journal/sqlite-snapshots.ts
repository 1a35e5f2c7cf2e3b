import { crc32 } from "node:zlib";
import type { Head, Outlines, Snapshot, SnapshotPart } from "../../ports/journal.ts";
import { assert } from "../../stdx/assert.ts";
import { START } from "./chain.ts";
import { type SqliteDatabase, atOneMoment, inTransaction, asJournalError, isCorrupt } from "./sqlite.ts";

/**
 * Reads snapshots. One that is incomplete, or does not match the lines, is ignored: it is only a cache, and reading the
 * lines instead shows whether the file is damaged.
 */
export interface SqliteSnapshots {
  latest(format: string): Snapshot | null;
  outlines(format: string, names?: readonly string[]): Outlines | null;
  parts(format: string, position: number, names: readonly string[]): readonly SnapshotPart[] | null;
}

interface SnapshotRow {
  readonly position: number;
  readonly format: string;
  readonly chain: string;
  readonly parts: number;
}

interface SqliteTextRow {
  readonly name: string;
  readonly digest: number;
  readonly text: string;
}

export function createSnapshotReading(db: SqliteDatabase, file: string): SqliteSnapshots {
  const found = createFinding(db);
  const allParts = db.prepare("SELECT name, digest, text FROM part ORDER BY name");
  const allOutlines = db.prepare("SELECT name, digest, text FROM outline ORDER BY name");
  const onePart = db.prepare("SELECT name, digest, text FROM part WHERE name = ?");
  const oneOutline = db.prepare("SELECT name, digest, text FROM outline WHERE name = ?");

  const outlinesOf = ({ parts }: SnapshotRow): Outlines["outlines"] | null => {
    const rows = allOutlines.all() as SqliteTextRow[];
    return rows.length === parts && rows.every(isWhole) ? rows.map(({ name, text }) => ({ name, text })) : null;
  };
  const someOutlines = (names: readonly string[]): Outlines["outlines"] | null => {
    const rows = names.flatMap((name) => (oneOutline.get(name) as SqliteTextRow | undefined) ?? []);
    return rows.every(isWhole) ? rows.map(({ name, text }) => ({ name, text })) : null;
  };
  const latest = (format: string): Snapshot | null => {
    const row = found(format);
    const outlines = row === null ? null : outlinesOf(row);
    if (row === null || outlines === null) return null;
    const rows = allParts.all() as SqliteTextRow[];
    if (rows.length !== row.parts || !rows.every(isWhole)) return null;
    const parts = rows.map(({ name, text }, i) => ({ name, text, outline: outlines[i]!.text }));
    return { position: row.position, format, parts };
  };
  const parts = (format: string, position: number, names: readonly string[]): readonly SnapshotPart[] | null => {
    if (found(format)?.position !== position) return null;
    const some: SnapshotPart[] = [];
    for (const name of names) {
      const [row, outline] = [
        onePart.get(name) as SqliteTextRow | undefined,
        oneOutline.get(name) as SqliteTextRow | undefined,
      ];
      if (row === undefined || outline === undefined) continue;
      if (!isWhole(row) || !isWhole(outline)) return null;
      some.push({ name, text: row.text, outline: outline.text });
    }
    return some;
  };
  const unlessDamaged = <T>(work: () => T): T | null => {
    try {
      return atOneMoment(db, work);
    } catch (error) {
      if (isCorrupt(error)) return null;
      throw asJournalError(error, file);
    }
  };
  return {
    latest: (format) => unlessDamaged(() => latest(format)),
    outlines: (format, names) =>
      unlessDamaged(() => {
        const row = found(format);
        const outlines = row === null ? null : names === undefined ? outlinesOf(row) : someOutlines(names);
        return row === null || outlines === null ? null : { position: row.position, parts: row.parts, outlines };
      }),
    parts: (format, position, names) => unlessDamaged(() => parts(format, position, names)),
  };
}

/** Returns the snapshot of a format, if the line at its position still has the recorded hash. */
function createFinding(db: SqliteDatabase): (format: string) => SnapshotRow | null {
  const find = db.prepare("SELECT position, format, chain, parts FROM snapshot WHERE format = ?");
  const hashAt = createHashAt(db);
  return (format) => {
    const row = find.get(format) as SnapshotRow | undefined;
    return row !== undefined && hashAt(row.position) === row.chain ? row : null;
  };
}

function createHashAt(db: SqliteDatabase): (position: number) => string | undefined {
  const lineAt = db.prepare("SELECT hash FROM line WHERE position = ?");
  return (position) =>
    position === START.position ? START.hash : (lineAt.get(position) as { hash: string } | undefined)?.hash;
}

export function createSnapshotWriting(
  db: SqliteDatabase,
  head: () => Head,
): (snapshot: Snapshot, since: number | null) => boolean {
  const found = createFinding(db);
  const hashAt = createHashAt(db);
  const insert = db.prepare("INSERT INTO snapshot (position, format, chain, parts) VALUES (?, ?, ?, ?)");
  const putPart = db.prepare("INSERT OR REPLACE INTO part (name, digest, text) VALUES (?, ?, ?)");
  const putOutline = db.prepare("INSERT OR REPLACE INTO outline (name, digest, text) VALUES (?, ?, ?)");
  const count = db.prepare("SELECT count(*) AS parts FROM part");
  return ({ position, format, parts }, since) =>
    inTransaction(db, () => {
      assert(position <= head().position, "a snapshot is of lines that exist");
      if (since !== null && found(format)?.position !== since) return false;
      if (since === null) db.exec("DELETE FROM part; DELETE FROM outline");
      db.exec("DELETE FROM snapshot");
      for (const { name, text, outline } of parts) {
        putPart.run(name, digestOf(name, text), text);
        putOutline.run(name, digestOf(name, outline), outline);
      }
      const { parts: all } = count.get() as { parts: number };
      insert.run(position, format, hashAt(position)!, all);
      return true;
    });
}

const isWhole = ({ name, digest, text }: SqliteTextRow): boolean => digest === digestOf(name, text);

/** A quick checksum against damage, because there are thousands of parts. It does not protect against forgery. */
function digestOf(name: string, text: string): number {
  return crc32(text, crc32(name));
}
