import { afterEach, expect, test } from "vitest";
import { createMemoryJournal } from "../../src/adapters/journal/memory-journal.ts";
import { createSystemClock } from "../../src/adapters/clock/system-clock.ts";
import { createLeading, type Leading } from "../../src/compose/worker-leading.ts";
import type { WorkerParts } from "../../src/compose/worker-parts.ts";
import { presetPolicy } from "../../src/config/preset-policy.ts";
import { storyId } from "../../src/domain/ids.ts";
import type { Story } from "../../src/domain/story.ts";
import { openLedger } from "../../src/engine/ledger.ts";
import type { FleetQueue } from "../../src/ports/fleet-queue.ts";
import { byText, lookup } from "../../src/stdx/sorted-map.ts";
import { story } from "../simulation/world.ts";

let leading: Leading;
afterEach(() => leading.close());

const QUEUE = { enqueue: async () => undefined, forget: async () => undefined, inHand: async () => [] };

test("whoever leads again goes by the stories of the branch, not by those it was started with", async () => {
  const clock = createSystemClock();
  const journal = createMemoryJournal();
  const ledger = await openLedger({ journal, clock, watcher: { onLines: () => undefined, onOutput: () => undefined } });
  const branch: { news: readonly Story[] | null } = { news: null };
  const parts = {
    ledger,
    policy: presetPolicy("goal"),
    world: { clock, forge: null },
    plan: {
      followMs: 20,
      run: { stories: [story("a", { body: "old" })], config: { notify: [] }, onNotice: () => undefined },
      reread: async () => {
        const { news } = branch;
        branch.news = null;
        return news;
      },
    },
  } as unknown as WorkerParts;
  leading = createLeading(parts, QUEUE as unknown as FleetQueue, Promise.resolve());
  const body = (): string | undefined => lookup(ledger.state().stories, storyId("a"), byText)?.story.body;
  leading.turn(true);
  await expect.poll(body).toBe("old");
  branch.news = [story("a", { body: "new" }), story("b")];
  await expect.poll(body).toBe("new");
  leading.turn(false);
  leading.turn(true);
  // It has begun to lead again when it has asked the branch again.
  branch.news = [story("a", { body: "new" }), story("b"), story("c")];
  await expect.poll(() => lookup(ledger.state().stories, storyId("c"), byText)?.story.id).toBe("c");
  const said = [];
  for await (const { event } of journal.read(0)) if (event.type === "story.changed") said.push(event.story.body);
  expect(said).toEqual(["new"]);
});
