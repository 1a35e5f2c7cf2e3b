import { setTimeout as sleep } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import type { DBOS, WorkflowQueue } from "@dbos-inc/dbos-sdk";
import type { Pool, PoolClient } from "pg";
import { LANES, type Lane } from "../../core/stories/command.ts";
import type { Clock } from "../../ports/clock.ts";

/** How many of a lane run at once; a lane that is not named has no limit. */
export type LaneLimits = Readonly<Partial<Record<Lane, number>>>;

/** The lanes as queues of the library, and when they are asked. */
export interface DbosLanes {
  /** To be called before the library is launched. */
  take(): Promise<void>;
  /** Makes the queues, or has them keep to other limits. */
  limit(limits: LaneLimits): Promise<void>;
  /** There may be a job in these lanes. */
  wake(lanes: readonly Lane[], whose?: "ours" | "others"): void;
  /** Gives the library its own loop back. */
  release(): void;
}

/** The part of the library's loop over its queues that we step into: see `take`. */
interface DbosQueueRunner {
  schedulerLoop?: (executor: unknown, ...rest: readonly unknown[]) => Promise<void>;
  pollQueue?: (executor: unknown, queue: WorkflowQueue) => Promise<boolean>;
  readonly abortController?: AbortController;
}

export const queueOf = (lane: Lane): string => `remand-${lane}`;

/**
 * The library asks each queue at fixed times, reads all queues' limits again every second, and has one limit of its own
 * for every worker: that of the worker that started last. So the loop is ours, and the library only polls. Where a
 * later version of it is not made like that any more, it does all of this itself, as often as `pollMs` says.
 */
export function createDbosLanes(dbos: typeof DBOS, pollMs: number, ownLimits: LaneLimits): DbosLanes {
  const asking = createLanePoller(pollMs);
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
          // It tells its own trouble; whatever else it throws must not be the end of asking.
          return queue !== undefined && (await loop.pollQueue!(executor, queue).catch(() => true));
        };
        await asking.run(ask, loop.abortController!.signal);
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
        // Another worker may have written something else since.
        queues.set(lane, Object.assign(queue, { concurrency: all, workerConcurrency: own }));
      }
      asking.wake(LANES);
    },
    wake: asking.wake,
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

/** Every second the library looks for workflows whose time is over; none of ours has such a time. */
async function slowTimeoutChecks(): Promise<void> {
  try {
    const { workflowTimeoutConfig } = await import("@dbos-inc/dbos-sdk/internal/workflow_management");
    Object.assign(workflowTimeoutConfig, { pollingIntervalMs: 60_000 });
  } catch {
    // A version that has no such thing: then it looks as often as it likes.
  }
}

/** When each lane is polled for a job: at once after a hint that there may be one, otherwise now and then. */
export interface LanePoller {
  /** There may be a job in these lanes. What another worker says is said to all of them, and only one gets the job. */
  wake(lanes: readonly Lane[], whose?: "ours" | "others"): void;
  /** Polls until `end` is aborted. `ask` says whether another worker polled the same lane at the same moment. */
  run(ask: (lane: Lane) => Promise<boolean>, end: AbortSignal): Promise<void>;
}

/** How often a lane without hints is polled, because a hint may get lost. */
const IDLE_MS = 5000;
/** For so long after a word a lane is asked often: others may have been quicker, or all hands were full. */
const AWAKE_MS = 5000;
/** However many words come, a lane is asked only so often in the time between two ordinary questions. */
const MOST_IN_A_PAUSE = { ours: 5, others: 2 };

/** Time that does not jump when the machine's clock is set. */
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
  let rouse = new AbortController();
  return {
    wake: (leastMs: number): void => {
      const now = time.now();
      awakeUntil = now + AWAKE_MS;
      const at = Math.max(now, askedAt + Math.max(leastMs, contendedMs));
      if (at >= dueAt) return;
      dueAt = at;
      rouse.abort();
    },
    asks: (): void => {
      askedAt = time.now();
      // A word that comes while it is asked may be of a job that came too late for this question.
      dueAt = Infinity;
    },
    asked: (isContended: boolean): void => {
      const now = time.now();
      contentions = isContended ? contentions + 1 : 0;
      const idleMs = Math.max(pollMs, IDLE_MS);
      // Those who were in each other's way come back at different times, and less often the longer that goes on.
      const againMs = Math.min(idleMs, pollMs * 2 ** (contentions - 1)) * (0.5 + Math.random() / 2);
      contendedMs = isContended ? againMs : 0;
      const pauseMs = isContended ? againMs : (now < awakeUntil ? pollMs : idleMs) * (0.95 + Math.random() / 10);
      dueAt = Math.min(Math.max(dueAt, askedAt + contendedMs), now + pauseMs);
    },
    rest: async (end: AbortSignal): Promise<void> => {
      for (let now = time.now(); now < dueAt && !end.aborted; now = time.now()) {
        rouse = new AbortController();
        const signal = AbortSignal.any([rouse.signal, end]);
        await time.sleep(dueAt - now, signal);
      }
    },
  };
}

/** Tells the workers of a fleet that there are new jobs. It is a hint: who does not hear it asks a little later. */
export interface JobNotifier {
  ring(lanes: readonly Lane[]): Promise<void>;
  close(): Promise<void>;
}

/** Between two tries to listen again. */
const PAUSE_MS = 500;
/** How often the connection is tried: one that died without a word is silent for ever. */
const TRY_MS = 10_000;

/** What we ring ourselves is not heard here. `heard` is also called for all lanes whenever it has begun to listen: what was said before that is made up for. */
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
    ring: async (lanes) => {
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
      // It is given up and not used for anything else: it would still listen.
      client?.release(true);
    }
    await sleep(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}
