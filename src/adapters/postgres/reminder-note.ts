import type { ReminderNote } from "../../ports/notifier.ts";
import type { PostgresPool } from "./pool.ts";
import { migrate } from "./schema.ts";

/**
 * A note of a fleet, in a row beside the journal. One worker at a time has the turn, on any machine. The
 * turn ends with the transaction, so a worker that dies during its turn does not keep the others out.
 */
export function createPostgresNote(pool: PostgresPool, what: "reminders" | "questions"): ReminderNote {
  const { schema } = pool;
  return {
    takeTurn: async (take) => {
      // Reminding writes to the database, as answering does, so tables of an older version are migrated first.
      await migrate(pool);
      let taken: { readonly next: number | null } | null = null;
      await pool.transaction(async (query) => {
        const text = `SELECT ${schema}.reminder_turn_1($1) AS until`;
        const [row] = await query<{ until: number | null }>({ text, values: [what] });
        // After a lost connection the transaction runs again; `take` does not, so no person is reminded twice.
        taken ??= { next: take(row!.until) };
        if (taken.next === null) return;
        await query({ text: `SELECT ${schema}.note_reminder_1($1, $2)`, values: [what, taken.next] });
      });
    },
  };
}
