import type { BenchResult } from "../bench-result.ts";
import { bareSteps } from "./bare-dbos.ts";
import { commitsPerSecond } from "./floor.ts";
import { fleetSteps } from "./instant-fleet.ts";
import { modelStory } from "./model-story.ts";
import type { Rate } from "./rate.ts";

const STORIES = 300;
const AT_ONCE = 20;
const WORKERS = [1, 2, 4] as const;
/** The same on both sides. */
const POLL_MS = 50;

type NewDatabase = () => Promise<string>;

/**
 * Steps of a fleet with instant agents and gates: the cost of engine, journal and queue. For comparison, DBOS alone
 * with a step for each of the same events, and bare commits on the same server, alternating for each number of
 * processes.
 */
export async function measureSteps(newDatabase: NewDatabase): Promise<readonly BenchResult[]> {
  const steps = await modelStory();
  const results: BenchResult[] = [];
  for (const processes of WORKERS) {
    const commits = await commitsPerSecond(await newDatabase(), processes, 400 * processes);
    const plan = { processes, stories: STORIES, atOnce: AT_ONCE };
    const bare = await bareSteps({ ...plan, steps, url: await newDatabase() });
    const fleet = await fleetSteps({ ...plan, agentMs: 0, pollMs: POLL_MS, url: await newDatabase() });
    results.push(...compared(processes, fleet, bare, commits));
  }
  return results;
}

function compared(processes: number, fleet: Rate, bare: Rate, commits: number): readonly BenchResult[] {
  const of = processes === 1 ? "1 worker" : `${processes} workers`;
  const row = (name: string, value: number, unit: string, beside: number, against: string): BenchResult => ({
    name: `fleet: ${name}, ${of}`,
    value,
    unit,
    ratio: value / beside,
    against,
    limit: null,
  });
  return [
    row("steps per second", fleet.perSecond, "/s", bare.perSecond, `bare DBOS (${bare.perSecond.toFixed(0)}/s)`),
    row("the same", fleet.perSecond, "/s", commits, `bare commits (${commits.toFixed(0)}/s)`),
    row(
      "worker's processor for a step",
      fleet.workerMs,
      "ms",
      bare.workerMs,
      `bare DBOS (${bare.workerMs.toFixed(2)} ms)`,
    ),
    row(
      "server's processor for a step",
      fleet.serverMs,
      "ms",
      bare.serverMs,
      `bare DBOS (${bare.serverMs.toFixed(2)} ms)`,
    ),
  ];
}

const AGENT_MS = 2000;
const SLOTS = 4;

/** Growth when agents dominate the time, as in practice: each worker runs a fixed number at once. */
export async function measureGrowth(newDatabase: NewDatabase): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  let alone = Number.NaN;
  for (const processes of WORKERS) {
    const plan = { processes, stories: SLOTS * 8 * processes, atOnce: SLOTS, agentMs: AGENT_MS, pollMs: POLL_MS };
    const { perSecond, stepsOfStory } = await fleetSteps({ ...plan, url: await newDatabase() });
    if (processes === 1) alone = perSecond;
    const most = (SLOTS * processes * 1000) / AGENT_MS;
    const stories = perSecond / stepsOfStory;
    results.push(
      {
        name: `fleet: stories per second, agents of ${AGENT_MS / 1000} s, ${processes} × ${SLOTS} hands`,
        value: stories,
        unit: "/s",
        ratio: stories / most,
        against: `nothing but agents (${most.toFixed(1)}/s)`,
        limit: null,
      },
      {
        name: `fleet: growth to ${processes} workers`,
        value: perSecond / alone,
        unit: "×",
        ratio: perSecond / alone / processes,
        against: `${processes} ×`,
        limit: null,
      },
    );
  }
  return results;
}
