import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { openSqlite } from "../../src/adapters/journal/sqlite.ts";

/** The least that keeping a text for good can cost. Each `write` comes back when its text would survive a power cut. */
export interface Floor {
  write(text: string): void;
  close(): void;
}

/** A line appended to a file and forced to the disk. Nothing that keeps anything can do with less. */
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

/** One row in one transaction of its own, with the settings of the journal and nothing else of it. */
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

/** Milliseconds per text, written back to back: quicker than writes with other work between them. */
export function msInARow(floor: Floor, texts: readonly string[]): number {
  const begin = performance.now();
  for (const text of texts) floor.write(text);
  return (performance.now() - begin) / texts.length;
}
