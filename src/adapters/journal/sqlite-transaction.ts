import type { SqliteDatabase } from "./sqlite.ts";

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
