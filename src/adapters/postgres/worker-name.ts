import { setTimeout as sleep } from "node:timers/promises";
import { RemandError } from "../../domain/error.ts";
import { locksOf } from "./lock.ts";
import type { PostgresPool, Session } from "./pool.ts";

/**
 * Refuses a name that a worker has who is there. What one of them left unfinished is found by its name, and the other
 * would take it for its own. One that died lets go of its lock at once; one whose machine went away is silent, and is
 * waited for until that is certain.
 */
export async function claimName(pool: PostgresPool, name: string, leaseMs: number): Promise<void> {
  const session = await pool.session();
  try {
    for (const deadline = performance.now() + leaseMs + PAUSE_MS; ; await sleep(PAUSE_MS)) {
      const holder = await holderOf(session, pool.schema, name, leaseMs);
      if (holder === null) return;
      if (performance.now() > deadline) throw taken(name);
    }
  } finally {
    await session.end();
  }
}

const PAUSE_MS = 500;

/** Somebody of this name whose lock is not free and who was heard of within the lease. */
async function holderOf(session: Session, schema: string, name: string, leaseMs: number): Promise<string | null> {
  const { tryLock, unlock } = locksOf(schema);
  const text = `SELECT id FROM ${schema}.worker WHERE name = $1 AND seen > clock_timestamp() - $2 * interval '1 millisecond'`;
  for (const { id } of await session.query<{ id: string }>({ text, values: [name, leaseMs] })) {
    if (!(await tryLock(session, id))) return id;
    await unlock(session, id);
  }
  return null;
}

function taken(name: string): RemandError {
  return new RemandError(
    "usage",
    `a worker called ${name} works already`,
    "Give this one another name: --name, or REMAND_WORKER.",
  );
}
