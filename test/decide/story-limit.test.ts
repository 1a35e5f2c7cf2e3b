import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { PRESETS } from "../../src/core/events/policy.ts";
import { failureLimit } from "../../src/decide/charge.ts";
import { story } from "../kit/story-world.ts";
import { begin, stateOf, foldEvents } from "../seeds/scripted-run.ts";

/** S4's `max_refinement_attempts` counts reworks, so the limit on failures is one more; in every preset. */
describe("a story's own limit", () => {
  const limitOf = (preset: (typeof PRESETS)[number], maxReworks?: number): number | null => {
    const more = maxReworks === undefined ? {} : { maxReworks };
    const run = foldEvents(begin(presetPolicy(preset), story("a", more)), "a", { type: "story.started", by: "x" });
    return failureLimit(stateOf(run, "a"), "checks");
  };

  it.each(PRESETS)("overrides that of the preset %s", (preset) => {
    expect(limitOf(preset, 1)).toBe(2);
    expect(limitOf(preset, 0)).toBe(1);
  });

  it("without one the preset's applies, which `goal` does not have", () => {
    expect(PRESETS.map((preset) => limitOf(preset))).toEqual([3, 3, null, 4]);
  });
});
