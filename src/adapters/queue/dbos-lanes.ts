import { setTimeout as sleep } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import type { DBOS, WorkflowQueue } from "@dbos-inc/dbos-sdk";
import type { Pool, PoolClient } from "pg";
import { LANES, type Lane } from "../../core/stories/command.ts";
import type { Clock } from "../../ports/clock.ts";

/** How many jobs of a lane run at once; other lanes have no limit. */
export type LaneLimits = Readonly<Partial<Record<Lane, number>>>;

/** The lanes as queues of the library, and when they are polled. */
export interface DbosLanes {
  /** Replaces the library's polling loop. Call before the library is launched. */
  take(): Promise<void>;
  /** Creates the queues, or changes their limits. */
  limit(limits: LaneLimits): Promise<void>;
  /** Hints that there may be a job in these lanes. */
  wake(lanes: readonly Lane[], whose?: "ours" | "others"): void;
  /** Restores the library's own polling loop. */
  release(): void;
}

/** The part of the library's polling loop that is replaced: see `take`. */
interface DbosQueueRunner {
  schedulerLoop?: (executor: unknown, ...rest: readonly unknown[]) => Promise<void>;
  pollQueue?: (executor: unknown, queue: WorkflowQueue) => Promise<boolean>;
  readonly abortController?: AbortController;
}

export const queueOf = (lane: Lane): string => `remand-${lane}`;

/**
 * Creates the lanes. The library polls each queue at fixed times, reads all limits every second, and has one limit per
 * worker for all workers: that of the worker that started last. So the loop is replaced, and the library only polls. If
 * a later version of the library has a different loop, it does all of this itself, every `pollMs`.
 */
export function createDbosLanes(dbos: typeof DBOS, pollMs: number, ownLimits: LaneLimits): DbosLanes {
  const poller = createLanePoller(pollMs);
  const queues = new Map<Lane, WorkflowQueue>();
  let runner: DbosQueueRunner | null = null;
  return {
    take: async () => {
      await slowTimeoutChecks();
      runner = await runnerOf();
      if (runner === null) return;
      const loop = runner;
      runner.schedulerLoop = async (executor) => {
        const ask = async (lane: Lane): Promise<boolean> => {
          const queue = queues.get(lane);
          // The library reports its own errors; no other exception may end the polling.
          return queue !== undefined && (await loop.pollQueue!(executor, queue).catch(() => true));
        };
        await poller.run(ask, loop.abortController!.signal);
      };
    },
    limit: async (limits) => {
      for (const lane of LANES) {
        const all = finite(limits[lane]);
        const own = finite(Math.min(ownLimits[lane] ?? Infinity, all ?? Infinity));
        const queue = await dbos.registerQueue(queueOf(lane), {
          ...(all === undefined ? {} : { globalConcurrency: all }),
          // This setting would apply to every worker that reads it from the database.
          ...(own === undefined || runner !== null ? {} : { workerConcurrency: own }),
          minPollingIntervalMs: pollMs,
          onConflict: "always_update",
        });
        // Another worker may have written other limits since.
        queues.set(lane, Object.assign(queue, { concurrency: all, workerConcurrency: own }));
      }
      poller.wake(LANES);
    },
    wake: poller.wake,
    release: () => {
      if (runner !== null) delete runner.schedulerLoop;
    },
  };
}

const finite = (limit: number | undefined): number | undefined => (Number.isFinite(limit) ? limit : undefined);

async function runnerOf(): Promise<DbosQueueRunner | null> {
  try {
    const { wfQueueRunner } = await import("@dbos-inc/dbos-sdk/internal/wfqueue");
    const runner = wfQueueRunner as unknown as DbosQueueRunner;
    return typeof runner.schedulerLoop === "function" && typeof runner.pollQueue === "function" ? runner : null;
  } catch {
    return null;
  }
}

/**
 * Reduces the library's checks for timed-out workflows from every second to every minute. Remand's workflows have no
 * timeout.
 */
async function slowTimeoutChecks(): Promise<void> {
  try {
    const { workflowTimeoutConfig } = await import("@dbos-inc/dbos-sdk/internal/workflow_management");
    Object.assign(workflowTimeoutConfig, { pollingIntervalMs: 60_000 });
  } catch {
    // Another version of the library: it checks as often as it likes.
  }
}

/** Decides when each lane is polled: at once after a hint, otherwise now and then. */
export interface LanePoller {
  /**
   * Hints that there may be a job in these lanes. A hint from another worker reaches all workers, and only one gets the
   * job.
   */
  wake(lanes: readonly Lane[], whose?: "ours" | "others"): void;
  /** Polls until `end` is aborted. `ask` returns whether another worker polled the same lane at the same moment. */
  run(ask: (lane: Lane) => Promise<boolean>, end: AbortSignal): Promise<void>;
}

/** How often a lane without hints is polled, because a hint may get lost. */
const IDLE_MS = 5000;
/** How long a lane is polled often after a hint: other workers may have been quicker, or all slots were taken. */
const AWAKE_MS = 5000;
/** The most hints that cause a poll between two regular ones. */
const MOST_IN_A_PAUSE = { ours: 5, others: 2 };

/** A clock that does not jump when the machine's time is set. */
const MONOTONIC: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
};

export function createLanePoller(pollMs: number, time: Clock = MONOTONIC): LanePoller {
  const clocks = new Map(LANES.map((lane) => [lane, createLaneClock(pollMs, time)]));
  return {
    wake: (lanes, whose = "ours") => {
      for (const lane of lanes) clocks.get(lane)!.wake(pollMs / MOST_IN_A_PAUSE[whose]);
    },
    run: async (ask, end) => {
      await Promise.all([...clocks].map(([lane, clock]) => askAgain(clock, () => ask(lane), end)));
    },
  };
}

async function askAgain(clock: LaneClock, ask: () => Promise<boolean>, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    clock.asks();
    clock.asked(await ask());
    await clock.rest(end);
  }
}

type LaneClock = ReturnType<typeof createLaneClock>;

function createLaneClock(pollMs: number, time: Clock) {
  let askedAt = -Infinity;
  let dueAt = -Infinity;
  let awakeUntil = -Infinity;
  let contendedMs = 0;
  let contentions = 0;
  let wakeUp = new AbortController();
  return {
    wake: (leastMs: number): void => {
      const now = time.now();
      awakeUntil = now + AWAKE_MS;
      const at = Math.max(now, askedAt + Math.max(leastMs, contendedMs));
      if (at >= dueAt) return;
      dueAt = at;
      wakeUp.abort();
    },
    asks: (): void => {
      askedAt = time.now();
      // A hint during a poll may be for a job that was too late for this poll.
      dueAt = Infinity;
    },
    asked: (isContended: boolean): void => {
      const now = time.now();
      contentions = isContended ? contentions + 1 : 0;
      const idleMs = Math.max(pollMs, IDLE_MS);
      // Workers that polled at the same moment retry at different times, and less often the longer it goes on.
      const againMs = Math.min(idleMs, pollMs * 2 ** (contentions - 1)) * (0.5 + Math.random() / 2);
      contendedMs = isContended ? againMs : 0;
      const pauseMs = isContended ? againMs : (now < awakeUntil ? pollMs : idleMs) * (0.95 + Math.random() / 10);
      dueAt = Math.min(Math.max(dueAt, askedAt + contendedMs), now + pauseMs);
    },
    rest: async (end: AbortSignal): Promise<void> => {
      for (let now = time.now(); now < dueAt && !end.aborted; now = time.now()) {
        wakeUp = new AbortController();
        const signal = AbortSignal.any([wakeUp.signal, end]);
        await time.sleep(dueAt - now, signal);
      }
    },
  };
}

/** Notifies a fleet's workers of new jobs. It is only a hint: a worker that misses it polls a little later. */
export interface JobNotifier {
  notify(lanes: readonly Lane[]): Promise<void>;
  close(): Promise<void>;
}

/** The pause between two attempts to listen again. */
const PAUSE_MS = 500;
/** How often the connection is tested, because a dead one may stay silent forever. */
const TRY_MS = 10_000;

/**
 * Opens the notifications. `onLanes` is not called for this worker's own; it is called for all lanes after each
 * (re)connect, to make up for missed ones.
 */
export function openJobNotifier(pool: Pool, schema: string, onLanes: (lanes: readonly Lane[]) => void): JobNotifier {
  const channel = `remand_${schema}_jobs`;
  const me = randomBytes(6).toString("hex");
  const stop = new AbortController();
  const others = (payload: string): void => {
    const [from, named = ""] = payload.split(" ");
    if (from !== me) onLanes(LANES.filter((lane) => named.split(",").includes(lane)));
  };
  const life = listen(pool, channel, { others, onReconnect: () => onLanes(LANES) }, stop.signal);
  return {
    notify: async (lanes) => {
      await pool.query("SELECT pg_notify($1, $2)", [channel, `${me} ${lanes.join(",")}`]);
    },
    close: async () => {
      stop.abort();
      await life;
    },
  };
}

async function listen(
  pool: Pool,
  channel: string,
  onLanes: { others(payload: string): void; onReconnect(): void },
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    let client: PoolClient | null = null;
    const over = new AbortController();
    const end = (): void => over.abort();
    try {
      client = await pool.connect();
      client.on("error", end).on("end", end);
      client.on("notification", ({ payload = "" }) => onLanes.others(payload));
      await client.query(`LISTEN ${channel}`);
      onLanes.onReconnect();
      const pause = AbortSignal.any([over.signal, stop]);
      while (!pause.aborted) {
        await sleep(TRY_MS, undefined, { signal: pause }).catch(() => undefined);
        if (!pause.aborted) await client.query("SELECT 1");
      }
    } catch {
      // The next query to the server reports the error in full if it persists.
    } finally {
      // Close the connection instead of reusing it, because it would still listen.
      client?.release(true);
    }
    await sleep(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}
