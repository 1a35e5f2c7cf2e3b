import { randomBytes } from "node:crypto";
import { RemandError } from "../../core/events/error.ts";
import { type SqliteDatabase, inTransaction } from "./sqlite.ts";

/**
 * The random id of a journal. It stands beside the lines, so that journals of earlier versions get one without a
 * change of their chain.
 */
export interface JournalIdentity {
  readonly id: string;
  /** How many lines there were when the id was given. Commits that note an earlier head do not name the id. */
  readonly since: number;
}

export const IDENTITY_TABLE = "CREATE TABLE identity (id TEXT NOT NULL, since INTEGER NOT NULL) STRICT;";

export const newJournalId = (): string => randomBytes(16).toString("hex");

export function readIdentity(db: SqliteDatabase): JournalIdentity | null {
  const there = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'identity'").get();
  if (there === undefined) return null;
  return (db.prepare("SELECT id, since FROM identity").get() as JournalIdentity | undefined) ?? null;
}

/** The id of a journal that has one; else it is given `id` now. */
export function ensureIdentity(db: SqliteDatabase, head: () => { position: number }, id: string): JournalIdentity {
  return (
    readIdentity(db) ??
    inTransaction(db, () => {
      // Another process may have been faster.
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
 * A journal that was moved to another place. The mark is in the file itself, so that it cannot get lost, and every
 * command that opens the file, to write or to read, reports the new place.
 */
export function refuseMoved(db: SqliteDatabase, file: string): void {
  const there = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'moved'").get();
  if (there === undefined) return;
  const row = db.prepare("SELECT place, at FROM moved").get() as { place: string; at: number };
  const message = `the journal ${file} was moved to ${row.place} on ${new Date(row.at).toISOString().slice(0, 10)}`;
  const hint = "Give its address with --db, or in REMAND_DB, to look; to work, start remand worker there.";
  throw new RemandError("journal-moved", message, hint);
}

/** Call in a transaction; after its commit no process writes to the file. */
export function markMoved(db: SqliteDatabase, place: string, at: number): void {
  db.exec("CREATE TABLE moved (place TEXT NOT NULL, at REAL NOT NULL) STRICT");
  db.prepare("INSERT INTO moved (place, at) VALUES (?, ?)").run(place, at);
}
