import { afterAll, describe, expect, it } from "vitest";
import { createMemoryJournal } from "../kit/memory-journal.ts";
import { traceIds } from "../../src/adapters/telemetry/traces.ts";
import { telemetryOf } from "../../src/compose/telemetry.ts";
import { presetPolicy } from "../../src/config/presets.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { openLedger } from "../../src/engine/ledger.ts";
import { story } from "../kit/story-world.ts";
import { recordTelemetry } from "../kit/record-telemetry.ts";

const WATCHER = { onLines: () => undefined, onOutput: () => undefined };
const CLOCK = { now: () => 1_700_000_000_000, sleep: () => Promise.resolve() };

describe("telemetry of a checkout", () => {
  let told: ReturnType<typeof recordTelemetry> | null = null;
  afterAll(() => told?.close());

  it("does nothing if no SDK was registered", async () => {
    const journal = createMemoryJournal();
    const notices: string[] = [];
    const telemetry = await telemetryOf({
      root: "/shop",
      worker: null,
      journal,
      onNotice: (text) => notices.push(text),
    });
    expect(telemetry.journal(journal)).toBe(journal);
    expect(telemetry.watcher(WATCHER)).toBe(WATCHER);
    await telemetry.close();
    expect(notices).toEqual([]);
  });

  it("exports a ledger's events in traces whose ids follow from the journal's first line", async () => {
    told = recordTelemetry();
    const journal = createMemoryJournal();
    const work = async (): Promise<void> => {
      const telemetry = await telemetryOf({ root: "/work/shop", worker: null, journal, onNotice: expect.unreachable });
      const world = { journal: telemetry.journal(journal), watcher: telemetry.watcher(WATCHER), clock: CLOCK };
      const ledger = await openLedger(world);
      telemetry.resume(ledger.state());
      const id = storyId(`story-${ledger.state().seq}`);
      await ledger.append(null, [{ type: "policy.set", policy: presetPolicy("goal"), by: "test" }]);
      await ledger.append(id, [{ type: "story.added", story: story(id) }]);
      await ledger.append(id, [{ type: "story.started", by: "engine" }]);
      await ledger.append(id, [{ type: "story.failed", how: "abandoned", reason: "no more" }]);
      await telemetry.close();
    };
    // Once with an empty journal, whose first line is still to come, and once with a first line.
    await work();
    await work();
    const hashes: string[] = [];
    for await (const { hash } of journal.read(0)) hashes.push(hash);
    const stories = told.spans().filter(({ name }) => name === "story");
    expect(stories.map(({ attributes }) => [attributes["remand.project"], attributes["remand.story"]])).toEqual([
      ["shop", "story-0"],
      ["shop", "story-1"],
    ]);
    for (const { traceId, attributes } of stories)
      expect(traceId).toBe(traceIds(hashes[0]!, String(attributes["remand.story"])).traceId);
  });
});
