import { join } from "node:path";
import { createSqliteJournal } from "../../src/adapters/journal/sqlite-journal.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { median, type BenchResult } from "../bench-result.ts";
import { openEngine, type Engine } from "./driven.ts";
import { msInARow, plainFloor, sqliteFloor, type Floor } from "./floors.ts";

/** Many short rounds, because the speed of a shared disk changes several times per second. */
const ROUNDS = 60;
const STORIES = 3;
/** Stories before the first measurement, so that compilation does not count as the engine's cost. */
const WARM_UP = 600;

export interface Steps {
  readonly results: readonly BenchResult[];
  /** The time of one SQLite commit, for other measurements of grouping. */
  readonly commitMs: number;
}

/**
 * One story after the other, each sent back once: the cost of a journaled event from one decision to the next, compared
 * with writing the same bytes alone. The two alternate with every event, so that a slow moment of the disk affects
 * both, and both start after a wait for the disk and other work. The same write is faster back to back; that figure is
 * reported, too.
 */
export async function measureSteps(folder: string): Promise<Steps> {
  const plain = plainFloor(join(folder, "plain.jsonl"));
  const sqlite = await sqliteFloor(join(folder, "sqlite.db"));
  const { journal, engine, beside } = await opened(folder);
  const rounds = { plain: [] as Round[], sqlite: [] as Round[] };
  const inARow: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const ofPlain = await measuredRound(engine, beside, plain, `plain-${round}`);
    const ofSqlite = await measuredRound(engine, beside, sqlite, `sqlite-${round}`);
    rounds.plain.push(ofPlain);
    rounds.sqlite.push(ofSqlite);
    inARow.push(msInARow(plain, ofPlain.texts));
  }
  plain.close();
  sqlite.close();
  await journal.close();
  const engineMs = median(rounds.plain.map((round) => round.engineMs));
  const commitMs = median(rounds.sqlite.map((round) => round.floorMs));
  const row = (name: string, floor: string, ms: number, floorMs: number, limit: number | null): BenchResult => ({
    name,
    value: ms,
    unit: "ms",
    ratio: ms / floorMs,
    against: `${floor} (${floorMs.toFixed(2)} ms)`,
    limit,
  });
  const plainMs = median(rounds.plain.map((round) => round.floorMs));
  const besideSqlite = median(rounds.sqlite.map((round) => round.engineMs));
  return {
    commitMs,
    results: [
      row("engine: a journalled step", "append + fdatasync", engineMs, plainMs, 2),
      row("engine: the same", "append + fdatasync, in a row", engineMs, median(inARow), null),
      row("engine: the same", "a bare SQLite commit", besideSqlite, commitMs, null),
    ],
  };
}

interface Round {
  readonly engineMs: number;
  readonly floorMs: number;
  readonly texts: readonly string[];
}

/** Writes the engine's last bytes again by themselves, and times that. */
interface Beside {
  floor: Floor | null;
  ms: number;
  texts: string[];
}

/** The outbox is in use as in the product: an agent's outcome is on the disk before it is reported. */
async function opened(folder: string): Promise<{ journal: Journal; engine: Engine; beside: Beside }> {
  const own = await createSqliteJournal(join(folder, "steps.db"));
  const { outbox } = own;
  const beside: Beside = { floor: null, ms: 0, texts: [] };
  const journal: Journal = {
    ...own,
    append: async (stream, expectedSeq, events, at) => {
      const appended = await own.append(stream, expectedSeq, events, at);
      const begin = performance.now();
      if (beside.floor !== null) for (const event of events) writeBeside(beside.floor, beside.texts, event);
      beside.ms += performance.now() - begin;
      return appended;
    },
  };
  // The warm-up runs many stories at once, because it is meant for the code and not for the disk.
  const warming = await openEngine(journal, { atOnce: 50, failures: 1, outbox });
  await warming.accept(names("warm-up", WARM_UP));
  return { journal, engine: await openEngine(journal, { atOnce: 1, failures: 1, outbox }), beside };
}

function writeBeside(floor: Floor, texts: string[], event: object): void {
  const text = JSON.stringify(event);
  floor.write(text);
  texts.push(text);
}

async function measuredRound(engine: Engine, beside: Beside, floor: Floor, round: string): Promise<Round> {
  Object.assign(beside, { floor, ms: 0, texts: [] });
  const begin = performance.now();
  await engine.accept(names(round, STORIES));
  const { ms, texts } = beside;
  const engineMs = (performance.now() - begin - ms) / texts.length;
  beside.floor = null;
  return { engineMs, floorMs: ms / texts.length, texts };
}

export function names(of: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${of}-${i}`);
}
