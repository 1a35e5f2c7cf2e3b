import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { createPostgresJournal, type PostgresJournal } from "../../src/adapters/postgres/journal.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { bareStory } from "../../src/core/stories/story.ts";
import { foldJournal } from "../../src/engine/fold-journal.ts";
import { createSnapshotSaver } from "../../src/engine/snapshot.ts";
import type { PostgresServer } from "../../test/kit/fleet/postgres-server.ts";
import { median, type BenchResult } from "../bench-result.ts";

/** The built program; this file itself runs from `.build/bench/postgres`. */
const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const [FEW, MANY] = [1000, 100_000];
const ROUNDS = 5;
/** Stories that are open in both journals. */
const OPEN = 100;

/** The time of `remand status --db` with a hundred open stories, after a thousand stories and after many more. */
export async function glances(server: PostgresServer): Promise<readonly BenchResult[]> {
  const few = await filled(`${server.url}?schema=few`, FEW);
  const many = await filled(`${server.url}?schema=many`, MANY);
  const times = { few: [] as number[], many: [] as number[], one: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    const measured = [
      statusMs([], few, `story-${FEW - 1}`),
      statusMs([], many, `story-${MANY - 1}`),
      statusMs(["story-7"], many, "story-7"),
    ] as const;
    // The first round warms the server's cache.
    if (round === 0) continue;
    times.few.push(measured[0]);
    times.many.push(measured[1]);
    times.one.push(measured[2]);
  }
  const fewMs = median(times.few);
  const against = `after ${FEW.toLocaleString("en")} stories (${fewMs.toFixed(0)} ms)`;
  const result = (name: string, ms: number): BenchResult => ({
    name,
    value: ms,
    unit: "ms",
    ratio: ms / fewMs,
    against,
    limit: 2,
  });
  return [
    result("postgres journal: status after 100,000 stories", median(times.many)),
    result("postgres journal: status of one of 100,000 stories", median(times.one)),
  ];
}

const BATCH = 500;

async function filled(url: string, stories: number): Promise<string> {
  const journal = await createPostgresJournal(url);
  for (let from = 0; from < stories; from += BATCH)
    await Promise.all(Array.from({ length: BATCH }, (_, i) => addStory(journal, from + i, stories)));
  const folded = await foldJournal(journal);
  await createSnapshotSaver(journal, null)(folded);
  await journal.close();
  return url;
}

async function addStory(journal: PostgresJournal, i: number, stories: number): Promise<void> {
  const id = storyId(`story-${i}`);
  const asked = { criteria: [{ id: "AC1", text: "it works" }], body: "Make it work." };
  const story = bareStory(id, `The story with the number ${i}`, asked);
  const added: Event = { type: "story.added", story };
  const over: Event[] = i < stories - OPEN ? [{ type: "story.accepted" }] : [];
  await journal.append(id, 0, [added, { type: "story.started", by: "bench" }, ...over], i);
}

function statusMs(args: readonly string[], url: string, story: string): number {
  const begin = performance.now();
  const { stdout, stderr, error } = spawnSync(process.execPath, [MAIN, "status", ...args, "--db", url], {
    cwd: tmpdir(),
    encoding: "utf8",
    maxBuffer: 1e9,
  });
  const ms = performance.now() - begin;
  if (error !== undefined || stderr !== "") throw new Error(`remand status failed: ${error?.message ?? stderr}`);
  if (!stdout.includes(story)) throw new Error(`status did not tell of ${story}`);
  return ms;
}
