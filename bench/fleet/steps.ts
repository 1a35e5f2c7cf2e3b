import type { BenchResult } from "../bench-result.ts";
import { bareStepsPerSecond } from "./bare-dbos.ts";
import { commitsPerSecond } from "./floor.ts";
import { fleetStepsPerSecond } from "./instant-fleet.ts";
import { modelStory } from "./model-story.ts";

const STORIES = 300;
const AT_ONCE = 20;
const WORKERS = [1, 2, 4] as const;

/**
 * Steps per second of a fleet whose agents and gates need no time: what the engine, the journal and the queue cost.
 * Beside it DBOS by itself, with a step for each of the same events, and the bare commits of the same server. All in
 * turns for each number of processes.
 */
export async function measureSteps(newDatabase: () => Promise<string>): Promise<readonly BenchResult[]> {
  const steps = await modelStory();
  const results: BenchResult[] = [];
  let alone = Number.NaN;
  for (const processes of WORKERS) {
    const commits = await commitsPerSecond(await newDatabase(), processes, 400 * processes);
    const plan = { processes, stories: STORIES, atOnce: AT_ONCE, steps };
    const bare = await bareStepsPerSecond({ ...plan, url: await newDatabase() });
    const fleet = await fleetStepsPerSecond({ ...plan, url: await newDatabase() });
    if (processes === 1) alone = fleet;
    results.push(
      rate(`fleet: steps per second, ${processes} workers`, fleet, bare, `bare DBOS (${bare.toFixed(0)}/s)`),
      {
        name: `fleet: cost of a step, ${processes} workers`,
        value: (1000 * processes) / fleet,
        unit: "ms",
        ratio: commits / fleet,
        against: `one commit (${((1000 * processes) / commits).toFixed(2)} ms)`,
        limit: null,
      },
      rate(`fleet: growth, ${processes} workers`, fleet, alone, `one worker (${alone.toFixed(0)}/s)`),
    );
  }
  return results;
}

function rate(name: string, value: number, beside: number, against: string): BenchResult {
  return { name, value, unit: "/s", ratio: value / beside, against, limit: null };
}
