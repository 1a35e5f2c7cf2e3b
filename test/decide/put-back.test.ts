import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { GateName } from "../../src/core/gates/gate.ts";
import { roleName, storyId, treeId } from "../../src/core/events/ids.ts";
import type { Phase } from "../../src/core/stories/story.ts";
import { attemptEnd, attemptStart, story } from "../kit/story-world.ts";
import { begin, stateOf, foldEvents } from "../seeds/scripted-run.ts";

/** What a refused attempt did beyond its scope is no measure for the next one. */
describe("the baseline of a rework", () => {
  function startedFrom(phase: Phase, ...reworks: readonly (GateName | null)[]): string | null {
    let run = foldEvents(begin(presetPolicy("story"), story("a")), "a", { type: "story.started", by: "x" });
    run = foldEvents(run, "a", { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] });
    for (const [index, reworkOf] of reworks.entries()) {
      const attempt = index + 1;
      const start = {
        type: "start-attempt",
        key: "a:1",
        story: storyId("a"),
        attempt,
        phase,
        role: roleName("developer"),
        reworkOf,
        spellOutFormat: false,
        timeoutMs: 1,
        forecastUsd: null,
      } as const;
      const end = attemptEnd(attempt, { type: "ready" }, `t${attempt}`, { changed: ["src/a.ts"] });
      run = foldEvents(run, "a", attemptStart(start), end);
    }
    return stateOf(run, "a").startedFrom;
  }

  it("is before the attempts of a text phase whose diff was rejected", () => {
    expect(startedFrom("research", null, "integrity")).toBe("t0");
    expect(startedFrom("research", null, "integrity", "integrity")).toBe("t0");
    expect(startedFrom("research", null, "review")).toBe("t1");
  });

  it("is before a rejected rework of code, and not before new work, which had no scope", () => {
    expect(startedFrom("implement", null, "integrity")).toBe("t1");
    expect(startedFrom("implement", null, "review", "integrity")).toBe("t1");
    expect(startedFrom("implement", null, "review", "integrity", "review")).toBe("t3");
  });
});
