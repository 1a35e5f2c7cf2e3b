import { join } from "node:path";
import { createSqliteJournal } from "../../src/adapters/journal/sqlite-journal.ts";
import { median, type BenchResult } from "../bench-result.ts";
import { openEngine } from "./driven.ts";
import { names } from "./steps.ts";

/**
 * Many concurrent stories. First, the benefit of grouping: a thousand stories that each wait for their own commit. Then
 * the cost of a step in a run of ten thousand stories compared with a run of a hundred, with the same number in
 * progress.
 */
export async function measureCrowds(folder: string, commitMs: number): Promise<readonly BenchResult[]> {
  const gathered = await ran(folder, "gathered", 1000, 1000);
  const few: Ran[] = [];
  const lookAtFew = async (of: string): Promise<void> => {
    for (let round = 0; round < 5; round++) few.push(await ran(folder, `${of}-${round}`, 100, UNDER_WAY));
  };
  // Before and after the long run, so that a slowdown of the machine affects both.
  await lookAtFew("before");
  const many = await ran(folder, "many", 10_000, UNDER_WAY);
  await lookAtFew("after");
  const fewMs = median(few.map(({ ms, events }) => ms / events));
  const oneByOneMs = commitMs * gathered.events;
  const perSecond = (gathered.events / gathered.ms) * 1000;
  return [
    {
      name: `engine: 1,000 stories at once, ${gathered.events.toLocaleString("en")} events`,
      value: gathered.ms,
      unit: "ms",
      ratio: gathered.ms / oneByOneMs,
      against: `a commit each (${oneByOneMs.toFixed(0)} ms)`,
      limit: null,
    },
    {
      name: "engine: the same, events per second",
      value: perSecond,
      unit: "/s",
      ratio: perSecond / (1000 / commitMs),
      against: `a commit each (${(1000 / commitMs).toFixed(0)}/s)`,
      limit: null,
    },
    {
      name: "engine: a step in a run of 10,000 stories",
      value: (many.ms / many.events) * 1000,
      unit: "µs",
      ratio: many.ms / many.events / fewMs,
      against: `of 100 (${(fewMs * 1000).toFixed(0)} µs)`,
      limit: 2,
    },
  ];
}

/** Enough that the disk is no longer the bottleneck, and few compared with a hundred stories. */
const UNDER_WAY = 20;

interface Ran {
  readonly ms: number;
  readonly events: number;
}

async function ran(folder: string, name: string, stories: number, atOnce: number): Promise<Ran> {
  const journal = await createSqliteJournal(join(folder, `${name}.db`));
  const engine = await openEngine(journal, { atOnce, failures: 0 });
  const begin = performance.now();
  await engine.accept(names(name, stories));
  const ms = performance.now() - begin;
  const { position: events } = await journal.head();
  await journal.close();
  return { ms, events };
}
