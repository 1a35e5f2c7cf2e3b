import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresPool, Session } from "./pool.ts";
import { createWorkerBooks, type LostWorker, type WorkerTable, type WorkerName } from "./workers.ts";

export interface PresenceOptions extends WorkerName {
  /** How long a worker may be silent before others take its place, whatever it does. */
  readonly leaseMs?: number;
  /** Takes over the jobs of a worker that is gone. We hold its place until this resolves. */
  takeOver(gone: LostWorker): Promise<void>;
  /** Whether we are the one now who hands out jobs. */
  onLead(leads: boolean): void;
  /** Something went wrong that is tried again. */
  onTrouble(error: unknown): void;
}

export interface Presence {
  isConnected(): boolean;
  leads(): boolean;
  /** Others took our place, in words: whatever we write from now on is refused. */
  readonly lost: Promise<string>;
  /** Lets another worker hand out jobs. */
  resign(): void;
  /** Off the books: nothing is left in our hands. */
  leave(): Promise<void>;
}

const LEASE_MS = 3500;
const BEAT_MS = 1000;
const PAUSE_MS = 200;

/**
 * Says that a worker is there, finds out who is not any more, and agrees with the others on one that hands out jobs.
 * A worker keeps its place for as long as its connection lives. One that hangs, or cannot be reached, keeps its connection:
 * after the lease others take its place all the same, and it learns that when it wakes. One that lost its connection but not its place reconnects and continues.
 */
export function createPresence(pool: PostgresPool, options: PresenceOptions): Presence {
  const books = createWorkerBooks(pool, options, options.leaseMs ?? LEASE_MS);
  const stop = new AbortController();
  const standing: WorkerStatus = { leads: false, connected: false, mayLead: true };
  let tellLost: (why: string) => void = () => undefined;
  const lost = new Promise<string>((resolve) => (tellLost = resolve));

  const live = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      // A server that is away is waited for: what runs here goes on meanwhile.
      const session = await books.enter().catch(() => undefined);
      if (session === null) return tellLost(TAKEN);
      if (session === undefined) await sleep(PAUSE_MS);
      else if (!(await stay(session, books, standing, options, stop.signal))) return tellLost(TAKEN);
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

/** Until the connection is lost or we leave. Says whether our place is still ours. */
async function stay(
  session: Session,
  books: WorkerTable,
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
  // Runs beside the beats: taking over a worker's jobs may take longer than the others would wait for our next beat.
  const seeTo = async (gone: LostWorker): Promise<void> => {
    try {
      await takeOver(gone);
      await books.strike(session, gone.id);
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
      if (!(await books.beat(session))) return false;
      if (standing.mayLead) lead(await books.tryLead(session));
      else if (standing.leads) {
        lead(false);
        await books.leaveLead(session);
      }
      for (const gone of await books.takePlaces(session)) seeing.push(seeTo(gone));
      // Look again as soon as the other workers' time to reconnect is over, not a beat later.
      await sleep(Math.min(BEAT_MS, books.graceMs() || BEAT_MS), undefined, { signal: pause }).catch(() => undefined);
    }
    await Promise.all(seeing);
    if (stop.aborted && !over.signal.aborted) await books.strike(session, id);
  } catch (error) {
    // A lost connection is no news: a new one is made.
    if (!over.signal.aborted) onTrouble(error);
  } finally {
    standing.connected = false;
    lead(false);
    await session.end();
  }
  return true;
}
