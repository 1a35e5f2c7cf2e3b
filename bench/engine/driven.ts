import { byText, lookup } from "../../src/stdx/sorted-map.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { drive } from "../../src/engine/drive.ts";
import { openLedger, type Ledger } from "../../src/engine/ledger.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { instantPolicy, instantStory, instantWorld, type InstantOptions } from "./instant-world.ts";

export type DriveOptions = Omit<InstantOptions, "journal">;

/** An engine with a journal and the policy of these benchmarks. */
export interface Engine {
  readonly ledger: Ledger;
  /** Adds these stories to the journal and works until all are accepted. */
  accept(names: readonly string[]): Promise<void>;
}

export async function openEngine(journal: Journal, driving: DriveOptions): Promise<Engine> {
  const ledger = await openLedger(instantWorld({ journal, ...driving }));
  if (ledger.state().policy?.concurrency.stories !== driving.atOnce)
    await ledger.append(null, [
      { type: "policy.set", policy: instantPolicy(driving.atOnce, driving.gates), by: "bench" },
    ]);
  return {
    ledger,
    accept: async (names) => {
      const add = (name: string) => ledger.append(storyId(name), [{ type: "story.added", story: instantStory(name) }]);
      if (driving.atOnce > 1) await Promise.all(names.map(add));
      else for (const name of names) await add(name);
      // Each drive gets its own world, because a queue starts only once.
      await drive(ledger, instantWorld({ journal, ...driving }), new AbortController().signal);
      for (const name of names) {
        const how = lookup(ledger.state().stories, storyId(name), byText)?.ending?.how;
        if (how !== "accepted") throw new Error(`${name} ended as ${how}, not as accepted`);
      }
    },
  };
}
