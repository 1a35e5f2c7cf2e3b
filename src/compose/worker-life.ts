import { createPresence, type Presence } from "../adapters/postgres/presence.ts";
import { readAddress } from "../adapters/postgres/address.ts";
import type { Gone } from "../adapters/postgres/workers.ts";
import { createDbosQueue } from "../adapters/queue/dbos-queue.ts";
import type { WorkPlan, Working } from "../cli/host.ts";
import { doJob, handBack, storyOf } from "../engine/do-job.ts";
import type { Ledger } from "../engine/ledger.ts";
import type { EngineWorld } from "../engine/world.ts";
import type { FleetQueue, InHand } from "../ports/fleet-queue.ts";
import { startHealthServer } from "../server/health.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { isSettled } from "./fleet-settled.ts";
import { createLeading } from "./worker-leading.ts";
import type { WorkerParts } from "./worker-parts.ts";

/** From the first sign of life to the last. */
export async function startWorking(parts: WorkerParts): Promise<Working> {
  const { id, plan, pool, ledger, world, policy } = parts;
  const say = (text: string): void => plan.run.onNotice?.(text);
  const queue = await createDbosQueue({
    url: readAddress(plan.db).url,
    schema: pool.schema,
    worker: id,
    limits: { ...policy.concurrency, engine: Infinity },
    ownLimits: plan.ownLimits,
    pollMs: plan.pollMs,
    onTrouble: (text) => say(`queue: ${text}`),
  });
  const jobs = createJobs(ledger, world);
  const leading = createLeading(parts, queue);
  const launched = new Gate();
  const presence = createPresence(pool, {
    id,
    name: plan.name,
    leaseMs: plan.leaseMs,
    takeOver: async (gone) => {
      await launched.opened;
      await takeOver(gone, queue, parts);
    },
    onLead: (leads) => {
      say(leads ? "hands out the jobs now" : "does not hand out jobs any more");
      leading.turn(leads, launched.opened);
    },
    onTrouble: (error) => say(error instanceof Error ? error.message : String(error)),
  });
  const unwatch = world.journal.watch((whose) => {
    // What cannot be read now is told by whoever works with it next.
    if (whose === "others") void ledger.catchUp().catch((error: unknown) => say(String(error)));
  });
  await queue.start(jobs.work);
  launched.open();
  const standing = { isDraining: false };
  const health = await healthOf(parts, presence, jobs, standing);
  const close = async (): Promise<void> => {
    unwatch();
    await leading.close();
    await health?.close();
    await presence.leave();
    await parts.close();
  };
  return {
    healthUrl: health?.url ?? null,
    state: () => ledger.state(),
    lost: presence.lost,
    settled: () => settled(ledger, world, plan),
    drain: async (patienceMs) => {
      standing.isDraining = true;
      presence.resign();
      leading.turn(false, launched.opened);
      await queue.stop(patienceMs);
      await close();
    },
    abandon: () => jobs.end(),
  };
}

/** Opened once, for everybody who waits. */
class Gate {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

/** What this worker does at the moment. */
function createJobs(ledger: Ledger, world: EngineWorld) {
  const running = new Map<string, AbortController>();
  const ends = new Set<Promise<void>>();
  const lost = new AbortController();
  /** What runs for a story that a person wants stopped at once is ended. */
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
    /** Whatever it does is refused from now on: what runs is ended, and nothing is waited for but that. */
    end: async (): Promise<void> => {
      lost.abort();
      await Promise.race([Promise.allSettled(ends), new Promise((resolve) => setTimeout(resolve, LONGEST_END_MS))]);
    },
  };
}

const LONGEST_END_MS = 10_000;

/** What somebody who is gone had begun is interrupted, and then its jobs are anybody's. In this order, or there would be more at once than there may be. */
async function takeOver(gone: Gone, queue: FleetQueue, { ledger, world, plan, telemetry }: WorkerParts): Promise<void> {
  const held = await queue.inHand();
  const left = held.filter(({ holder }) => holder === gone.id);
  const others = new Set(held.filter(({ holder }) => holder !== gone.id).map(({ id }) => storyOf(id)));
  for (const { id } of left) if (!others.has(storyOf(id))) await handBack(id, ledger, world);
  await queue.giveBack(left);
  telemetry.tookOver(left.length);
  plan.run.onNotice?.(`took the place of ${gone.name}, silent for ${Math.round(gone.silentMs)} ms: ${jobsText(left)}`);
}

function jobsText(jobs: readonly InHand[]): string {
  return jobs.length === 0 ? "it had nothing in hand" : jobs.map(({ id }) => id).join(", ");
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

/** Until nothing is left to be done, here or elsewhere. */
async function settled(ledger: Ledger, world: EngineWorld, { run }: WorkPlan): Promise<void> {
  for (;;) {
    const change = ledger.changed();
    const state = ledger.state();
    const areKnown = run.stories.every(({ id }) => lookup(state.stories, id, byText) !== undefined);
    if (areKnown && isSettled(state, world.clock.now())) return;
    await Promise.race([change, world.clock.sleep(SETTLED_LOOK_MS)]);
  }
}

const SETTLED_LOOK_MS = 1000;
