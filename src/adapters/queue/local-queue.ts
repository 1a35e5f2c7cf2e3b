import { LANES, type Lane } from "../../core/stories/command.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Job, Queue } from "../../ports/queue.ts";
import { assert } from "../../stdx/assert.ts";

export interface LocalQueueOptions {
  /** How many jobs of a lane run at once; other lanes have no limit. */
  readonly limits: Readonly<Partial<Record<Lane, number>>>;
  readonly clock: Clock;
}

type RunJob = (job: Job, signal: AbortSignal) => Promise<void>;

/**
 * The queue inside one process. A job is **known** from when it is enqueued until it has ended, and its id is taken for
 * that time. A known job is in one of three states:
 *
 *   later ── its time comes ──▶ ready ── its lane has a free slot ──▶ running ──▶ forgotten
 *
 * Nothing is stored: after a crash the journal says what comes next, and it is enqueued again. A job that throws is a
 * bug: no further job starts, `idle` rejects at once, and `stop` after the running jobs have ended.
 */
export function createLocalQueue({ limits, clock }: LocalQueueOptions): Queue {
  const known = new Set<string>();
  const backlog = createBacklog();
  const slots = new Map<Lane, number>(LANES.map((lane) => [lane, limits[lane] ?? Infinity]));
  const ending = new AbortController();
  const waiters = createIdleWaiters(() => known.size === 0);
  const alarm = createAlarm(clock, () => pump());
  let work: RunJob | null = null;
  let stopped = false;

  const run = async (job: Job, perform: RunJob): Promise<void> => {
    slots.set(job.lane, slots.get(job.lane)! - 1);
    try {
      // Started in its own microtask, so that the caller that enqueues finishes its step first.
      await Promise.resolve();
      await perform(job, ending.signal);
    } catch (fault) {
      halt();
      waiters.fail(fault);
    }
    slots.set(job.lane, slots.get(job.lane)! + 1);
    known.delete(job.id);
    pump();
  };
  const pump = (): void => {
    if (work !== null) {
      backlog.ripen(clock.now());
      for (const job of startable(backlog, slots)) void run(job, work);
      alarm.set(backlog.nextAt());
    }
    waiters.look();
  };
  const halt = (): void => {
    stopped = true;
    for (const job of backlog.clear()) known.delete(job.id);
  };

  return {
    enqueue: (job) => {
      if (stopped || known.has(job.id)) return;
      known.add(job.id);
      backlog.add(job);
      pump();
    },
    start: (perform) => {
      assert(work === null, "a queue is started once");
      work = perform;
      pump();
    },
    idle: () => waiters.wait("idle"),
    allWait: () => new Promise((resolve) => process.nextTick(resolve)),
    stop: async (now) => {
      halt();
      if (now) ending.abort();
      pump();
      await waiters.wait("stop");
    },
  };
}

/** Yields the jobs that can start. The caller must take the lane's slot before the next one is requested. */
function* startable(backlog: Backlog, slots: ReadonlyMap<Lane, number>): Generator<Job> {
  for (const lane of LANES) {
    while (slots.get(lane)! > 0) {
      const job = backlog.take(lane);
      if (job === null) break;
      yield job;
    }
  }
}

/** Sleeps until the first delayed job is due; reset when an earlier one is enqueued. */
function createAlarm(clock: Clock, onDue: () => void): { set(at: number | null): void } {
  let current: { readonly at: number; readonly off: AbortController } | null = null;
  const sleep = async (at: number, off: AbortController): Promise<void> => {
    await clock.sleep(at - clock.now(), off.signal);
    if (off.signal.aborted) return;
    current = null;
    onDue();
  };
  return {
    set: (at) => {
      if (current !== null && current.at === at) return;
      current?.off.abort();
      current = at === null ? null : { at, off: new AbortController() };
      if (current !== null) void sleep(current.at, current.off);
    },
  };
}

interface Waiter {
  readonly for: "idle" | "stop";
  resolve(): void;
  reject(fault: unknown): void;
}

/** Holds the callers that wait until nothing runs. */
function createIdleWaiters(isIdle: () => boolean) {
  let waiting: Waiter[] = [];
  let failure: { readonly fault: unknown } | null = null;
  const look = (): void => {
    waiting = waiting.filter((waiter) => {
      const stays = !isIdle() && (failure === null || waiter.for === "stop");
      if (!stays && failure !== null) waiter.reject(failure.fault);
      else if (!stays) waiter.resolve();
      return stays;
    });
  };
  return {
    look,
    fail: (fault: unknown): void => {
      failure ??= { fault };
      look();
    },
    wait: (what: Waiter["for"]): Promise<void> =>
      new Promise((resolve, reject) => {
        waiting.push({ for: what, resolve, reject });
        look();
      }),
  };
}

/** Jobs that have not started: delayed ones in order of time, and those that wait for a free slot. */
export interface Backlog {
  add(job: Job): void;
  /** Makes delayed jobs whose time has come ready. */
  ripen(now: number): void;
  /** Removes and returns the next ready job of a lane. */
  take(lane: Lane): Job | null;
  /** When the next delayed job is due; `null`: no job is delayed. */
  nextAt(): number | null;
  /** Empties the backlog and returns its jobs. */
  clear(): readonly Job[];
}

function createBacklog(): Backlog {
  const later: Job[] = [];
  const ready = new Map<Lane, Job[]>(LANES.map((lane) => [lane, []]));
  return {
    add: (job) => void later.splice(placeFor(later, job.notBefore), 0, job),
    ripen: (now) => {
      const due = placeFor(later, now);
      for (const job of later.splice(0, due)) ready.get(job.lane)!.push(job);
    },
    take: (lane) => ready.get(lane)!.shift() ?? null,
    nextAt: () => later[0]?.notBefore ?? null,
    clear: () => [...later.splice(0), ...[...ready.values()].flatMap((jobs) => jobs.splice(0))],
  };
}

/** Returns the position after all jobs that are due no later, so that equal times keep their order. */
function placeFor(jobs: readonly Job[], notBefore: number): number {
  let low = 0;
  let high = jobs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (jobs[middle]!.notBefore <= notBefore) low = middle + 1;
    else high = middle;
  }
  return low;
}
