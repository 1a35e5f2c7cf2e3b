import { setTimeout as sleep } from "node:timers/promises";
import { locksOf, type Locks } from "./lock.ts";
import type { PostgresPool, Session } from "./pool.ts";

/** Who this is: `id` belongs to this process and no other, `name` stays when it is started again. */
export interface WorkerName {
  readonly id: string;
  readonly name: string;
}

/** Somebody who is gone. Its place is ours while we see to what it left. */
export interface Gone extends WorkerName {
  readonly silentMs: number;
}

/** What a worker says and asks on its own connection. Locks live as long as that does. */
export interface WorkerBooks extends Locks {
  /** A connection with our lock on it; `null`: somebody else has taken our place. */
  enter(): Promise<Session | null>;
  /** Says that we are there; `false`: nobody knows us any more. */
  beat(session: Session): Promise<boolean>;
  /** Those of whom nothing was heard for a while, and whose place could be had: it is ours now. */
  takePlaces(session: Session): Promise<readonly Gone[]>;
  /** Strikes somebody out, and lets go of the place. */
  strike(session: Session, id: string): Promise<void>;
}

/** After so many beats that did not come somebody looks whether the lock is free, as it is when a process has died. */
const MISSED_MS = 2500;
/** How long everybody gets to come back when the server itself was away. */
const RETURN_MS = 4000;

export function createWorkerBooks(pool: PostgresPool, me: WorkerName, leaseMs: number): WorkerBooks {
  const table = `${pool.schema}.worker`;
  const locks = locksOf(pool.schema);
  /** Places that are ours on this connection: a lock can be had twice by whoever has it. */
  let taken = new Set<string>();
  const signIn = signingIn(table, me, locks);
  return {
    ...locks,
    enter: async () => {
      const session = await pool.session();
      taken = new Set();
      try {
        if (await signIn(session)) return session;
      } catch (error) {
        await session.end();
        throw error;
      }
      await session.end();
      return null;
    },
    beat: async (session) => {
      // It need not wait for the disk: one that is lost in a crash of the server is made up for by the next.
      const text = `UPDATE ${table} SET seen = clock_timestamp()
        WHERE id = $1 AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' RETURNING id`;
      return (await session.query({ name: "beat", text, values: [me.id] })).length === 1;
    },
    takePlaces: async (session) => {
      const gone: Gone[] = [];
      const silent = await session.query<SilentRow>({ ...silentOnes(table), values: [me.id, MISSED_MS, RETURN_MS] });
      for (const { id, name, backend, silent_ms: text } of silent) {
        const silentMs = Number(text);
        // It stands still, or cannot be reached, and its connection lives on: it is ended for it.
        const isEnded = silentMs > leaseMs && !taken.has(id);
        if (isEnded) await session.query(terminate(backend));
        if (taken.has(id) || !(await soonFree(isEnded ? MOST_LOOKS : 1, () => locks.tryLock(session, id)))) continue;
        taken.add(id);
        gone.push({ id, name, silentMs });
      }
      return gone;
    },
    strike: async (session, id) => {
      await session.query({ text: `DELETE FROM ${table} WHERE id = $1`, values: [id] });
      await locks.unlock(session, id);
      taken.delete(id);
    },
  };
}

/** A connection that was ended is gone in a moment. */
async function soonFree(looks: number, tryLock: () => Promise<boolean>): Promise<boolean> {
  for (let look = 1; look < looks; look++) {
    if (await tryLock()) return true;
    await sleep(PAUSE_MS / 2);
  }
  return tryLock();
}

const MOST_LOOKS = 6;

/** Takes our lock on a new connection, and says where it is; `false` when our place is somebody else's by now. */
function signingIn(table: string, me: WorkerName, { tryLock }: Locks) {
  let backend = 0;
  let isKnown = false;
  return async (session: Session): Promise<boolean> => {
    for (let tries = 0; !(await tryLock(session, me.id)); tries++) {
      if (tries === MOST_TRIES) return false;
      // Most likely our own connection of before, which the server has not missed yet.
      if (backend !== 0) await session.query(terminate(backend));
      await sleep(PAUSE_MS);
    }
    const [own] = await session.query<{ pid: number }>({ text: "SELECT pg_backend_pid() AS pid" });
    backend = own!.pid;
    const text = isKnown
      ? `UPDATE ${table} SET backend = $3, seen = clock_timestamp() WHERE id = $1 AND name = $2 RETURNING id`
      : `INSERT INTO ${table} (id, name, backend) VALUES ($1, $2, $3)
           ON CONFLICT (id) DO UPDATE SET backend = $3, seen = clock_timestamp() RETURNING id`;
    const rows = await session.query({ text, values: [me.id, me.name, backend] });
    isKnown ||= rows.length === 1;
    return rows.length === 1;
  };
}

const MOST_TRIES = 20;
const PAUSE_MS = 100;

interface SilentRow {
  readonly id: string;
  readonly name: string;
  readonly backend: number;
  readonly silent_ms: string;
}

/** A server that has just started has no locks, and everybody was silent: they get their time to come back. */
const silentOnes = (table: string) => ({
  name: "silent",
  text: `SELECT id, name, backend, extract(epoch FROM clock_timestamp() - seen) * 1000 AS silent_ms FROM ${table}
    WHERE id <> $1 AND seen < clock_timestamp() - $2 * interval '1 millisecond'
      AND pg_postmaster_start_time() < clock_timestamp() - $3 * interval '1 millisecond'`,
});

const terminate = (backend: number) => ({ text: "SELECT pg_terminate_backend($1)", values: [backend] });
