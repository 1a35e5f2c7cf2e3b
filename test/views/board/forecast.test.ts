import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { forecastLines, forecastOf } from "../../../src/views/board/ledger.ts";
import { attemptEnd, attemptStart, story } from "../../kit/story-world.ts";
import { begin, runScript, world, type Script } from "../../seeds/scripted-run.ts";

const POLICY = presetPolicy("critic-audit");
const FAILS = ["fail", "fail", "fail"] as const;

describe("the forecast of costs", () => {
  it("is the mean of a story's own attempts, and for a new story the mean of accepted stories", () => {
    const script = world({ gates: { review: FAILS }, attemptCostUsd: 0.5, story: "b" });
    const paid: Script = (command, state, run) =>
      command.type === "start-attempt" && command.story === "a"
        ? [attemptStart(command), attemptEnd(command.attempt, { type: "ready" }, `t${state!.seq}`, { costUsd: 0.25 })]
        : script(command, state, run);
    const { run } = runScript(begin(POLICY, story("a"), story("b"), story("c", { shelf: "backlog" })), paid);
    const forecast = forecastOf(run, null);
    expect(forecast).toEqual({ stories: 1, nextUsd: 0.5, unknown: 0, storyUsd: 0.25, ofStories: 1 });
    expect(forecastLines(forecast)).toEqual([
      "about $0.50 for the next attempt of 1 story",
      "about $0.25 for a new story, as 1 accepted one cost on average",
    ]);
    expect(forecastOf(run, [storyId("c")]).stories).toBe(0);
  });

  it("is unknown, and not zero, if an agent does not report its cost", () => {
    const silent: Script = (command, state, run) =>
      world({ gates: { review: FAILS } })(command, state, run)?.map((event) => {
        if (event.type !== "attempt.finished") return event;
        const { costUsd: _unsaid, ...rest } = event;
        return rest;
      }) ?? null;
    const { run } = runScript(begin(POLICY, story("a")), (command, state, all) =>
      command.type === "start-gate" && command.gate === "review"
        ? [{ type: "story.held", by: "Ada" }]
        : silent(command, state, all),
    );
    const forecast = forecastOf(run, null);
    expect(forecast).toEqual({ stories: 1, nextUsd: 0, unknown: 1, storyUsd: null, ofStories: 0 });
    expect(forecastLines(forecast)).toEqual([]);
    expect(forecastLines({ ...forecast, stories: 3, nextUsd: 2 })).toEqual([
      "about $2.00 for the next attempt of 2 stories; unknown for 1 more",
    ]);
  });

  it("is empty if no cost was reported", () => {
    const { run } = runScript(begin(POLICY, story("a")));
    expect(forecastOf(run, null)).toMatchObject({ storyUsd: 0, ofStories: 1 });
    expect(forecastLines(forecastOf(run, null))).toEqual([]);
  });
});
