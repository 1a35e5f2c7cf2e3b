import { describe, expect, test, vi } from "vitest";
import { chance } from "./chance.ts";
import { checkBlocked, checkEveryStep, checkKilled } from "./check-seed.ts";
import { isWaitNamed } from "./laws.ts";
import { checkJournal, outcomeOf, simulate, simulateChatter, simulateTrouble, simulateZombie } from "./simulate.ts";
import { runsAll } from "../sampled.ts";

// Many seeds or states: on a busy machine they take long, and that is no failure.
vi.setConfig({ testTimeout: 3_600_000 });

const SEEDS = Number(process.env["REMAND_SEEDS"] ?? (runsAll ? 500 : 200));
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
  test(`${SEEDS} seeds: killed anywhere, it ends as if nothing had happened`, async () => {
    const endings: Record<string, number> = {};
    await each(SEEDS, async (seed) => {
      for (const how of await checkKilled(seed)) endings[how] = (endings[how] ?? 0) + 1;
    });
    console.log(`${SEEDS} seeds: ${JSON.stringify(endings)}`);
    expect(endings["accepted"]).toBeGreaterThan(0);
  });

  // S0.16, S2.14, S4.33, S4.102
  test("two seeds: killed at every single step", async () => {
    let runs = 0;
    // One of a whole preset, and a short one. Where few seeds are wanted, some steps of the short one are enough.
    if (SEEDS < 100) runs += await checkEveryStep(FROM + 4, 17);
    else for (const seed of [FROM + 2, FROM + 4]) runs += await checkEveryStep(seed);
    console.log(`killed at each of ${runs} steps`);
    expect(runs).toBeGreaterThan(0);
  });

  test("with broken infrastructure too: the laws hold, whoever is killed when", async () => {
    let checked = 0;
    await each(Math.ceil(SEEDS / 4), async (seed) => {
      await checkBlocked(seed);
      checked++;
    });
    expect(checked).toBe(Math.ceil(SEEDS / 4));
  });

  test("an engine that stood still and wakes after another took over changes nothing", async () => {
    await each(Math.ceil(SEEDS / 8), async (seed) => {
      const disk = await simulateZombie(seed, 1 + Math.floor(chance(seed, "zombie") * 120));
      expect(isWaitNamed(await checkJournal(disk, { isAlone: false, isOutboxSafe: false }))).toBe(true);
    });
  });

  test("with somebody else writing to every story in between: no result is lost", async () => {
    await each(Math.ceil(SEEDS / 8), async (seed) => {
      const quiet = outcomeOf(await checkJournal((await simulate(seed, false, new Set())).disk));
      expect(outcomeOf(await checkJournal(await simulateChatter(seed)))).toEqual(quiet);
      // And with broken infrastructure, where they speak to the project too: nothing is left running for ever.
      await checkJournal(await simulateChatter(seed, true));
    });
  });

  test("with a disk that fails now and then: nothing is lost, charged, or tried for ever", async () => {
    let failed = 0;
    await each(Math.ceil(SEEDS / 8), async (seed) => {
      const disk = await simulateTrouble(seed);
      await checkJournal(disk, { isAlone: false, isOutboxSafe: false });
      for await (const { event } of disk.journal.read(0)) if (event.type === "step.failed") failed++;
    });
    expect(failed).toBeGreaterThan(0);
  });
});
