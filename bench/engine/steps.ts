import { join } from "node:path";
import { createSqliteJournal } from "../../src/adapters/journal/sqlite-journal.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { median, type BenchResult } from "../bench-result.ts";
import { openEngine, type Engine } from "./driven.ts";
import { msPerWrite, plainFloor, sqliteFloor } from "./floors.ts";

/** Short and many: a disk that others use too changes its mind several times a second. */
const ROUNDS = 60;
const STORIES = 3;
/** Stories before the first measurement: what is compiled later would be counted as the engine's. */
const WARM_UP = 600;

export interface Steps {
  readonly results: readonly BenchResult[];
  /** One SQLite commit, for those who ask what gathering saves. */
  readonly commitMs: number;
}

/**
 * One story after the other, each sent back once: what a journalled event costs from the decision to the next one,
 * beside the same bytes kept by themselves. All take turns, so that a slow moment of the disk falls on each of them.
 */
export async function measureSteps(folder: string): Promise<Steps> {
  const { journal, engine } = await opened(folder);
  const plain = plainFloor(join(folder, "plain.jsonl"));
  const sqlite = await sqliteFloor(join(folder, "sqlite.db"));
  const rounds: { engine: number; plain: number; sqlite: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { ms, texts } = await stepMs(journal, engine, `round-${round}`);
    const [plainMs, sqliteMs] = msPerWrite([plain, sqlite], texts) as [number, number];
    rounds.push({ engine: ms, plain: plainMs, sqlite: sqliteMs });
  }
  plain.close();
  sqlite.close();
  await journal.close();
  const of = (what: keyof (typeof rounds)[number]): number => median(rounds.map((round) => round[what]));
  const row = (name: string, floor: "plain" | "sqlite", limit: number | null) => ({
    name,
    value: of("engine"),
    unit: "ms",
    ratio: of("engine") / of(floor),
    against: `${floor === "plain" ? "append + fdatasync" : "a bare SQLite commit"} (${of(floor).toFixed(2)} ms)`,
    limit,
  });
  return {
    commitMs: of("sqlite"),
    results: [row("engine: a journalled step", "plain", 2), row("engine: the same", "sqlite", null)],
  };
}

/** With the outbox in use, as it is in the product: what an agent ended with is on the disk before it is reported. */
async function opened(folder: string): Promise<{ journal: Journal; engine: Engine }> {
  const journal = await createSqliteJournal(join(folder, "steps.db"));
  const { outbox } = journal;
  // The warm-up works on many at once, for it is the code that is to get warm and not the disk.
  const warming = await openEngine(journal, { atOnce: 50, failures: 1, outbox });
  await warming.accept(names("warm-up", WARM_UP));
  return { journal, engine: await openEngine(journal, { atOnce: 1, failures: 1, outbox }) };
}

async function stepMs(journal: Journal, engine: Engine, round: string): Promise<{ ms: number; texts: string[] }> {
  const before = await journal.head();
  const begin = performance.now();
  await engine.accept(names(round, STORIES));
  const took = performance.now() - begin;
  const texts: string[] = [];
  for await (const { event } of journal.read(before.position)) texts.push(JSON.stringify(event));
  return { ms: took / texts.length, texts };
}

export function names(of: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${of}-${i}`);
}
