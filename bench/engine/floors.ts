import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { openSqlite } from "../../src/adapters/journal/sqlite.ts";

/** The minimum cost of storing a text durably. Each `write` returns when its text would survive a power cut. */
export interface Floor {
  write(text: string): void;
  close(): void;
}

/** Appends a line to a file and forces it to the disk, the minimum of any durable storage. */
export function plainFloor(file: string): Floor {
  const handle = openSync(file, "a");
  return {
    write: (text) => {
      writeSync(handle, `${text}\n`);
      fdatasyncSync(handle);
    },
    close: () => closeSync(handle),
  };
}

/** Commits one row in its own transaction, with the journal's settings but nothing else of it. */
export async function sqliteFloor(file: string): Promise<Floor> {
  const db = await openSqlite(file, "write");
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE line (text TEXT NOT NULL)");
  const insert = db.prepare("INSERT INTO line (text) VALUES (?)");
  return {
    write: (text) => {
      db.exec("BEGIN IMMEDIATE");
      insert.run(text);
      db.exec("COMMIT");
    },
    close: () => db.close(),
  };
}

/** Milliseconds per text, written back to back, which is faster than writes with other work in between. */
export function msInARow(floor: Floor, texts: readonly string[]): number {
  const begin = performance.now();
  for (const text of texts) floor.write(text);
  return (performance.now() - begin) / texts.length;
}
