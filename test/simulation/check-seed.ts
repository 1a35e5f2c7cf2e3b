import { isDeepStrictEqual } from "node:util";
import { chance } from "./chance.ts";
import { checkJournal, outcomeOf, simulate } from "./simulate.ts";

/** How each story of a seed ended, in a word. */
export type Endings = readonly string[];

/** Runs a seed undisturbed and then killed at three chance places: all laws hold, and every story ends the same. */
export async function checkKilled(seed: number): Promise<Endings> {
  const quiet = await simulate(seed, false, new Set());
  const expected = outcomeOf(await checkJournal(quiet.disk));
  await endsAs(seed, killsOf(seed, 3, quiet.calls), expected);
  const endings = Object.values(expected) as { ending: string | null; asks: string | null }[];
  return endings.map(({ ending, asks }) => ending ?? asks ?? "waits");
}

/** The same, killed once at each single call of the world, or at each n-th. Says how many calls there were. */
export async function checkEveryStep(seed: number, stride = 1): Promise<number> {
  const quiet = await simulate(seed, false, new Set());
  const expected = outcomeOf(await checkJournal(quiet.disk));
  for (let at = 1; at <= quiet.calls; at += stride) await endsAs(seed, new Set([at]), expected);
  return quiet.calls;
}

/** With broken infrastructure the endings may differ; the laws may not, nor what was written from what is known. */
export async function checkBlocked(seed: number): Promise<void> {
  const quiet = await simulate(seed, true, new Set());
  await checkJournal(quiet.disk);
  const kills = killsOf(seed, 2, quiet.calls);
  const killed = await simulate(seed, true, kills);
  if (!isDeepStrictEqual(await checkJournal(killed.disk), killed.state))
    throw new Error(`killed at ${[...kills].join(", ")}: folding the journal again gives another state`);
}

function killsOf(seed: number, count: number, calls: number): ReadonlySet<number> {
  // Some fall behind the end: then it is killed less often.
  return new Set(Array.from({ length: count }, (_, n) => 1 + Math.floor(chance(seed, "kill", n) * calls * 1.2)));
}

async function endsAs(seed: number, kills: ReadonlySet<number>, expected: Record<string, unknown>): Promise<void> {
  const killed = await simulate(seed, false, kills);
  const outcome = outcomeOf(await checkJournal(killed.disk));
  if (!isDeepStrictEqual(outcome, expected))
    throw new Error(
      `killed at ${[...kills].join(", ")} it ends as ${JSON.stringify(outcome)}\ninstead of ${JSON.stringify(expected)}`,
    );
}
