import type { ReminderNote } from "../../ports/notifier.ts";
import type { PostgresPool } from "./pool.ts";
import { migrate } from "./schema.ts";
import { codeOf } from "./errors.ts";

/**
 * A fleet's reminder state, in a row beside the journal. One worker at a time has the turn, on any machine. The turn
 * ends with the transaction, so a worker that dies during its turn does not keep the others out.
 */
export function createPostgresNote(pool: PostgresPool, what: "reminders" | "questions"): ReminderNote {
  const { schema } = pool;
  return {
    takeTurn: async (take) => {
      // Reminders write to the database, as answers do, so tables of an older version are migrated first.
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

/** Limited, because the other worker may hang; then starting is better than waiting. */
const LONGEST_WAIT_MS = 15_000;

/**
 * Runs the start of the queue's library alone: it creates its tables when it starts, and simultaneous starts collide.
 * The turn ends with the connection.
 */
export async function withLaunchTurn(pool: PostgresPool, work: () => Promise<void>): Promise<void> {
  const session = await pool.session();
  try {
    await session.query({ text: "BEGIN" });
    await session.query({ text: `SET LOCAL lock_timeout = ${LONGEST_WAIT_MS}` });
    try {
      await session.query({ text: `SELECT ${pool.schema}.launch_turn_1()` });
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    }
    await work();
  } finally {
    await session.end();
  }
}

const LOCK_NOT_AVAILABLE = "55P03";
