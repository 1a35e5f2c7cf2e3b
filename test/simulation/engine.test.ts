import { describe, expect, test } from "vitest";
import { chance } from "./chance.ts";
import { checkJournal, outcomeOf, simulate } from "./simulate.ts";

const SEEDS = Number(process.env["REMAND_SEEDS"] ?? 2000);
const FROM = Number(process.env["REMAND_SEED"] ?? 0);

/** A seed that fails is named, so that `REMAND_SEED=<n> REMAND_SEEDS=1` runs it again exactly. */
async function each(seeds: number, work: (seed: number) => Promise<void>): Promise<void> {
  for (let seed = FROM; seed < FROM + seeds; seed++) {
    try {
      await work(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}

describe("the engine in a world that breaks", () => {
  test(`${SEEDS} seeds: killed anywhere, it ends as if nothing had happened`, { timeout: 600_000 }, async () => {
    const endings: Record<string, number> = {};
    await each(SEEDS, async (seed) => {
      const quiet = await simulate(seed, false, new Set());
      const expected = outcomeOf(await checkJournal(quiet.disk));
      const kills = new Set([0, 1, 2].map((n) => 1 + Math.floor(chance(seed, "kill", n) * quiet.calls * 1.2)));
      const killed = await simulate(seed, false, kills);
      expect(outcomeOf(await checkJournal(killed.disk))).toEqual(expected);
      for (const story of Object.values(expected) as { ending: string | null; asks: string | null }[]) {
        const how = story.ending ?? story.asks ?? "waits";
        endings[how] = (endings[how] ?? 0) + 1;
      }
    });
    console.log(`${SEEDS} seeds: ${JSON.stringify(endings)}`);
  });

  test("the first seeds: killed at every single step", { timeout: 600_000 }, async () => {
    let runs = 0;
    await each(Math.min(SEEDS, 2), async (seed) => {
      const quiet = await simulate(seed, false, new Set());
      const expected = outcomeOf(await checkJournal(quiet.disk));
      for (let at = 1; at <= quiet.calls; at++, runs++) {
        const killed = await simulate(seed, false, new Set([at]));
        expect(outcomeOf(await checkJournal(killed.disk)), `killed at ${at}`).toEqual(expected);
      }
    });
    console.log(`killed at each of ${runs} steps`);
  });

  test("with broken infrastructure too: the laws hold, whoever is killed when", { timeout: 600_000 }, async () => {
    await each(Math.ceil(SEEDS / 4), async (seed) => {
      const quiet = await simulate(seed, true, new Set());
      await checkJournal(quiet.disk);
      const kills = new Set([0, 1].map((n) => 1 + Math.floor(chance(seed, "kill", n) * quiet.calls * 1.2)));
      const killed = await simulate(seed, true, kills);
      expect(await checkJournal(killed.disk)).toEqual(killed.state);
    });
  });
});
