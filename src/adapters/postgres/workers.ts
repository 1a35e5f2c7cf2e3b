import { setTimeout as sleep } from "node:timers/promises";
import { RemandError } from "../../core/events/error.ts";
import type { PostgresPool, Session } from "./pool.ts";

/** The name of a worker: `id` belongs to this process only, `name` stays the same after a restart. */
export interface WorkerName {
  readonly id: string;
  readonly name: string;
}

/** A worker that is gone. This worker holds its place while it takes over the jobs. */
export interface LostWorker extends WorkerName {
  readonly silentMs: number;
}

/** What a worker records and queries on its own connection. What it holds ends with that connection. */
export interface WorkerTable {
  /** Opens a connection and signs in; `null`: another worker has taken this worker's place. */
  enter(): Promise<Session | null>;
  /** Records that the worker is alive; `false`: another worker took its place. */
  beat(session: Session): Promise<boolean>;
  /** Whether this worker leads: it already does, or no other one does. */
  tryLead(session: Session): Promise<boolean>;
  leaveLead(session: Session): Promise<void>;
  /** How long the other workers still have to reconnect before any place is taken. */
  graceMs(): number;
  /** Claims the places of workers that died, or were silent for the lease. */
  claimLostWorkers(session: Session): Promise<readonly LostWorker[]>;
  /** Deletes the row of a worker whose place this worker holds. */
  deleteRow(session: Session, id: string): Promise<void>;
}

/** A worker without a connection counts as dead this long after its last beat. */
const MISSED_MS = 2500;
/**
 * How long other workers may take to reconnect after this one has reconnected. A restarted server has no connections
 * and has seen no beats; each live worker tries to reach it five times a second.
 */
const RETURN_MS = 2500;
/**
 * On its first connection a worker cannot know whether the other workers have just lost the server. It skips the time
 * for reconnecting only if the server has been up for longer than this.
 */
const FRESH_MS = 15_000;

export function createWorkerTable(pool: PostgresPool, me: WorkerName, leaseMs: number): WorkerTable {
  const { schema } = pool;
  let returnedAt = -Infinity;
  const signIn = signingIn(schema, me, leaseMs);
  const graceMs = (): number => Math.max(0, returnedAt + RETURN_MS - performance.now());
  const ask = async (session: Session, call: string, values: readonly unknown[]): Promise<boolean> => {
    const [row] = await session.query<{ is_so: boolean }>({ text: `SELECT ${schema}.${call} AS is_so`, values });
    return row!.is_so;
  };
  return {
    graceMs,
    enter: async () => {
      const session = await pool.session();
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
    beat: (session) => ask(session, "beat_1($1, $2)", [me.id, leaseMs]),
    tryLead: (session) => ask(session, "try_lead_1($1, $2)", [me.id, leaseMs]),
    leaveLead: async (session) => void (await ask(session, "leave_lead_1($1)", [me.id])),
    claimLostWorkers: async (session) => {
      if (graceMs() > 0) return [];
      const rows = await session.query<{ gone_id: string; gone_name: string; silent_ms: number }>({
        name: "take-places",
        text: `SELECT * FROM ${schema}.take_places_1($1, $2, $3)`,
        values: [me.id, MISSED_MS, leaseMs],
      });
      return rows.map(({ gone_id: id, gone_name: name, silent_ms: silentMs }) => ({ id, name, silentMs }));
    },
    deleteRow: async (session, id) => void (await ask(session, "strike_1($1, $2)", [id, me.id])),
  };
}

/** Takes this worker's place on a new connection; `false`: another worker has it. */
function signingIn(schema: string, me: WorkerName, leaseMs: number) {
  let isKnown = false;
  return async (session: Session): Promise<boolean> => {
    for (let tries = 0; ; tries++) {
      const [row] = await session.query<{ answer: "in" | "taken" | "gone" }>({
        text: `SELECT ${schema}.sign_in_1($1, $2, $3, $4) AS answer`,
        values: [me.id, me.name, isKnown, leaseMs],
      });
      isKnown ||= row!.answer === "in";
      // If the worker that took the place fails at the jobs, the place is free again.
      if (row!.answer !== "taken" || tries === MOST_TRIES) return row!.answer === "in";
      await sleep(PAUSE_MS);
    }
  };
}

const MOST_TRIES = 20;
const PAUSE_MS = 100;

async function hasRunLong(session: Session): Promise<boolean> {
  const text = `SELECT pg_postmaster_start_time() < clock_timestamp() - $1 * interval '1 millisecond' AS is_old`;
  const [row] = await session.query<{ is_old: boolean }>({ text, values: [FRESH_MS] });
  return row!.is_old;
}

/**
 * Claims a worker name. Throws if a live worker has it, because unfinished work is found by the name and both would
 * take it for their own. The connection of a dead worker ends at once; a worker whose machine is gone is waited for
 * until the lease is over.
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

/** Returns the id of a worker of this name that is connected and sent a beat within the lease. */
async function holderOf(session: Session, schema: string, name: string, leaseMs: number): Promise<string | null> {
  const [row] = await session.query<{ id: string }>({
    text: `SELECT worker.id FROM ${schema}.worker
      JOIN pg_catalog.pg_stat_activity ON pid = worker.backend AND application_name = worker.application
      WHERE worker.name = $1 AND worker.seen > clock_timestamp() - $2 * interval '1 millisecond' LIMIT 1`,
    values: [name, leaseMs],
  });
  return row?.id ?? null;
}

function nameTaken(name: string): RemandError {
  return new RemandError(
    "usage",
    `a worker named ${name} is already running`,
    "Give this one another name: --name, or REMAND_WORKER.",
  );
}

export interface PresenceOptions extends WorkerName {
  /** How long a worker may be silent before others take its place. */
  readonly leaseMs?: number;
  /** Takes over the jobs of a worker that is gone. Its place is held until this resolves. */
  takeOver(gone: LostWorker): Promise<void>;
  /** Called with whether this worker now enqueues the jobs. */
  onLead(leads: boolean): void;
  /** Reports an error after which the operation is tried again. */
  onTrouble(error: unknown): void;
}

export interface Presence {
  isConnected(): boolean;
  leads(): boolean;
  /** Resolves with a message when another worker took this worker's place: every later write is refused. */
  readonly lost: Promise<string>;
  /** Lets another worker enqueue jobs. */
  resign(): void;
  /** Signs off: this worker holds nothing any more. */
  leave(): Promise<void>;
}

const LEASE_MS = 3500;
const BEAT_MS = 1000;
const SESSION_PAUSE_MS = 200;

/**
 * Records that a worker is alive, detects workers that are gone, and elects the one that enqueues jobs. A worker keeps
 * its place as long as its connection lives. A worker that hangs or is unreachable keeps its connection, but after the
 * lease others take its place, and it learns that when it wakes. A worker that lost only its connection reconnects and
 * continues.
 */
export function createPresence(pool: PostgresPool, options: PresenceOptions): Presence {
  const table = createWorkerTable(pool, options, options.leaseMs ?? LEASE_MS);
  const stop = new AbortController();
  const standing: WorkerStatus = { leads: false, connected: false, mayLead: true };
  let tellLost: (why: string) => void = () => undefined;
  const lost = new Promise<string>((resolve) => (tellLost = resolve));

  const live = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      // Wait for a server that is away; running work continues.
      const session = await table.enter().catch(() => undefined);
      if (session === null) return tellLost(TAKEN);
      if (session === undefined) await sleep(SESSION_PAUSE_MS);
      else if (!(await stay(session, table, standing, options, stop.signal))) return tellLost(TAKEN);
    }
  };
  const life = live();
  return {
    isConnected: () => standing.connected,
    leads: () => standing.leads,
    lost,
    resign: () => (standing.mayLead = false),
    leave: async () => {
      standing.mayLead = false;
      stop.abort();
      await life;
    },
  };
}

const TAKEN = "another worker has taken its place";

interface WorkerStatus {
  leads: boolean;
  connected: boolean;
  mayLead: boolean;
}

/** Stays signed in until the connection is lost or the worker leaves. Returns whether the place is still its own. */
async function stay(
  session: Session,
  table: WorkerTable,
  standing: WorkerStatus,
  { id, takeOver, onLead, onTrouble }: PresenceOptions,
  stop: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  session.onEnd(() => over.abort());
  const pause = AbortSignal.any([over.signal, stop]);
  const lead = (leads: boolean): void => {
    if (standing.leads === leads) return;
    standing.leads = leads;
    onLead(leads);
  };
  // Runs beside the beats: taking over a worker's jobs may take longer than the lease.
  const seeTo = async (gone: LostWorker): Promise<void> => {
    try {
      await takeOver(gone);
      await table.deleteRow(session, gone.id);
    } catch (error) {
      onTrouble(error);
      // Ending the connection gives the lost worker's place up, so another worker can take over its jobs.
      await session.end();
    }
  };
  standing.connected = true;
  const seeing: Promise<void>[] = [];
  try {
    while (!pause.aborted) {
      if (!(await table.beat(session))) return false;
      if (standing.mayLead) lead(await table.tryLead(session));
      else if (standing.leads) {
        lead(false);
        await table.leaveLead(session);
      }
      for (const gone of await table.claimLostWorkers(session)) seeing.push(seeTo(gone));
      // Check again as soon as the other workers' time to reconnect is over, not a beat later.
      await sleep(Math.min(BEAT_MS, table.graceMs() || BEAT_MS), undefined, { signal: pause }).catch(() => undefined);
    }
    await Promise.all(seeing);
    if (stop.aborted && !over.signal.aborted) await table.deleteRow(session, id);
  } catch (error) {
    // A lost connection is not reported: a new one is made.
    if (!over.signal.aborted) onTrouble(error);
  } finally {
    standing.connected = false;
    lead(false);
    await session.end();
  }
  return true;
}
