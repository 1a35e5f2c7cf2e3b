import { describe, expect, it } from "vitest";
import { type ExitCode, exitCodeOf, strongest } from "../../src/app/command.ts";
import { storyId } from "../../src/core/events/ids.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { world as scripted } from "../seeds/scripted-run.ts";
import { answer, story } from "../kit/story-world.ts";
import { fakeHost } from "../kit/fake-host.ts";
import { planFor, hostAfterRun } from "../kit/finished-run.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;
const STUCK = { checks: [SAME, SAME, SAME] };
const watcher = { onLines: () => undefined, onOutput: () => undefined };
const of = (run: RunState, ...ids: string[]): ExitCode => exitCodeOf(run, ids.map(storyId));

describe("the exit code", () => {
  it("takes the strongest of several: failed, budget, person, rejected, running", () => {
    expect(strongest(new Set<ExitCode>([8, 3, 4, 5, 1, 0]))).toBe(1);
    expect(strongest(new Set<ExitCode>([8, 3, 4, 5, 0]))).toBe(5);
    expect(strongest(new Set<ExitCode>([8, 3, 4]))).toBe(4);
    expect(strongest(new Set<ExitCode>([8, 3]))).toBe(3);
    expect(strongest(new Set<ExitCode>([8, 0]))).toBe(8);
    expect(strongest(new Set<ExitCode>([0]))).toBe(0);
    expect(strongest(new Set<ExitCode>())).toBe(0);
  });

  it("is 0 when every requested story is accepted, whatever the result of others", async () => {
    const host = await hostAfterRun([story("a"), story("b")], scripted({ gates: STUCK, story: "b" }));
    expect(of(host.state(), "a")).toBe(0);
    expect(of(host.state(), "b")).toBe(4);
    expect(exitCodeOf(host.state(), null)).toBe(4);
  });

  it.each([
    ["limits.costUsd=1", { attemptCostUsd: 2 }, 5],
    ["limits.time=1s", { attemptMs: 2000 }, 5],
    ["limits.run.costUsd=1", { attemptCostUsd: 2 }, 5],
    ["limits.run.actions=1", {}, 5],
    ["limits.iterations=1", {}, 4],
    ["limits.failures=1", {}, 4],
  ])("with %s used up is %s %s", async (set, world, code) => {
    const host = await hostAfterRun([story("a")], scripted({ gates: { checks: ["fail", "fail", "fail"] }, ...world }), [
      set,
    ]);
    expect(of(host.state(), "a")).toBe(code);
  });

  it("of a story that waits for another is the other story's code", async () => {
    const stories = [story("a"), story("b", { dependsOn: [storyId("a")] }), story("c", { dependsOn: [storyId("b")] })];
    const host = await hostAfterRun(stories, scripted({ gates: STUCK, story: "a" }));
    expect(of(host.state(), "c")).toBe(4);
    await host.write(storyId("a"), answer("abandon"));
    expect(of(host.state(), "c")).toBe(3);
    await host.write(storyId("lost"), {
      type: "story.added",
      story: story("lost", { dependsOn: [storyId("nowhere")] }),
    });
    expect(of(host.state(), "lost")).toBe(4);
  });

  it("is 8 while work continues, and 4 when the story is paused, the run halted, or the story in the backlog", async () => {
    const host = fakeHost();
    await host.openEngine("/work", { ...planFor([story("a"), story("later", { shelf: "backlog" })]), watcher });
    expect(of(host.state(), "a")).toBe(8);
    expect(of(host.state(), "later")).toBe(4);
    await host.write(storyId("a"), { type: "story.started", by: "engine" });
    expect(of(host.state(), "a")).toBe(8);
    await host.write(storyId("b"), { type: "story.added", story: story("b") }, { type: "story.held", by: "ada" });
    expect(of(host.state(), "b")).toBe(4);
    await host.write(storyId("c"), { type: "story.added", story: story("c") });
    await host.write(null, answer("halt"));
    expect(of(host.state(), "c")).toBe(4);
    // A running step still ends.
    expect(of(host.state(), "a")).toBe(8);
  });
});
