import { setTimeout as sleep } from "node:timers/promises";
import { RemandError } from "../../core/events/error.ts";
import { type Locks, locksOf } from "./lock.ts";
import type { PostgresPool, Session } from "./pool.ts";

/** Who this is: `id` belongs to this process and no other, `name` stays when it is started again. */
export interface WorkerName {
  readonly id: string;
  readonly name: string;
}

/** A worker that is gone. We hold its lock while we take over its jobs. */
export interface LostWorker extends WorkerName {
  readonly silentMs: number;
}

/** What a worker says and asks on its own connection. Locks live as long as that does. */
export interface WorkerTable extends Locks {
  /** A connection that holds our lock; `null`: another worker has taken our place. */
  enter(): Promise<Session | null>;
  /** Records that we are alive; `false`: our row is gone, because another worker took our place. */
  beat(session: Session): Promise<boolean>;
  /** How long the other workers still have to reconnect before any place is taken. */
  graceMs(): number;
  /** Those of whom nothing was heard for a while, and whose place could be had: it is ours now. */
  takePlaces(session: Session): Promise<readonly LostWorker[]>;
  /** Deletes a worker's row and releases its lock. */
  strike(session: Session, id: string): Promise<void>;
}

/** After this long without a beat, other workers try the silent worker's lock: it is free if the process has died. */
const MISSED_MS = 2500;
/**
 * How long the other workers get to reconnect once we are connected again. A server that restarted holds no locks and
 * has seen no beats; each live worker tries to reach it five times a second, as we did.
 */
const RETURN_MS = 2500;
/**
 * On its first connection a worker cannot know whether the other workers have just lost the server. Only if the server
 * has been up for longer than this does it skip the time they get to reconnect.
 */
const FRESH_MS = 15_000;

export function createWorkerBooks(pool: PostgresPool, me: WorkerName, leaseMs: number): WorkerTable {
  const table = `${pool.schema}.worker`;
  const locks = locksOf(pool.schema);
  /** Places we took on this connection. PostgreSQL grants a lock again to its holder, so the lock alone cannot tell. */
  let takenIds = new Set<string>();
  let returnedAt = -Infinity;
  const signIn = signingIn(table, me, locks);
  const graceMs = (): number => Math.max(0, returnedAt + RETURN_MS - performance.now());
  return {
    ...locks,
    graceMs,
    enter: async () => {
      const session = await pool.session();
      takenIds = new Set();
      try {
        const isFirst = returnedAt === -Infinity;
        const isBack = await signIn(session);
        returnedAt = isFirst && (await hasRunLong(session)) ? performance.now() - RETURN_MS : performance.now();
        if (isBack) return session;
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
      const gone: LostWorker[] = [];
      if (graceMs() > 0) return gone;
      const others = { ...silentOnes(table, "id <> $1"), name: "silent", values: [me.id, MISSED_MS] };
      const silent = await session.query<SilentRow>(others);
      for (const { id, name, backend, silent_ms: text } of silent) {
        const silentMs = Number(text);
        // It stands still, or cannot be reached, and its connection lives on: it is ended for it.
        const isEnded = silentMs > leaseMs && !takenIds.has(id);
        if (isEnded) await locks.endHolder(session, id, backend);
        if (takenIds.has(id) || !(await soonFree(isEnded ? MOST_LOOKS : 1, () => locks.tryLock(session, id)))) continue;
        if (!(await isStillSilent(session, table, id))) await locks.unlock(session, id);
        else {
          takenIds.add(id);
          gone.push({ id, name, silentMs });
        }
      }
      return gone;
    },
    strike: async (session, id) => {
      await session.query({ text: `DELETE FROM ${table} WHERE id = $1`, values: [id] });
      await locks.unlock(session, id);
      takenIds.delete(id);
    },
  };
}

/** Since our query another worker may have taken the place, finished with it and released the lock. */
async function isStillSilent(session: Session, table: string, id: string): Promise<boolean> {
  return (await session.query({ ...silentOnes(table, "id = $1"), values: [id, MISSED_MS] })).length === 1;
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

/** Takes our lock on a new connection and stores that connection's pid; `false`: another worker has our place. */
function signingIn(table: string, me: WorkerName, { tryLock, endHolder }: Locks) {
  let backend = 0;
  let isKnown = false;
  return async (session: Session): Promise<boolean> => {
    for (let tries = 0; !(await tryLock(session, me.id)); tries++) {
      if (tries === MOST_TRIES) return false;
      // Most likely our own connection of before, which the server has not missed yet.
      if (backend !== 0) await endHolder(session, me.id, backend);
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

const silentOnes = (table: string, who: string) => ({
  text: `SELECT id, name, backend, extract(epoch FROM clock_timestamp() - seen) * 1000 AS silent_ms FROM ${table}
    WHERE ${who} AND seen < clock_timestamp() - $2 * interval '1 millisecond'`,
});

async function hasRunLong(session: Session): Promise<boolean> {
  const text = `SELECT pg_postmaster_start_time() < clock_timestamp() - $1 * interval '1 millisecond' AS is_old`;
  const [row] = await session.query<{ is_old: boolean }>({ text, values: [FRESH_MS] });
  return row!.is_old;
}

/**
 * Refuses a name that a worker has who is there. What one of them left unfinished is found by its name, and the other
 * would take it for its own. One that died lets go of its lock at once; one whose machine went away is silent, and is
 * waited for until that is certain.
 */
export async function claimName(pool: PostgresPool, name: string, leaseMs: number): Promise<void> {
  const session = await pool.session();
  try {
    for (const deadline = performance.now() + leaseMs + NAME_PAUSE_MS; ; await sleep(NAME_PAUSE_MS)) {
      const holder = await holderOf(session, pool.schema, name, leaseMs);
      if (holder === null) return;
      if (performance.now() > deadline) throw nameTaken(name);
    }
  } finally {
    await session.end();
  }
}

const NAME_PAUSE_MS = 500;

/** The id of a worker of this name that holds its lock and sent a beat within the lease. */
async function holderOf(session: Session, schema: string, name: string, leaseMs: number): Promise<string | null> {
  const { tryLock, unlock } = locksOf(schema);
  const text = `SELECT id FROM ${schema}.worker WHERE name = $1 AND seen > clock_timestamp() - $2 * interval '1 millisecond'`;
  for (const { id } of await session.query<{ id: string }>({ text, values: [name, leaseMs] })) {
    if (!(await tryLock(session, id))) return id;
    await unlock(session, id);
  }
  return null;
}

function nameTaken(name: string): RemandError {
  return new RemandError(
    "usage",
    `a worker called ${name} works already`,
    "Give this one another name: --name, or REMAND_WORKER.",
  );
}
