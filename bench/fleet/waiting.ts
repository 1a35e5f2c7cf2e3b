import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { createPostgresJournal } from "../../src/adapters/postgres/journal.ts";
import type { Event, Recorded } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { decide } from "../../src/decide/decide.ts";
import { fold } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { instantPolicy } from "../engine/instant-world.ts";
import type { BenchResult } from "../bench-result.ts";
import { startFleet } from "./instant-fleet.ts";
import { modelStory, retold } from "./model-story.ts";
import { processorMs, serverProcessorMs } from "./processor.ts";

const STORIES = 10_000;
const WATCHED_MS = 20_000;
/** A worker's default poll interval. */
const POLL_MS = 500;

/** The cost of ten thousand stories that wait for a person: jobs in the queue, and processor time of a worker. */
export async function measureWaiting(newDatabase: () => Promise<string>): Promise<readonly BenchResult[]> {
  const none = await idle(await newDatabase(), 0);
  const many = await idle(await newDatabase(), STORIES);
  const waiting = `${STORIES.toLocaleString("en")} waiting stories`;
  return [
    { name: `fleet: jobs of ${waiting}`, value: many.jobs, unit: "", ratio: many.jobs, against: "none", limit: 0 },
    {
      name: `fleet: a worker beside ${waiting}`,
      value: many.workerPercent,
      unit: "% of a core",
      ratio: many.workerPercent / 2,
      against: `2 % (with none: ${none.workerPercent.toFixed(2)} %)`,
      limit: 1,
    },
    {
      name: `fleet: of that, for the ${waiting}`,
      value: Math.max(0, many.workerPercent - none.workerPercent),
      unit: "% of a core",
      ratio: Math.max(0, many.workerPercent - none.workerPercent) / 2,
      against: "2 %",
      limit: 1,
    },
    {
      name: `fleet: the server beside ${waiting}`,
      value: many.serverPercent,
      unit: "% of a core",
      ratio: many.serverPercent / none.serverPercent,
      against: `with none (${none.serverPercent.toFixed(2)} %)`,
      limit: null,
    },
  ];
}

async function idle(url: string, stories: number) {
  await putWaiting(url, stories);
  const [worker] = await startFleet({ url, processes: 1, atOnce: 20, agentMs: 0, pollMs: POLL_MS });
  try {
    // Until the worker has its presence, and has found nothing to do.
    await pause(10_000);
    const before = { worker: processorMs(worker!.pid), server: await serverProcessorMs(url) };
    const begin = performance.now();
    await pause(WATCHED_MS);
    const ms = performance.now() - begin;
    return {
      workerPercent: ((processorMs(worker!.pid) - before.worker) / ms) * 100,
      serverPercent: (((await serverProcessorMs(url)) - before.server) / ms) * 100,
      jobs: await openJobs(url),
    };
  } finally {
    await worker!.end();
  }
}

/** Jobs that are queued or claimed by a worker. */
async function openJobs(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ jobs: string }>(
      "SELECT count(*) AS jobs FROM remand_queue.workflow_status WHERE status IN ('PENDING', 'ENQUEUED')",
    );
    return Number(rows[0]!.jobs);
  } finally {
    await client.end();
  }
}

const BATCH = 1000;

async function putWaiting(url: string, stories: number): Promise<void> {
  const journal = await createPostgresJournal(url);
  const policy = instantPolicy(20);
  await journal.append(null, 0, [{ type: "policy.set", policy, by: "bench" }], 0);
  const events = stories === 0 ? [] : await askingStory();
  for (let from = 0; from < stories; from += BATCH)
    await Promise.all(
      Array.from({ length: Math.min(BATCH, stories - from) }, async (_, i) => {
        const name = `waits-${from + i}`;
        const { ok } = await journal.append(storyId(name), 0, retold(events, name), Date.now());
        if (!ok) throw new Error("a conflict although no other process writes");
      }),
    );
  await journal.close();
}

/** The events of a story whose agent needs information from a person, up to the engine's question. */
async function askingStory(): Promise<readonly Event[]> {
  const policy = instantPolicy(20);
  const model = await modelStory();
  const untilDone = model.findIndex(({ type }) => type === "attempt.finished");
  const outcome = {
    type: "incomplete",
    category: "missing_info",
    blocker: "how often is a payment tried again",
    attempted: ["read the story"],
    needed: "a number",
  } as const;
  const events = model
    .slice(0, untilDone + 1)
    .map((event): Event => (event.type === "attempt.finished" ? { ...event, outcome } : event));
  const story = events.flatMap((event) => (event.type === "story.added" ? [event.story.id] : []))[0]!;
  const line = (of: typeof story | null, event: Event): Recorded => ({ v: 1, at: 0, story: of, event });
  const lines = [line(null, { type: "policy.set", policy, by: "bench" }), ...events.map((event) => line(story, event))];
  const state = fold(lines, EMPTY_RUN);
  const asks = decide(state, policy, 1).find((command) => command.type === "raise-escalation");
  if (asks === undefined) throw new Error("the engine raised no escalation");
  return [...events, { type: "escalation.raised", escalation: asks.escalation }];
}
