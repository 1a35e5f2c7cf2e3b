import { describe, expect, test, vi } from "vitest";
import { chance } from "./chance.ts";
import { simulateFleet, UNDISTURBED, type Disturbed } from "./fleet.ts";
import { checkJournal, outcomeOf, simulate } from "./simulate.ts";
import { runsAll } from "../sampled.ts";

// Many seeds or states: on a busy machine they take long, and that is no failure.
vi.setConfig({ testTimeout: 3_600_000 });

const SEEDS = Math.ceil(Number(process.env["REMAND_SEEDS"] ?? (runsAll ? 2000 : 800)) / 40);
const FROM = Number(process.env["REMAND_SEED"] ?? 0);

/** A result in the outbox of a machine that is gone is lost. */
const FLEET = { isAlone: true, isOutboxSafe: false };

/** Runs a seed on one machine and then as a fleet: every story ends the same, and every law holds at every line. */
async function endsAlike(seed: number, disturbed: (calls: number) => Disturbed) {
  const expected = outcomeOf(await checkJournal((await simulate(seed, false, new Set())).disk));
  const quiet = await simulateFleet(seed, UNDISTURBED);
  const ran = await simulateFleet(seed, disturbed(quiet.calls));
  for (const run of [quiet, ran])
    expect(outcomeOf(await checkJournal(run.disk, FLEET)), `seed ${seed}`).toEqual(expected);
  return ran;
}

const someCalls = (seed: number, what: string, count: number, calls: number): number[] =>
  Array.from({ length: count }, (_, n) => 1 + Math.floor(chance(seed, what, n) * calls));

describe("a fleet in a world that breaks", () => {
  test(`${SEEDS} seeds: workers die, and it ends as on one machine`, async () => {
    let dead = 0;
    for (let seed = FROM; seed < FROM + SEEDS; seed++) {
      const kills = (calls: number) => new Set(someCalls(seed, "kill", 4, calls));
      dead += (await endsAlike(seed, (calls) => ({ ...UNDISTURBED, kills: kills(calls) }))).dead;
    }
    expect(dead).toBeGreaterThan(SEEDS);
  });

  test(`${SEEDS} seeds: workers stand still, are taken over and wake`, async () => {
    let frozen = 0;
    for (let seed = FROM; seed < FROM + SEEDS; seed++) {
      const freezes = (calls: number) =>
        new Map(
          someCalls(seed, "freeze", 4, calls).map((at, n) => [at, 5 + Math.floor(chance(seed, "still", n) * 120)]),
        );
      frozen += (await endsAlike(seed, (calls) => ({ ...UNDISTURBED, freezes: freezes(calls) }))).frozen;
    }
    expect(frozen).toBeGreaterThan(SEEDS);
  });

  test(`${SEEDS} seeds: jobs are given to two workers at once`, async () => {
    let doubled = 0;
    for (let seed = FROM; seed < FROM + SEEDS; seed++)
      doubled += (await endsAlike(seed, () => ({ ...UNDISTURBED, doubles: 0.3 }))).doubled;
    expect(doubled).toBeGreaterThan(SEEDS);
  });
});
