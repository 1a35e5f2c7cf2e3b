import type { Session } from "./pool.ts";

/** `REMA`, as in the file of a local journal: the first half of each advisory lock's key. The second is its own. */
export const LOCK = 0x52454d41;

/** Locks by a name, within one schema. A session holds them until it lets go or ends. */
export interface Locks {
  tryLock(session: Session, what: string): Promise<boolean>;
  unlock(session: Session, what: string): Promise<void>;
  /** Ends the connection with this pid if it holds the lock: after a server restart another client may have the pid. */
  endHolder(session: Session, what: string, backend: number): Promise<void>;
}

export function locksOf(schema: string): Locks {
  const keyOf = (what: string): readonly [string] => [`remand ${schema} ${what}`];
  return {
    tryLock: async (session, what) => {
      const text = "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_ours";
      const [row] = await session.query<{ is_ours: boolean }>({ text, values: keyOf(what) });
      return row!.is_ours;
    },
    unlock: async (session, what) => {
      await session.query({ text: "SELECT pg_advisory_unlock(hashtextextended($1, 0))", values: keyOf(what) });
    },
    endHolder: async (session, what, backend) => {
      const text = `SELECT pg_terminate_backend(pid) FROM pg_locks
        WHERE pid = $2 AND locktype = 'advisory' AND objsubid = 1 AND granted
          AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)`;
      await session.query({ text, values: [...keyOf(what), backend] });
    },
  };
}
