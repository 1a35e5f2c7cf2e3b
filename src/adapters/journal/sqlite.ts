import { statSync } from "node:fs";
import { RemandError } from "../../core/events/error.ts";
import type { FileMark } from "../../core/events/journal-anchor.ts";

/** The part of `node:sqlite` that is used here; the library for older Nodes has the same. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

interface SqliteStatement {
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqliteValue[]): unknown;
  all(...values: readonly SqliteValue[]): unknown[];
}

type SqliteValue = string | number | null;

interface Sqlite {
  readonly DatabaseSync: new (file: string, options: { readonly readOnly: boolean }) => SqliteDatabase;
}

export async function openSqlite(file: string, access: "read" | "write"): Promise<SqliteDatabase> {
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(file, { readOnly: access === "read" });
  return {
    exec: (sql) => db.exec(sql),
    prepare: (sql) => {
      const statement = db.prepare(sql);
      keepers.set(statement, db);
      return statement;
    },
    close: () => db.close(),
  };
}

/** The library closes an unreferenced database even while its statements are in use, so each statement refers to it. */
const keepers = new WeakMap<SqliteStatement, SqliteDatabase>();

/**
 * The SQLite that Node has built in, where it is there and good enough; else the library. Before 3.51.3 a checkpoint
 * that met another process's write could damage the file, and the engine and the commands share ours.
 */
export async function loadSqlite(): Promise<Sqlite> {
  if (isAtLeast(process.versions["sqlite"], 3, 51, 3)) {
    const builtIn = quietly(() => process.getBuiltinModule("node:sqlite")) as Sqlite | undefined;
    if (builtIn !== undefined) return builtIn;
  }
  try {
    return await import("@photostructure/sqlite");
  } catch (error) {
    const message = `there is no SQLite for ${process.platform} ${process.arch} with Node ${process.versions.node}`;
    throw new RemandError("file-unreadable", message, "Use Node 24 or newer, which has one built in.", {
      cause: error,
    });
  }
}

function isAtLeast(version: string | undefined, ...wanted: readonly number[]): boolean {
  if (version === undefined) return false;
  const parts = version.split(".").map(Number);
  for (const [i, part] of wanted.entries()) if (parts[i] !== part) return (parts[i] ?? 0) > part;
  return true;
}

/** Node 22 warns on first use that its SQLite may change; the person who runs a command can do nothing about it. */
function quietly<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** `IMMEDIATE`, because what is read in it must still be so when it is written. */
export function inTransaction<T>(db: SqliteDatabase, work: () => T): T {
  return within(db, "BEGIN IMMEDIATE", work);
}

/** Everything that is read in it is of one moment, whatever others write meanwhile. */
export function atOneMoment<T>(db: SqliteDatabase, work: () => T): T {
  return within(db, "BEGIN", work);
}

function within<T>(db: SqliteDatabase, begin: string, work: () => T): T {
  db.exec(begin);
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

/** `null`: the file is not there, or lines that are not in it yet wait beside it. */
export function fileMarkOf(file: string): FileMark | null {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || hasWaitingLines(file)) return null;
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return {
    dev: String(dev),
    ino: String(ino),
    size: String(size),
    mtimeNs: String(mtimeNs),
    ctimeNs: String(ctimeNs),
  };
}

/** Lines wait in the -wal file while a process writes, and after a crash. */
export function hasWaitingLines(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

export function isSameFile(a: FileMark, b: FileMark): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}
