import { setTimeout as sleep } from "node:timers/promises";
import { type Presence, createPresence, type LostWorker } from "../../adapters/postgres/workers.ts";
import { readAddress } from "../../adapters/postgres/pool.ts";
import { withLaunchTurn } from "../../adapters/postgres/turns.ts";
import { type DbosQueue, createDbosQueue } from "../../adapters/queue/dbos-queue.ts";
import type { WorkPlan, RunningWorker } from "../../app/host.ts";
import type { Policy } from "../../core/events/policy.ts";
import { doJob, handBack, storyOf } from "../../engine/dispatch.ts";
import type { Ledger } from "../../engine/ledger.ts";
import type { EngineWorld } from "../../engine/world.ts";
import type { FleetQueue, ClaimedJob } from "../../ports/queue.ts";
import { startHealthServer } from "../../server/health.ts";
import { canonicalJson } from "../../stdx/canonical-json.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { decide, nextWake } from "../../decide/decide.ts";
import { LANES } from "../../core/stories/command.ts";
import { type Leadership, createLeadership } from "./worker-leader.ts";
import type { WorkerParts } from "./worker-parts.ts";

/** Runs the worker from its first heartbeat to its last. */
export async function startWorking(parts: WorkerParts): Promise<RunningWorker> {
  const { id, plan, pool, ledger, world, policy } = parts;
  const queue = await createDbosQueue({
    url: readAddress(plan.db).url,
    schema: pool.schema,
    worker: id,
    limits: limitsOf(policy),
    ownLimits: plan.ownLimits,
    pollMs: plan.pollMs,
    onTrouble: (text) => plan.run.onNotice?.(`queue: ${text}`),
  });
  const jobs = createJobs(ledger, world);
  const launched = new Deferred();
  const leading = createLeadership(parts, queue, launched.opened);
  // Before anything else: if this process dies, its jobs must be found by its name.
  const presence = presenceOf(parts, queue, leading, launched.opened);
  const unwatch = followJournal(parts);
  const standing: DrainState = { isDraining: false };
  const open: (() => Promise<void>)[] = [() => parts.close(), () => presence.leave(), () => leading.close()];
  const close = async (): Promise<void> => {
    unwatch();
    for (const each of open.splice(0).toReversed()) await each();
  };
  try {
    await withLaunchTurn(pool, () => queue.start(jobs.work));
    launched.open();
    void keepLimits(parts, queue, standing);
    const health = await healthOf(parts, presence, jobs, standing);
    if (health !== null) open.push(() => health.close());
    return workingOf({ parts, presence, queue, jobs, leading, standing, healthUrl: health?.url ?? null, close });
  } catch (error) {
    leading.turn(false);
    open.shift();
    await within(LONGEST_END_MS, close());
    setTimeout(() => process.exit(1), LAST_WORDS_MS).unref();
    throw error;
  }
}

interface DrainState {
  isDraining: boolean;
}

interface WorkerContext {
  readonly parts: WorkerParts;
  readonly presence: Presence;
  readonly queue: FleetQueue;
  readonly jobs: ReturnType<typeof createJobs>;
  readonly leading: Leadership;
  readonly standing: DrainState;
  readonly healthUrl: string | null;
  close(): Promise<void>;
}

function workingOf({
  parts,
  presence,
  queue,
  jobs,
  leading,
  standing,
  healthUrl,
  close,
}: WorkerContext): RunningWorker {
  const { ledger, world, plan } = parts;
  return {
    healthUrl,
    state: () => ledger.state(),
    lost: presence.lost,
    settled: () => untilSettled(ledger, world, plan),
    drain: async (patienceMs) => {
      standing.isDraining = true;
      presence.resign();
      leading.turn(false);
      await queue.stop(patienceMs);
      await close();
    },
    // The same promise as that of `drain`, which reports errors.
    endJobs: () => void queue.stop(0).catch(() => undefined),
    abandon: async () => {
      leading.turn(false);
      await jobs.end();
      await within(LONGEST_END_MS, queue.stop(0).then(close));
      // The queue's library may wait for a server that does not answer; no remaining work is worth that wait.
      setTimeout(() => process.exit(1), LAST_WORDS_MS).unref();
    },
  };
}

function presenceOf(parts: WorkerParts, queue: FleetQueue, leading: Leadership, launched: Promise<void>): Presence {
  const { id, plan, beating } = parts;
  const say = (text: string): void => plan.run.onNotice?.(text);
  return createPresence(beating, {
    id,
    name: plan.name,
    leaseMs: plan.leaseMs,
    takeOver: async (gone) => {
      await launched;
      await takeOver(gone, queue, parts);
    },
    onLead: (leads) => {
      say(leads ? "hands out the jobs now" : "does not hand out jobs any more");
      leading.turn(leads);
    },
    onTrouble: (error) => say(error instanceof Error ? error.message : String(error)),
  });
}

function followJournal({ world, ledger, plan }: WorkerParts): () => void {
  return world.journal.watch((whose) => {
    // A read error is reported by the next use of the journal.
    if (whose === "others") void ledger.catchUp().catch((error: unknown) => plan.run.onNotice?.(String(error)));
  });
}

const limitsOf = ({ concurrency }: Policy): Parameters<DbosQueue["limit"]>[0] => ({ ...concurrency, engine: Infinity });

/** Applies changed limits on concurrent jobs when the rules change. */
async function keepLimits(
  { ledger, plan, policy }: WorkerParts,
  queue: DbosQueue,
  standing: DrainState,
): Promise<void> {
  let known = policy;
  while (!standing.isDraining) {
    const change = ledger.changed();
    const now = ledger.state().policy ?? known;
    const isOther = now !== known && canonicalJson(now.concurrency) !== canonicalJson(known.concurrency);
    try {
      if (isOther) await queue.limit(limitsOf(now));
      known = now;
      await change;
    } catch (error) {
      plan.run.onNotice?.(error instanceof Error ? error.message : String(error));
      await sleep(AGAIN_MS);
    }
  }
}

const AGAIN_MS = 1000;

/** A promise that is resolved from outside, once for all waiters. */
class Deferred {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

/** The jobs that this worker is running. */
function createJobs(ledger: Ledger, world: EngineWorld) {
  const running = new Map<string, AbortController>();
  const ends = new Set<Promise<void>>();
  const lost = new AbortController();
  /** Ends the jobs of stories that a person wants to stop at once. */
  const endStopped = async (): Promise<void> => {
    while (running.size > 0) {
      await ledger.changed();
      for (const [id, stop] of running) {
        const story = storyOf(id);
        if (story !== null && ledger.story(story).stopping !== null) stop.abort();
      }
    }
  };
  return {
    count: () => running.size,
    work: async (id: string, signal: AbortSignal): Promise<void> => {
      const stop = new AbortController();
      if (running.size === 0) void endStopped();
      running.set(id, stop);
      const job = doJob(id, ledger, world, AbortSignal.any([signal, stop.signal, lost.signal]));
      ends.add(job);
      try {
        await job;
      } finally {
        ends.delete(job);
        running.delete(id);
      }
    },
    /** Ends running jobs, and waits only for them: everything else they report would be refused from now on. */
    end: async (): Promise<void> => {
      lost.abort();
      await within(LONGEST_END_MS, Promise.allSettled(ends));
    },
  };
}

const LONGEST_END_MS = 10_000;
const LAST_WORDS_MS = 1000;

/** Waits up to a limit; later errors are ignored. */
async function within(longestMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, longestMs)));
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}

/** Records the gone worker's attempts as interrupted, then releases its jobs: the other order could exceed the limits. */
async function takeOver(
  gone: LostWorker,
  queue: FleetQueue,
  { ledger, world, plan, telemetry }: WorkerParts,
): Promise<void> {
  const held = await queue.claimedJobs();
  const left = held.filter(({ holder }) => holder === gone.id);
  const others = new Set(held.filter(({ holder }) => holder !== gone.id).map(({ id }) => storyOf(id)));
  for (const { id } of left) if (!others.has(storyOf(id))) await handBack(id, ledger, world, "died");
  await queue.release(left);
  telemetry.tookOver(left.length);
  plan.run.onNotice?.(`took the place of ${gone.name}, silent for ${Math.round(gone.silentMs)} ms: ${jobsText(left)}`);
}

function jobsText(jobs: readonly ClaimedJob[]): string {
  return jobs.length === 0 ? "it had no jobs" : jobs.map(({ id }) => id).join(", ");
}

async function healthOf(
  { plan, id }: WorkerParts,
  presence: Presence,
  jobs: { count(): number },
  standing: { readonly isDraining: boolean },
) {
  if (plan.health === null) return null;
  return startHealthServer({
    ...plan.health,
    report: () => ({
      worker: id,
      version: plan.version,
      isDatabaseReached: presence.isConnected(),
      isPresent: presence.isConnected(),
      isQueueLaunched: true,
      isDraining: standing.isDraining,
      jobs: jobs.count(),
    }),
  });
}

/** Waits until no work is left, on any worker. */
async function untilSettled(ledger: Ledger, world: EngineWorld, { run }: WorkPlan): Promise<void> {
  for (;;) {
    const change = ledger.changed();
    const state = ledger.state();
    const areKnown = run.stories.every(({ id }) => lookup(state.stories, id, byText) !== undefined);
    if (areKnown && isSettled(state, world.clock.now())) return;
    await Promise.race([change, world.clock.sleep(SETTLED_LOOK_MS)]);
  }
}

const SETTLED_LOOK_MS = 1000;

/**
 * Whether every story is settled or waits for a person: no job runs, none is to be enqueued, and no timer is pending.
 */
export function isSettled(state: RunState, now: number): boolean {
  if (state.policy === null || LANES.some((lane) => state.busy[lane] > 0)) return false;
  return state.remediation === null && decide(state, state.policy, now).length === 0 && nextWake(state, now) === null;
}
