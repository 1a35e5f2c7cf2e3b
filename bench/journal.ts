import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createSqliteJournal } from "../src/adapters/journal/sqlite-journal.ts";
import { storyId } from "../src/core/events/ids.ts";
import { median, type BenchResult } from "./bench-result.ts";
import { appendLines, countLines, event } from "./journal/lines.ts";

/**
 * The cost of a journaled event, compared with the minimum: the same bytes appended to a file and forced to the same
 * disk. Then the benefit of grouping, and the time to read everything back.
 */
export async function run(): Promise<readonly BenchResult[]> {
  // Next to the project instead of in the temporary folder, which may be in memory, where writes cost nothing.
  const folder = mkdtempSync(join(process.cwd(), ".build", "bench-journal-"));
  try {
    const single = await singleAppends(folder);
    const group = await grouped(folder, single.floorMs);
    const reading = await readBack(folder);
    return [...single.results, ...group, ...reading];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const TURNS = 600;
/** Until the code is compiled: a run of the engine is long, and its first steps are not typical. */
const WARM_UP = 5000;

/**
 * Single appends that wait for their commit, alternating with the floor, so that a slow moment of the disk affects
 * both.
 */
async function singleAppends(folder: string): Promise<{ floorMs: number; results: readonly BenchResult[] }> {
  const journal = await createSqliteJournal(join(folder, "single.db"));
  const raw = openSync(join(folder, "raw.jsonl"), "a");
  await Promise.all(Array.from({ length: WARM_UP }, (_, i) => appendLines(journal, "warm", i)));
  for (let i = 0; i < WARM_UP / 10; i++) await appendLines(journal, "warm", WARM_UP + i);
  const ours: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i < TURNS; i++) {
    floor.push(
      timed(() => {
        writeSync(raw, `${JSON.stringify(event(i))}\n`);
        fdatasyncSync(raw);
      }),
    );
    ours.push(await timedAsync(() => appendLines(journal, "one", i)));
  }
  closeSync(raw);
  await journal.close();
  const floorMs = median(floor);
  const oursMs = median(ours);
  const name = "journal: one event, waited for";
  const against = `append + fdatasync (${floorMs.toFixed(2)} ms)`;
  return { floorMs, results: [{ name, value: oursMs, unit: "ms", ratio: oursMs / floorMs, against, limit: 2 }] };
}

const STORIES = 1000;
const STEPS = 10;

/** A thousand stories at once, ten steps each: every step waits for its own commit, as in the engine. */
async function grouped(folder: string, floorMs: number): Promise<readonly BenchResult[]> {
  const journal = await createSqliteJournal(join(folder, "grouped.db"));
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: STORIES }, async (_, story) => {
      for (let step = 0; step < STEPS; step++) await appendLines(journal, `story-${story}`, step);
    }),
  );
  const ms = performance.now() - begin;
  await journal.close();
  const floor = floorMs * STORIES * STEPS;
  const name = `journal: ${STORIES} stories × ${STEPS} steps, gathered`;
  return [
    {
      name,
      value: ms,
      unit: "ms",
      ratio: ms / floor,
      against: `a disk write each (${floor.toFixed(0)} ms)`,
      limit: 0.5,
    },
  ];
}

const LINES = 100_000;

async function readBack(folder: string): Promise<readonly BenchResult[]> {
  const journal = await createSqliteJournal(join(folder, "long.db"));
  for (let from = 0; from < LINES; from += 5000) {
    const events = Array.from({ length: 5000 }, (_, i) => event(from + i));
    await journal.append(storyId("long"), from, events, from);
  }
  const texts = Array.from({ length: LINES }, (_, i) => JSON.stringify(event(i)));
  const reads: number[] = [];
  const parses: number[] = [];
  for (let round = 0; round < 5; round++) {
    parses.push(timed(() => texts.forEach((text) => void JSON.parse(text))));
    reads.push(await timedAsync(() => countLines(journal, LINES)));
  }
  const verifyMs = await timedAsync(async () => {
    const verified = await journal.verify();
    if (!verified.ok) throw new Error(verified.problem);
  });
  await journal.close();
  const readMs = median(reads);
  const parse = `JSON.parse of the same (${median(parses).toFixed(0)} ms)`;
  return [
    { name: "journal: read 100,000 events", value: readMs, unit: "ms", ratio: readMs / 1000, against: "1 s", limit: 1 },
    {
      name: "journal: read beside parsing",
      value: readMs,
      unit: "ms",
      ratio: readMs / median(parses),
      against: parse,
      limit: null,
    },
    {
      name: "journal: verify 100,000 events",
      value: verifyMs,
      unit: "ms",
      ratio: verifyMs / readMs,
      against: "reading them",
      limit: null,
    },
  ];
}

function timed(work: () => void): number {
  const begin = performance.now();
  work();
  return performance.now() - begin;
}

async function timedAsync(work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
