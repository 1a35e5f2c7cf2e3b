import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { ReminderNote } from "../../ports/notifier.ts";
import { openSqlite, type SqliteDatabase, asJournalError } from "./sqlite.ts";

/** Keeps the state of reminders in a file beside the journal. Sent notifications are not events of a story. */
export function createReminderNote(file: string): ReminderNote {
  return {
    takeTurn: async (take) => {
      try {
        await mkdir(dirname(file), { recursive: true });
        const db = await openSqlite(file, "write");
        try {
          turnIn(db, take);
        } finally {
          db.close();
        }
      } catch (error) {
        throw asJournalError(error, file);
      }
    },
  };
}

const PATIENCE_MS = 500;

function turnIn(db: SqliteDatabase, take: (remindedUntil: number | null) => number | null): void {
  db.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`);
  db.exec("BEGIN IMMEDIATE");
  try {
    db.exec("CREATE TABLE IF NOT EXISTS note (one INTEGER PRIMARY KEY CHECK (one = 1), minded_until INTEGER NOT NULL)");
    const row = db.prepare("SELECT minded_until AS at FROM note").get() as { readonly at: number } | undefined;
    const next = take(row?.at ?? null);
    if (next !== null) db.prepare("INSERT OR REPLACE INTO note (one, minded_until) VALUES (1, ?)").run(next);
    db.exec("COMMIT");
  } catch (error) {
    // Closing a database with an open transaction may keep other processes locked out.
    db.exec("ROLLBACK");
    throw error;
  }
}
