import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/events/event.ts";
import { treeId } from "../../../src/core/events/ids.ts";
import { diffPath, diffRange } from "../../../src/views/story/diff-range.ts";
import { recordedEvent } from "../../kit/story-world.ts";

const prepared: Event = { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] };
const finished = (attempt: number): Event => ({
  type: "attempt.finished",
  attempt,
  outcome: { type: "ready" },
  tree: treeId(`t${attempt}`),
  commit: `c${attempt}`,
  changed: [],
  productChanged: true,
  summary: "",
  durationMs: 1,
});
const started = (attempt: number): Event => ({
  type: "attempt.started",
  attempt,
  phase: "implement",
  role: "developer" as never,
  reworkOf: null,
  brief: null,
  forecastUsd: null,
});
const lines = (...events: Event[]) => events.map((event, i) => recordedEvent(i, "a", event));

describe("the compared commits", () => {
  const story = lines(prepared, started(1), finished(1), started(2), finished(2), started(3), finished(3));

  it("are the base and the newest, or those before and after an attempt", () => {
    expect(diffRange("a", story, null, null)).toEqual({ from: "c0", to: "c3" });
    expect(diffRange("a", story, 2, null)).toEqual({ from: "c1", to: "c2" });
    expect(diffRange("a", story, 3, 1)).toEqual({ from: "c1", to: "c3" });
    expect(() => diffRange("a", story, 9, null)).toThrow("no attempt 9");
    expect(() => diffRange("a", [], null, null)).toThrow("no work was done");
  });

  it("are linked step by step, without discarded work", () => {
    expect(diffPath(story, "c2").steps.map(({ attempt, from, to }) => [attempt, from, to])).toEqual([
      [1, "c0", "c1"],
      [2, "c1", "c2"],
    ]);
    const back: Event = { type: "tree.restored", tree: treeId("t1"), commit: "c1b" };
    const fixed: Event = { type: "lint.fixed", tree: treeId("t5"), commit: "c5", changed: [] };
    const restored = lines(prepared, finished(1), finished(2), back, finished(3), fixed);
    expect(diffPath(restored, "c5").steps.map(({ attempt, from, to }) => [attempt, from, to])).toEqual([
      [1, "c0", "c1"],
      [3, "c1b", "c3"],
      [0, "c3", "c5"],
    ]);
  });
});
