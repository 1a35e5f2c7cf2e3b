import type { Outbox } from "../../ports/outbox.ts";
import { assert } from "../../stdx/assert.ts";
import type { GroupWriter } from "../journal/group-writer.ts";
import { keyId, type Dropped } from "./commit.ts";
import type { PostgresPool } from "./pool.ts";

export interface PostgresOutbox extends Dropped {
  through(writer: GroupWriter): Outbox;
  /** Takes away what was dropped since the last commit. */
  close(): Promise<void>;
}

/** The outbox as a table beside the journal's: what is put is committed with whatever else is written at the time. */
export function createPostgresOutbox(pool: PostgresPool): PostgresOutbox {
  const dropped = new Set<string>();
  let sweeping = new Set<string>();
  const sweep: Dropped["sweep"] = async (work) => {
    sweeping = new Set(dropped);
    dropped.clear();
    try {
      const result = await work([...sweeping]);
      sweeping.clear();
      return result;
    } catch (error) {
      for (const key of sweeping) dropped.add(key);
      throw error;
    }
  };
  return {
    sweep,
    close: async () => {
      const text = `DELETE FROM ${pool.schema}.outbox WHERE id = ANY ($1)`;
      if (dropped.size > 0) await sweep((keys) => pool.query({ text, values: [keys.map(keyId)] }));
    },
    through: (writer) => ({
      put: async (key, text) => {
        // A key that is put again is not to be taken away any more; the writing follows what is being swept.
        dropped.delete(key);
        sweeping.delete(key);
        const { ok } = await writer.write({ key, text });
        assert(ok, "nobody else writes to the outbox");
      },
      get: async (key) => {
        if (dropped.has(key) || sweeping.has(key)) return null;
        const text = `SELECT text FROM ${pool.schema}.outbox WHERE id = $1`;
        const [row] = await pool.query<{ text: Buffer }>({ name: "outbox", text, values: [keyId(key)] });
        return row?.text.toString("utf8") ?? null;
      },
      drop: async (key) => void dropped.add(key),
    }),
  };
}
