import type { Outbox } from "../../ports/notifier.ts";
import { assert } from "../../stdx/assert.ts";
import type { GroupWriter, Put } from "./group-writer.ts";
import { asJournalError } from "./sqlite-errors.ts";
import { type SqliteDatabase, inTransaction } from "./sqlite.ts";

/**
 * The outbox as a table of the journal's own file: what is put is committed with whatever else is written in the same
 * moment. What is dropped is deleted with the next put, because no caller waits for that.
 */
export interface SqliteOutbox {
  /** Within the transaction of a group: writes what is put; then takes away what was dropped. */
  put(put: Put): void;
  sweep(): void;
  /** The group is on the disk. */
  onCommitted(): void;
  /** Takes away what was dropped since the last commit. */
  close(): void;
  through(writer: GroupWriter): Outbox;
}

export function createSqliteOutbox(db: SqliteDatabase, file: string): SqliteOutbox {
  const insert = db.prepare("INSERT OR REPLACE INTO outbox (key, text) VALUES (?, ?)");
  const select = db.prepare("SELECT text FROM outbox WHERE key = ?");
  const remove = db.prepare("DELETE FROM outbox WHERE key = ?");
  const dropped = new Set<string>();
  let swept: string[] = [];

  const sweep = (): void => {
    swept = [...dropped];
    for (const key of swept) remove.run(key);
  };
  const onCommitted = (): void => {
    for (const key of swept) dropped.delete(key);
    swept = [];
  };
  return {
    put: ({ key, text }) => void insert.run(key, text),
    sweep,
    onCommitted,
    close: () => {
      if (dropped.size === 0) return;
      inTransaction(db, sweep);
      onCommitted();
    },
    through: (writer) => ({
      put: async (key, text) => {
        // A key that is put again is not to be taken away any more; that is so from now on, whatever is being written.
        dropped.delete(key);
        const { ok } = await writer.write({ key, text });
        assert(ok, "putting into the outbox cannot conflict");
      },
      get: async (key) => {
        if (dropped.has(key)) return null;
        try {
          return (select.get(key) as { text: string } | undefined)?.text ?? null;
        } catch (error) {
          throw asJournalError(error, file);
        }
      },
      drop: async (key) => void dropped.add(key),
    }),
  };
}
