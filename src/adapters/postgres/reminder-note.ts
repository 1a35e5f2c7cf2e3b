import type { ReminderNote } from "../../ports/notifier.ts";
import { LOCK } from "./lock.ts";
import type { PostgresPool } from "./pool.ts";
import { migrate } from "./schema.ts";

/**
 * A note of a fleet, in a row beside the journal. A lock gives the turn to one worker at a time, on any machine. The
 * lock ends with the transaction, so a worker that dies during its turn does not keep the others out.
 */
export function createPostgresNote(pool: PostgresPool, what: "reminders" | "questions"): ReminderNote {
  const { schema } = pool;
  return {
    takeTurn: async (take) => {
      // Reminding writes to the database, as answering does, so tables of an older version are migrated first.
      await migrate(pool);
      let taken: { readonly next: number | null } | null = null;
      await pool.transaction(async (query) => {
        await query({ text: `SELECT pg_advisory_xact_lock(${LOCK}, hashtext($1))`, values: [`${schema} ${what}`] });
        const [row] = await query<{ until: number }>({
          text: `SELECT until FROM ${schema}.reminder WHERE what = $1`,
          values: [what],
        });
        // After a lost connection the transaction runs again; `take` does not, so no person is reminded twice.
        taken ??= { next: take(row?.until ?? null) };
        if (taken.next === null) return;
        await query({
          text: `INSERT INTO ${schema}.reminder (what, until) VALUES ($1, $2) ON CONFLICT (what)
            DO UPDATE SET until = greatest(reminder.until, excluded.until)`,
          values: [what, taken.next],
        });
      });
    },
  };
}
