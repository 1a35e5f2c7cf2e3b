import { join } from "node:path";
import { createFileOutbox } from "../../src/adapters/outbox/file-outbox.ts";
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
  const inMemory = await opened(folder, "steps", {});
  const onDisk = await opened(folder, "outbox", { outbox: createFileOutbox(join(folder, "outbox")) });
  const plain = plainFloor(join(folder, "plain.jsonl"));
  const sqlite = await sqliteFloor(join(folder, "sqlite.db"));
  const rounds: { engine: number; withOutbox: number; plain: number; sqlite: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { ms: engine, texts } = await stepMs(inMemory, `round-${round}`);
    const [plainMs, sqliteMs] = msPerWrite([plain, sqlite], texts) as [number, number];
    const { ms: withOutbox } = await stepMs(onDisk, `round-${round}`);
    rounds.push({ engine, withOutbox, plain: plainMs, sqlite: sqliteMs });
  }
  plain.close();
  sqlite.close();
  await inMemory.journal.close();
  await onDisk.journal.close();
  const of = (what: keyof (typeof rounds)[number]): number => median(rounds.map((round) => round[what]));
  const row = (name: string, what: "engine" | "withOutbox", floor: "plain" | "sqlite", limit: number | null) => ({
    name,
    value: of(what),
    unit: "ms",
    ratio: of(what) / of(floor),
    against: `${floor === "plain" ? "append + fdatasync" : "a bare SQLite commit"} (${of(floor).toFixed(2)} ms)`,
    limit,
  });
  return {
    commitMs: of("sqlite"),
    results: [
      row("engine: a journalled step", "engine", "plain", 2),
      row("engine: the same", "engine", "sqlite", null),
      row("engine: a step, with results kept on disk first", "withOutbox", "plain", null),
    ],
  };
}

interface Opened {
  readonly journal: Journal;
  readonly engine: Engine;
}

async function opened(
  folder: string,
  name: string,
  more: Pick<Parameters<typeof openEngine>[1], "outbox">,
): Promise<Opened> {
  const journal = await createSqliteJournal(join(folder, `${name}.db`));
  // The warm-up works on many at once, for it is the code that is to get warm and not the disk.
  const warming = await openEngine(journal, { atOnce: 50, failures: 1, ...more });
  await warming.accept(names("warm-up", WARM_UP));
  return { journal, engine: await openEngine(journal, { atOnce: 1, failures: 1, ...more }) };
}

async function stepMs({ journal, engine }: Opened, round: string): Promise<{ ms: number; texts: string[] }> {
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
