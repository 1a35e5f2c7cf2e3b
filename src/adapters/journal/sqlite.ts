import { accessSync, closeSync, constants, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { RemandError, type ErrorCode, type SystemFault, systemFault } from "../../core/events/error.ts";
import type { FileMark } from "../../core/events/journal-anchor.ts";

/** The part of `node:sqlite` that is used here. The library for older Node versions has the same interface. */
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
 * Loads Node's built-in SQLite if it is recent enough, otherwise the library. Before 3.51.3 a checkpoint concurrent
 * with another process's write could damage the file, and the engine and the commands share one file.
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

/** Suppresses Node 22's warning that its SQLite may change: the user of a command can do nothing about it. */
function quietly<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Runs work in an `IMMEDIATE` transaction, so that what it reads is still true when it writes. */
export function inTransaction<T>(db: SqliteDatabase, work: () => T): T {
  return within(db, "BEGIN IMMEDIATE", work);
}

/** Runs reads in one transaction, so that all see the same state. */
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
    // A full disk ends the transaction by itself; the error being thrown says what happened.
  }
}

/** Returns the file's state; `null` if the file is missing, or lines wait in its -wal file. */
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

/** Whether lines wait in the -wal file, which happens while a process writes and after a crash. */
export function hasWaitingLines(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

export function isSameFile(a: FileMark, b: FileMark): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

/** Turns an error of SQLite or the system into one that says what to do. Other errors are bugs and pass through. */
export function asJournalError(error: unknown, file: string): unknown {
  if (error instanceof RemandError) return error;
  const known = ofSqlite(error) ?? ofSystem(error);
  if (known === null) return error;
  const [code, what, hint] = known;
  const fault = WRITING.has(what) ? faultOf(error, dirname(file)) : null;
  const why = fault === null ? "" : `: ${fault.fact}`;
  return new RemandError(code, `the journal ${file} ${what}${why}`, fault?.fix ?? hint, { cause: error });
}

/**
 * Returns the system's fault. SQLite does not say that the disk is read-only or that too many files are open; trying
 * the folder does.
 */
function faultOf(error: unknown, folder: string): SystemFault | null {
  try {
    accessSync(folder, constants.W_OK);
    closeSync(openSync(folder, "r"));
    return systemFault(error);
  } catch (refused) {
    return systemFault(error) ?? systemFault(refused);
  }
}

type SqliteError = readonly [code: ErrorCode, what: string, hint: string];

export const CORRUPT_HINT =
  "Nothing was changed. Keep a copy of the file, run `remand verify` to see how far it can be trusted, and bring it back from a backup.";
const ROOM_HINT = "Make room and run the same command again: everything up to here is kept.";
const READONLY_HINT = "Change the permissions of the file and of its folder, or run as a user who may write there.";

const BY_CODE: Readonly<Record<number, SqliteError>> = {
  5: [
    "journal-locked",
    "is being written by another process that does not finish",
    "See what holds it, and try again.",
  ],
  6: [
    "journal-locked",
    "is being written by another process that does not finish",
    "See what holds it, and try again.",
  ],
  8: ["journal-readonly", "cannot be written to", READONLY_HINT],
  10: [
    "file-unreadable",
    "cannot be reached: the disk reports an error",
    "Check the disk; nothing that was acknowledged is lost by it.",
  ],
  11: ["journal-corrupt", "is damaged", CORRUPT_HINT],
  13: ["journal-full", "cannot grow: the disk is full", ROOM_HINT],
  14: [
    "file-unreadable",
    "cannot be opened",
    "Check that it is a file, and that its folder exists and may be written to.",
  ],
  26: ["journal-corrupt", "is not a Remand journal (not an SQLite database)", CORRUPT_HINT],
};

/** The shared memory beside the file could not grow. SQLite reports an I/O error; the cause is a full disk. */
const SHARED_MEMORY_FULL = 4874;

function ofSqlite(error: unknown): SqliteError | null {
  const code = sqliteCode(error);
  if (code === null) return null;
  return BY_CODE[code === SHARED_MEMORY_FULL ? 13 : code & 0xff] ?? null;
}

const BY_NAME: Readonly<Record<string, SqliteError>> = {
  EACCES: BY_CODE[8]!,
  EPERM: BY_CODE[8]!,
  EROFS: BY_CODE[8]!,
  ENOSPC: BY_CODE[13]!,
  EDQUOT: BY_CODE[13]!,
  ENOTDIR: BY_CODE[14]!,
  EEXIST: BY_CODE[14]!,
};

function ofSystem(error: unknown): SqliteError | null {
  return BY_NAME[systemCode(error)] ?? null;
}

const WRITING: ReadonlySet<string> = new Set([BY_CODE[8]![1], BY_CODE[14]![1]]);

export const isBusy = (error: unknown): boolean => [5, 6].includes((sqliteCode(error) ?? 0) & 0xff);
export const isCorrupt = (error: unknown): boolean => [11, 26].includes((sqliteCode(error) ?? 0) & 0xff);
export const cannotOpen = (error: unknown): boolean => [8, 14].includes((sqliteCode(error) ?? 0) & 0xff);

function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode;
  return systemCode(error) === "ERR_SQLITE_ERROR" ? (BY_MESSAGE[error.message] ?? null) : null;
}

/** For reads of many rows, the library reports only SQLite's message, without its code. */
const BY_MESSAGE: Readonly<Record<string, number>> = {
  "database is locked": 5,
  "disk I/O error": 10,
  "database disk image is malformed": 11,
  "file is not a database": 26,
};

export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
