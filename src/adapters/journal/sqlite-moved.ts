import { RemandError } from "../../domain/error.ts";
import type { SqliteDatabase } from "./sqlite.ts";

/**
 * A journal that lives on in another place. The mark is in the file itself, so that it cannot get lost, and whoever
 * opens the file, to write or to look, is told where to go.
 */
export function refuseMoved(db: SqliteDatabase, file: string): void {
  const there = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'moved'").get();
  if (there === undefined) return;
  const row = db.prepare("SELECT place, at FROM moved").get() as { place: string; at: number };
  const message = `the journal ${file} was moved to ${row.place} on ${new Date(row.at).toISOString().slice(0, 10)}`;
  const hint = "Give its address with --db, or in REMAND_DB, to look; to work, start remand worker there.";
  throw new RemandError("journal-moved", message, hint);
}

/** Within a transaction: from its commit on nobody writes here. */
export function markMoved(db: SqliteDatabase, place: string, at: number): void {
  db.exec("CREATE TABLE moved (place TEXT NOT NULL, at REAL NOT NULL) STRICT");
  db.prepare("INSERT INTO moved (place, at) VALUES (?, ?)").run(place, at);
}
