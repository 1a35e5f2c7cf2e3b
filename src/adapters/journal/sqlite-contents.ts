import type { Head, VerifyResult } from "../../ports/journal.ts";
import type { Line } from "./chain.ts";
import { asJournalError } from "./sqlite-errors.ts";
import { openForWriting, whenFree } from "./sqlite-file.ts";
import { markMoved, newJournalId } from "./sqlite-identity.ts";
import { createReading } from "./sqlite-reading.ts";

/** All that a journal's file holds, for moving it to another place. */
export interface SqliteContents {
  head(): Head;
  lines(after: number): AsyncIterable<Line>;
  verify(): Promise<VerifyResult>;
  outbox(): readonly { readonly key: string; readonly text: string }[];
  /**
   * Locks the file against writers during the work, and marks it as moved afterwards. `false`: the file has lines after
   * this head; nothing was done.
   */
  handOver(head: Head, to: string, work: () => Promise<void>): Promise<boolean>;
  close(): void;
}

const LOCK_TIMEOUT_MS = 10_000;

export async function openSqliteContents(file: string): Promise<SqliteContents> {
  const db = await openForWriting(file, LOCK_TIMEOUT_MS, newJournalId()).catch((error: unknown) => {
    throw asJournalError(error, file);
  });
  const reading = createReading(db, file);
  return {
    head: reading.head,
    lines: reading.lines,
    verify: () => reading.verify(),
    outbox: () => db.prepare("SELECT key, text FROM outbox ORDER BY key").all() as { key: string; text: string }[],
    handOver: async (head, to, work) => {
      await whenFree(LOCK_TIMEOUT_MS, () => db.exec("BEGIN IMMEDIATE"));
      try {
        const isCurrent = reading.head().hash === head.hash;
        if (isCurrent) {
          markMoved(db, to, Date.now());
          await work();
        }
        db.exec(isCurrent ? "COMMIT" : "ROLLBACK");
        return isCurrent;
      } catch (error) {
        db.exec("ROLLBACK");
        throw asJournalError(error, file);
      }
    },
    close: () => db.close(),
  };
}
