import { randomBytes } from "node:crypto";
import { access, constants, link, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { RemandError } from "../../core/events/error.ts";
import { assert } from "../../stdx/assert.ts";
import {
  type SqliteDatabase,
  openSqlite,
  inTransaction,
  CORRUPT_HINT,
  cannotOpen,
  isBusy,
  systemCode,
} from "./sqlite.ts";

/** "REMA": marks a database as a journal of Remand. */
const APPLICATION = 0x52454d41;
const SCHEMA = 1;

const IDENTITY_TABLE = "CREATE TABLE identity (id TEXT NOT NULL, since INTEGER NOT NULL) STRICT;";

/**
 * The project's own stream is the empty text, because two NULLs do not conflict in SQLite. Outlines are stored apart
 * from their parts, so that reading all outlines takes few pages. The view is for people who open the file with other
 * programs.
 */
const TABLES = `
  CREATE TABLE line (
    position INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    v INTEGER NOT NULL,
    event TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (stream, seq)
  ) STRICT;
  CREATE TABLE snapshot (
    position INTEGER NOT NULL,
    format TEXT NOT NULL,
    chain TEXT NOT NULL,
    parts INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE part (name TEXT PRIMARY KEY, digest INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
  CREATE TABLE outline (name TEXT PRIMARY KEY, digest INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
  CREATE TABLE outbox (key TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
  ${IDENTITY_TABLE}
  CREATE VIEW log AS
    SELECT position, stream, seq, datetime(at / 1000, 'unixepoch') AS at, json_extract(event, '$.type') AS type, event
    FROM line;
  PRAGMA application_id = ${APPLICATION};
  PRAGMA user_version = ${SCHEMA};
`;

/** How long SQLite waits for a lock. Short, because it blocks the whole process. */
const BUSY_MS = 50;

/** Opens the journal, and creates it if it does not exist. Writes only to a complete journal. */
export async function openForWriting(file: string, lockTimeoutMs: number, newId: string): Promise<SqliteDatabase> {
  await mkdir(dirname(file), { recursive: true });
  await access(dirname(file), constants.W_OK);
  if ((await sizeOf(file)) === null) {
    await refuseLeftOver(file);
    await create(file, newId);
  }
  await refuseEmpty(file);
  // Without this check, SQLite would silently open a read-only file for reading.
  await access(file, constants.R_OK | constants.W_OK);
  return whenFree(lockTimeoutMs, () =>
    openPrepared(file, "write", (db) => {
      refuseForeign(db, file);
      db.exec("PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 2000");
      // On macOS only, a plain sync does not flush the disk's own cache.
      if (process.platform === "darwin") db.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON");
      db.exec("PRAGMA journal_mode = WAL");
      db.exec("BEGIN IMMEDIATE");
      db.exec("ROLLBACK");
    }),
  );
}

/**
 * Tidies up and checkpoints, so that the file is complete without its -wal file. Node's SQLite does that on close; the
 * library closes the file only when its statements are garbage collected. Returns the result of `last` after the
 * checkpoint, or `null` if it failed.
 */
export function closeWritten<T>(db: SqliteDatabase, tidy: () => void, last: () => T): T | null {
  try {
    tidy();
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return last();
  } catch {
    // The lines are safe in the -wal file; the next process that opens the journal checkpoints them.
    return null;
  } finally {
    db.close();
  }
}

/** Opens the journal for reading. Creates and changes no file. */
export async function openForReading(file: string, lockTimeoutMs: number): Promise<SqliteDatabase> {
  if ((await sizeOf(file)) === null) {
    throw new RemandError("file-missing", `there is no journal at ${file}`, "Nothing has run here yet.");
  }
  await refuseEmpty(file);
  return whenFree(lockTimeoutMs, async () => {
    try {
      return await openPrepared(file, "read", (db) => refuseForeign(db, file));
    } catch (error) {
      // In a read-only folder SQLite cannot share the file. Without waiting lines there is no writer, so it can be
      // opened as immutable.
      if (!cannotOpen(error) || ((await sizeOf(`${file}-wal`)) ?? 0) > 0) throw error;
      const frozen = `${pathToFileURL(file).href}?immutable=1`;
      return openPrepared(frozen, "read", (db) => refuseForeign(db, file));
    }
  });
}

/** Runs work as soon as no other connection locks the file. Waits without blocking the process. */
export async function whenFree<T>(lockTimeoutMs: number, work: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + lockTimeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await sleep(BUSY_MS);
    }
  }
}

async function openPrepared(
  file: string,
  access: "read" | "write",
  prepare: (db: SqliteDatabase) => void,
): Promise<SqliteDatabase> {
  const db = await openSqlite(file, access);
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    prepare(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function refuseForeign(db: SqliteDatabase, file: string): void {
  if (pragma(db, "application_id") !== APPLICATION) {
    const message = `${file} is a database, but not a Remand journal`;
    throw new RemandError("journal-corrupt", message, "Nothing was changed. Give the journal another place.");
  }
  const version = pragma(db, "user_version");
  if (version > SCHEMA) {
    const message = `the journal ${file} has version ${version}, and this Remand knows ${SCHEMA}`;
    throw new RemandError("journal-newer", message, "Nothing was changed. Use the newer Remand that wrote it.");
  }
  refuseMoved(db, file);
}

function pragma(db: SqliteDatabase, name: string): number {
  return Number(Object.values(db.prepare(`PRAGMA ${name}`).get() as object)[0]);
}

/**
 * Rejects a -wal file without its database: SQLite would write its old lines into the new file and call it recovery.
 */
async function refuseLeftOver(file: string): Promise<void> {
  if (((await sizeOf(`${file}-wal`)) ?? 0) === 0) return;
  const message = `the journal ${file} is gone, but ${file}-wal with its newest lines is there`;
  throw new RemandError("journal-corrupt", message, "Bring the file back, or move the other one away to start over.");
}

/** Rejects an empty file: journals are created complete, so an empty one has lost its content. */
async function refuseEmpty(file: string): Promise<void> {
  if ((await sizeOf(file)) !== 0) return;
  throw new RemandError("journal-corrupt", `the journal ${file} is empty: its content was lost`, CORRUPT_HINT);
}

/**
 * Creates the journal under a temporary name and links it when it is complete. A crash leaves no partial journal, and
 * if two processes start at once, the second uses the journal of the first.
 */
async function create(file: string, id: string): Promise<void> {
  assert(/^[0-9a-f]{32}$/.test(id), "an id is 32 hexadecimal digits");
  const beside = `${file}.${randomBytes(6).toString("hex")}.new`;
  try {
    const db = await openSqlite(beside, "write");
    try {
      // A line touches two pages, and whole pages are synced: small pages sync faster.
      db.exec("PRAGMA page_size = 2048; PRAGMA journal_mode = WAL");
      // No prepared statement here: the library would keep the file and its -wal open.
      db.exec(`BEGIN; ${TABLES} INSERT INTO identity (id, since) VALUES ('${id}', 0); COMMIT`);
    } finally {
      db.close();
    }
    await syncPath(beside);
    await linkOrMove(beside, file);
    await syncPath(dirname(file));
  } finally {
    for (const end of ["", "-wal", "-shm"]) await rm(`${beside}${end}`, { force: true });
  }
}

async function linkOrMove(beside: string, file: string): Promise<void> {
  try {
    await link(beside, file);
  } catch (error) {
    if (systemCode(error) === "EEXIST") return;
    // Some file systems have no links. Then the last of two simultaneous starts wins.
    if ((await sizeOf(file)) === null) await rename(beside, file);
  }
}

async function syncPath(path: string): Promise<void> {
  // On Windows a folder cannot be opened, and does not need to be synced.
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    if (found.isFile()) return found.size;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
  throw new RemandError("file-unreadable", `the journal ${path} is not a file`, "Give the path of a file.");
}

/**
 * The random id of a journal. Stored outside of the lines, so that journals of earlier versions get one without a
 * change of their chain.
 */
export interface JournalIdentity {
  readonly id: string;
  /** The number of lines when the id was assigned. Commits that name an earlier head do not name the id. */
  readonly since: number;
}

export const newJournalId = (): string => randomBytes(16).toString("hex");

export function readIdentity(db: SqliteDatabase): JournalIdentity | null {
  const there = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'identity'").get();
  if (there === undefined) return null;
  return (db.prepare("SELECT id, since FROM identity").get() as JournalIdentity | undefined) ?? null;
}

/** Returns the journal's id; assigns `id` if it has none. */
export function ensureIdentity(db: SqliteDatabase, head: () => { position: number }, id: string): JournalIdentity {
  return (
    readIdentity(db) ??
    inTransaction(db, () => {
      // Another process may have assigned one in the meantime.
      const known = readIdentity(db);
      if (known !== null) return known;
      db.exec(IDENTITY_TABLE.replace("TABLE", "TABLE IF NOT EXISTS"));
      const given = { id, since: head().position };
      db.prepare("INSERT INTO identity (id, since) VALUES (?, ?)").run(given.id, given.since);
      return given;
    })
  );
}

/**
 * Rejects a journal that was moved. The mark is in the file itself, so that it cannot get lost and every command that
 * opens the file reports the new location.
 */
function refuseMoved(db: SqliteDatabase, file: string): void {
  const there = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'moved'").get();
  if (there === undefined) return;
  const row = db.prepare("SELECT place, at FROM moved").get() as { place: string; at: number };
  const message = `the journal ${file} was moved to ${row.place} on ${new Date(row.at).toISOString().slice(0, 10)}`;
  const hint = "Give its address with --db, or in REMAND_DB, to look; to work, start remand worker there.";
  throw new RemandError("journal-moved", message, hint);
}

/** Call in a transaction. After its commit, no process writes to the file. */
export function markMoved(db: SqliteDatabase, place: string, at: number): void {
  db.exec("CREATE TABLE moved (place TEXT NOT NULL, at REAL NOT NULL) STRICT");
  db.prepare("INSERT INTO moved (place, at) VALUES (?, ?)").run(place, at);
}
