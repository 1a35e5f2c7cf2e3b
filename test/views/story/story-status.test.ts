import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import type { RunState } from "../../../src/core/stories/run-state.ts";
import { sourceStatus, statusOf } from "../../../src/views/story/story-status.ts";
import { answer, attemptEnd, attemptStart, story } from "../../kit/story-world.ts";
import { begin, runScript, stateOf, foldEvents, world } from "../../seeds/scripted-run.ts";

const POLICY = presetPolicy("critic-audit");
const status = (run: RunState, id = "a") => statusOf(run, stateOf(run, id));
const source = (run: RunState, id = "a") => sourceStatus(status(run, id));
const stopAt = (type: string, gate?: string) =>
  runScript(begin(POLICY, story("a")), (command) => {
    if (command.type !== type || (command.type === "start-gate" && gate !== undefined && command.gate !== gate))
      return null;
    if (command.type === "start-attempt") return [attemptStart(command)];
    if (command.type === "start-gate")
      return [{ type: "gate.started", gate: command.gate, tree: command.tree, stages: [] }];
    return command.type === "start-story" ? [{ type: "story.started", by: "e" }] : [{ type: "story.held", by: "Ada" }];
  }).run;

describe("statusOf", () => {
  // S1.41, S4.92
  it.each([
    ["in the backlog", begin(POLICY, story("a", { shelf: "backlog" })), "backlog", "person", "backlog"],
    ["ready", begin(POLICY, story("a")), "ready", "engine", "ready"],
    ["being prepared", stopAt("start-story"), "working", "engine", "implementing"],
    ["at work", stopAt("start-attempt"), "working", "agent", "implementing"],
    ["in a check", stopAt("start-gate", "checks"), "in-gate", "gate", "in-gate"],
    ["in review", stopAt("start-gate", "review"), "in-gate", "gate", "awaiting-review"],
    ["in audit", stopAt("start-gate", "audit"), "in-gate", "gate", "awaiting-audit"],
    [
      "held",
      foldEvents(begin(POLICY, story("a")), "a", { type: "story.held", by: "Ada" }),
      "waiting",
      "person",
      "waiting",
    ],
    [
      "escalated",
      runScript(begin(POLICY, story("a")), world({ gates: { review: ["error", "error", "error"] } })).run,
      "escalated",
      "person",
      "awaiting-guidance",
    ],
    ["accepted", runScript(begin(POLICY, story("a"))).run, "accepted", "none", "accepted"],
    ["abandoned", foldEvents(begin(POLICY, story("a")), "a", answer("abandon")), "failed", "none", "failed"],
    [
      "under broken infrastructure",
      foldEvents(begin(POLICY, story("a")), null, { type: "infrastructure.blocked", issue: "no database" }),
      "waiting",
      "infrastructure",
      "blocked",
    ],
    ["halted", foldEvents(begin(POLICY, story("a")), null, answer("halt")), "waiting", "person", "waiting"],
    [
      "waiting for a story",
      begin(POLICY, story("a", { dependsOn: [storyId("b")] }), story("b")),
      "waiting",
      "story",
      "blocked",
    ],
  ] as const)("a story %s", (_name, run, expected, actor, inSources) => {
    expect(status(run)).toMatchObject({ status: expected, actor });
    expect(source(run)).toBe(inSources);
  });

  it("names the person who forced an acceptance", () => {
    const forced = foldEvents(
      begin(POLICY, story("a")),
      "a",
      { type: "story.started", by: "e" },
      answer("force-complete", { message: "ship it" }),
    );
    expect(status(forced).why).toBe("by Ada: ship it");
    expect(status(runScript(begin(POLICY, story("a"))).run).why).toBe("all gates passed");
  });

  it("describes the state of the story that another waits for", () => {
    const on = story("a", { dependsOn: [storyId("b")] });
    expect(status(begin(POLICY, on)).why).toBe("b (unknown)");
    const run = begin(POLICY, on, story("b"));
    expect(status(run).why).toBe("b");
    expect(status(foldEvents(run, "b", answer("abandon"))).why).toBe("b (abandoned)");
    const asked = runScript(run, world({ gates: { review: ["error", "error", "error"] } })).run;
    expect(status(asked).why).toBe("b (needs you)");
  });

  it("describes what an agent waits for: a story, or a time", () => {
    const waits = (waitsFor?: string) =>
      runScript(begin(POLICY, story("a"), story("b", { shelf: "backlog" })), (command, state) =>
        command.type === "start-attempt"
          ? [
              attemptStart(command),
              attemptEnd(
                command.attempt,
                {
                  type: "incomplete",
                  category: "blocked_by_dependency",
                  blocker: "the API",
                  attempted: [],
                  needed: "",
                  ...(waitsFor === undefined ? {} : { waitsFor }),
                },
                state!.tree!,
                { changed: [], productChanged: false },
              ),
            ]
          : null,
      ).run;
    expect(status(waits("b"))).toMatchObject({ status: "waiting", actor: "story", why: "b" });
    expect(status(waits())).toMatchObject({ status: "escalated" });
    const crashed = foldEvents(stopAt("start-attempt"), "a", attemptEnd(1, { type: "crashed", detail: "" }, "t0"));
    expect(status(crashed)).toMatchObject({ status: "waiting", actor: "time", why: "crashed" });
  });

  it("shows the project's question while it is open", () => {
    const run = runScript(
      begin(POLICY, story("a"), story("b")),
      world({ gates: { audit: ["blocked"] }, health: [false, false, false] }),
    ).run;
    expect(status(run)).toMatchObject({ actor: "infrastructure" });
    const limited = { ...POLICY, limits: { ...POLICY.limits, run: { costUsd: 1, tokens: null, timeMs: null } } };
    const poor = runScript(begin(limited, story("a")), world({ attemptCostUsd: 2 })).run;
    expect(status(poor)).toMatchObject({ actor: "person", why: "Raise the $1.00 budget of the run?" });
  });

  it("is queued between two steps", () => {
    const run = foldEvents(stopAt("start-attempt"), "a", attemptEnd(1, { type: "ready" }, "t5"));
    expect(status(run)).toMatchObject({ status: "waiting", actor: "engine", phase: "implement", gate: null });
  });
});
