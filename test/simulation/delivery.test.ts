import { describe, expect, test } from "vitest";
import { entries } from "../../src/stdx/sorted-map.ts";
import { chance } from "./chance.ts";
import { checkJournal } from "./simulate.ts";
import { DELIVERIES, simulateDelivery } from "./simulate-delivery.ts";
import { runsAll } from "../sampled.ts";

const SEEDS = Math.ceil(Number(process.env["REMAND_SEEDS"] ?? (runsAll ? 2000 : 800)) / 20);
const FROM = Number(process.env["REMAND_SEED"] ?? 0);

/** The merge gate is the real one here, and its runs are not counted. */
const EXPECTED = { isAlone: false, isOutboxSafe: true };

describe("delivery to a target that moves, conflicts and is rewritten", () => {
  for (const way of DELIVERIES)
    test(
      `${way.how}${way.hasMergeGate ? " with" : " without"} the merge gate: ${SEEDS} seeds, each killed too`,
      { timeout: 600_000 },
      async () => {
        const endings: Record<string, number> = {};
        for (let seed = FROM; seed < FROM + SEEDS; seed++) {
          const kills = new Set([1, 2, 3].map((kill) => 20 + Math.floor(chance(seed, "kill", kill) * 200)));
          for (const killed of [new Set<number>(), kills])
            try {
              const run = await checkJournal(await simulateDelivery(seed, way, killed), EXPECTED);
              for (const [, { ending, escalation }] of entries(run.stories)) {
                const how = ending?.how ?? escalation?.reason.type ?? "waits";
                endings[how] = (endings[how] ?? 0) + 1;
              }
            } catch (error) {
              throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
            }
        }
        console.log(`${way.how}, merge gate ${way.hasMergeGate}: ${JSON.stringify(endings)}`);
        expect(endings[way.how === "merge manual" ? "approval" : "accepted"]).toBeGreaterThan(0);
        if (way.how !== "merge manual") expect(endings["branch-moved"]).toBeGreaterThan(0);
        if (way.how === "merge auto") expect(endings["target-moves"]).toBeGreaterThan(0);
      },
    );
});
