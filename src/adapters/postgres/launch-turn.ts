import { codeOf } from "./errors.ts";
import type { PostgresPool } from "./pool.ts";

/** Not forever: the other worker may hang, and then starting is better than waiting. */
const LONGEST_WAIT_MS = 15_000;

/**
 * The queue's library makes its tables when it starts, and several that do so at once get into each other's way. The
 * turn ends with the connection.
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
