import { randomBytes } from "node:crypto";
import { inTransaction } from "./sqlite-transaction.ts";
import type { SqliteDatabase } from "./sqlite.ts";

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
