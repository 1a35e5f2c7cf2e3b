import type { ReminderNote } from "../../ports/reminder-note.ts";
import { LOCK } from "./lock.ts";
import type { PostgresPool } from "./pool.ts";
import { migrate } from "./schema.ts";

/**
 * The note of a fleet, in a row beside the journal. A lock gives the turn to one at a time, whatever machine it is on;
 * it goes with the transaction, so nobody who dies in the midst of it keeps the others out.
 */
export function createPostgresNote(pool: PostgresPool): ReminderNote {
  const { schema } = pool;
  const values = [`${schema} reminders`];
  return {
    turn: async (take) => {
      // Whoever reminds writes, as whoever answers does: tables of an older version are brought up to date.
      await migrate(pool);
      let taken: { readonly next: number | null } | null = null;
      await pool.transaction(async (query) => {
        await query({ text: `SELECT pg_advisory_xact_lock(${LOCK}, hashtext($1))`, values });
        const [row] = await query<{ at: number }>({ text: `SELECT minded_until AS at FROM ${schema}.reminder` });
        // A connection that was lost brings us here again, and whoever was reminded is not reminded a second time.
        taken ??= { next: take(row?.at ?? null) };
        if (taken.next === null) return;
        await query({
          text: `INSERT INTO ${schema}.reminder (minded_until) VALUES ($1) ON CONFLICT (single)
            DO UPDATE SET minded_until = greatest(reminder.minded_until, excluded.minded_until)`,
          values: [taken.next],
        });
      });
    },
  };
}
