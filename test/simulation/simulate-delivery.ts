import type { Policy } from "../../src/core/events/policy.ts";
import { loseOpenWork } from "./work-counts.ts";
import { driven, MOST_CALLS, newProject, NOBODY, policyFor } from "./simulate.ts";
import { Killed, simulatedWorld, type Disk } from "./simulated-world.ts";

/** The ways to deliver, each with and without the merge gate. */
export const DELIVERIES = (["branch", "pull-request", "merge manual", "merge auto"] as const).flatMap((how) =>
  [true, false].map((hasMergeGate) => ({ how, hasMergeGate })),
);

/**
 * Delivers in a world where the target moves, conflicts and is rewritten and people commit to the branches, killing the
 * engine at the given calls. A person answers nothing.
 */
export async function simulateDelivery(
  seed: number,
  { how, hasMergeGate }: (typeof DELIVERIES)[number],
  kills: ReadonlySet<number> = new Set(),
): Promise<Disk> {
  const base = policyFor(4);
  const policy: Policy = {
    ...base,
    autonomy: "full",
    deliver: how === "branch" || how === "pull-request" ? how : "merge",
    merge: how === "merge auto" ? "auto" : "manual",
    phases: [{ phase: "implement", gates: ["integrity", "checks", ...(hasMergeGate ? (["merge"] as const) : [])] }],
    limits: { ...base.limits, targetMoves: 3 },
  };
  const disk = await newProject(seed, policy);
  // One seed in five has a target that moves at every look.
  const often = seed % 5 === 0 ? 1 : 0.25;
  const target = { moves: often, conflicts: 0.15, rewrites: 0.1, strays: seed % 3 === 0 ? 0.1 : 0 };
  let calls = 0;
  for (;;) {
    const alive = (): void => {
      if (++calls > MOST_CALLS) throw new Error(`no end after ${MOST_CALLS} calls`);
      if (kills.has(calls)) throw new Killed();
    };
    try {
      await driven(simulatedWorld(disk, { seed, blocked: false, target }, alive, NOBODY));
      return disk;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      loseOpenWork(disk.deeds);
    }
  }
}
