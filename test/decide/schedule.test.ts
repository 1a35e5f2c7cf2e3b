import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import { STEPS } from "../../src/core/events/event.ts";
import { roleName, storyId } from "../../src/core/events/ids.ts";
import { PRESETS, type Policy } from "../../src/core/events/policy.ts";
import { stepsBound } from "../simulation/steps-bound.ts";
import { decide, mayDispatch, nextWake } from "../../src/decide/decide.ts";
import { fold } from "../../src/fold/fold-event.ts";
import { GATE_REGISTRY } from "../../src/core/gates/registry.ts";
import { laneOfRunning } from "../../src/fold/queue-story.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { answer, attemptStart, recordedEvent, story } from "../kit/story-world.ts";
import { begin, lineOf, performCommand, runScript, stateOf, foldEvents, world } from "../seeds/scripted-run.ts";

const POLICY = presetPolicy("critic-audit");

describe("decide", () => {
  it("returns nothing without a policy, or while halted", () => {
    expect(mayDispatch(EMPTY_RUN)).toBe(false);
    const run = foldEvents(begin(POLICY, story("a")), null, answer("halt"));
    expect(decide(run, POLICY, 0)).toEqual([]);
  });

  it("gives each command its own key: the story and the number of its events", () => {
    const run = begin(POLICY, story("a"), story("b"));
    expect(decide(run, POLICY, 0).map(({ key }) => key)).toEqual(["a:1", "b:1"]);
    expect(
      decide(foldEvents(run, null, { type: "infrastructure.blocked", issue: "x" }), POLICY, 0).map(({ key }) => key),
    ).toEqual(["@project:2"]);
  });

  it("starts as many stories as may be in progress; one that waits for a person does not count", () => {
    const one: Policy = { ...POLICY, concurrency: { ...POLICY.concurrency, stories: 1 } };
    const run = begin(one, story("a"), story("b"));
    expect(decide(run, one, 0).map((command) => command.story)).toEqual(["a"]);
    const begun = performCommand(run, decide(run, one, 0)[0]!);
    expect(decide(begun, one, 0).map((command) => command.story)).toEqual(["a"]);
    const held = foldEvents(begun, "a", { type: "story.held", by: "Ada" });
    expect(decide(held, one, 0).map((command) => command.story)).toEqual(["b"]);
  });

  it("frees a slot when its step ends", () => {
    const run = performCommand(begin(POLICY, story("a")), decide(begin(POLICY, story("a")), POLICY, 0)[0]!);
    const working = performCommand(run, decide(run, POLICY, 0)[0]!, (command) =>
      command.type === "start-attempt" ? [attemptStart(command)] : null,
    );
    expect([run.busy.developers, working.busy.developers]).toEqual([0, 1]);
    expect(foldEvents(working, "a", { type: "work.interrupted", detail: "" }).busy.developers).toBe(0);
  });

  it("asks again after an unreadable reply, even if other work is stopped", () => {
    const run = performCommand(begin(POLICY, story("a")), decide(begin(POLICY, story("a")), POLICY, 0)[0]!);
    const unclear = performCommand(run, decide(run, POLICY, 0)[0]!, (command) =>
      command.type === "start-attempt"
        ? [attemptStart(command), { type: "attempt.unclear", attempt: 1, detail: "", durationMs: 0 }]
        : null,
    );
    expect(decide(unclear, POLICY, 0).map(lineOf)).toEqual(["ask-again"]);
  });

  it("wakes at the end of the earliest pause, and sorts due stories among the others by urgency", () => {
    const broke = world({ gates: { review: ["error"] } });
    const stories = [story("a", { priority: 9 }), story("b", { priority: 1 }), story("c", { priority: 5 })];
    let run = begin(POLICY, ...stories);
    for (let i = 0; i < 40; i++) {
      const next = decide(run, POLICY, 0).find(
        (command) => command.type !== "start-gate" || command.gate !== "review" || command.story === "a",
      );
      if (next === undefined) break;
      run = performCommand(run, next, next.story === "a" ? broke : undefined, 0);
    }
    expect(nextWake(run)).toBe(POLICY.limits.backoffMs);
    expect(decide(run, POLICY, 0).map((command) => command.story)).toEqual(["b", "c"]);
    expect(decide(run, POLICY, POLICY.limits.backoffMs).map((command) => command.story)).toEqual(["b", "c", "a"]);
    expect(nextWake(begin(POLICY))).toBeNull();
    // What was due when it was decided causes no second wake-up, nor does a story outside the filter.
    expect(nextWake(run, POLICY.limits.backoffMs - 1)).toBe(POLICY.limits.backoffMs);
    expect(nextWake(run, POLICY.limits.backoffMs)).toBeNull();
    expect(nextWake(run, 0, new Set([storyId("b")]))).toBeNull();
    expect(nextWake(run, 0, new Set([storyId("a")]))).toBe(POLICY.limits.backoffMs);
  });

  it("decides again about a story to accept if the base has moved since", () => {
    const factory: Policy = { ...presetPolicy("factory"), deliver: "branch" };
    const ran = runScript(begin(factory, story("a")), (command) =>
      command.type === "accept"
        ? [
            { type: "story.flagged", usualMs: 1, takenMs: 9 },
            { type: "story.held", by: "x" },
          ]
        : null,
    );
    const released = foldEvents(ran.run, "a", { type: "story.released", by: "x" });
    expect(decide(released, factory, 0).map(lineOf)).toEqual(["accept"]);
    const moved = foldEvents(released, null, { type: "base.moved", commit: "b2" });
    expect(decide(moved, factory, 0).map(lineOf)).toEqual(["judge merge"]);
  });

  it("keeps odd priorities in order", () => {
    const run = begin(
      POLICY,
      story("huge", { priority: 1e12 }),
      story("low", { priority: -1e12 }),
      story("mid", { priority: 0 }),
    );
    expect(decide(run, POLICY, 0).map((command) => command.story)).toEqual(["low", "mid", "huge"]);
  });
});

describe("the usual time of a kind", () => {
  const timed = (ms: number) => world({ attemptMs: ms });

  // S4.85
  it("flags a story far beyond it once, and the story continues", () => {
    let run = begin(POLICY, story("a"), story("b"), story("c"));
    run = runScript(run, timed(1000)).run;
    expect(run.usual).toEqual({ feature: { count: 3, totalMs: 3000 } });
    const slow = runScript(foldEvents(run, "d", { type: "story.added", story: story("d") }), timed(3001));
    expect(slow.lines.filter((line) => line === "flag-story")).toHaveLength(1);
    expect(stateOf(slow.run, "d")).toMatchObject({ flagged: true, ending: { how: "accepted" } });
  });

  it.each([
    ["three times the usual is not far beyond", 3, 3000, "feature"],
    ["two stories are not enough to compare", 2, 99_000, "feature"],
    ["another kind has its own", 3, 99_000, "constructor"],
  ])("%s", (_name, known, ms, kind) => {
    const first = runScript(begin(POLICY, ...Array.from({ length: known }, (_, i) => story(`s${i}`))), timed(1000)).run;
    const then = runScript(foldEvents(first, "d", { type: "story.added", story: story("d", { kind }) }), timed(ms));
    expect(then.lines).not.toContain("flag-story");
  });

  it("does not count forced work", () => {
    const forced = foldEvents(
      begin(POLICY, story("a")),
      "a",
      { type: "story.started", by: "e" },
      answer("force-complete"),
    );
    expect(forced.usual).toEqual({});
  });
});

describe("steps of the engine that break", () => {
  const breaks = (times: number, infrastructure = false) => {
    let left = times;
    return runScript(begin(POLICY, story("a")), (command) =>
      command.type === "start-story" && left-- > 0
        ? [
            { type: "story.started", by: "e" },
            { type: "step.failed", step: "prepare", detail: "no space", infrastructure },
          ]
        : null,
    );
  };

  it("are retried, then raise a question with the reason", () => {
    expect(stateOf(breaks(2).run, "a").ending?.how).toBe("accepted");
    expect(stateOf(breaks(3).run, "a").escalation).toMatchObject({
      reason: { type: "gate-error", errors: 3, detail: "no space" },
      gate: null,
    });
  });

  it("or are handled as broken infrastructure", () => {
    expect(breaks(1, true).lines.slice(0, 4)).toEqual([
      "start-story",
      "start-remediation",
      "check-health",
      "start-story",
    ]);
  });
});

describe("lanes", () => {
  it("exist for every gate and step", () => {
    expect(GATES.map((gate) => GATE_REGISTRY[gate].lane)).toEqual([
      "checks",
      "checks",
      "checks",
      "critics",
      "auditors",
      "auditors",
      "checks",
      "checks",
      "checks",
    ]);
    expect(STEPS.map((step) => laneOfRunning({ type: "step", step, since: 0, seq: 1 }))).toEqual([
      "developers",
      "checks",
      "developers",
      "checks",
      "checks",
      "engine",
      "engine",
      "checks",
      "checks",
      "critics",
      "checks",
    ]);
    expect(laneOfRunning({ type: "attempt", attempt: 1, role: roleName("x"), since: 0, seq: 1, unclear: 0 })).toBe(
      "developers",
    );
  });
});

describe("stepsBound", () => {
  it.each(PRESETS)("bounds the run of %s by its config, and grows with its limits", (preset) => {
    const policy = presetPolicy(preset);
    const bound = stepsBound(policy);
    expect(bound).toBeGreaterThan(0);
    expect(Number.isFinite(bound)).toBe(true);
    expect(
      stepsBound({ ...policy, limits: { ...policy.limits, iterations: policy.limits.iterations + 100, timeouts: 9 } }),
    ).toBeGreaterThan(bound);
  });

  it("is that of the iterations if a gate has no limit", () => {
    const policy = presetPolicy("goal");
    const failures = Object.fromEntries(GATES.map((gate) => [gate, null])) as unknown as Policy["limits"]["failures"];
    const unlimited = { ...policy, limits: { ...policy.limits, failures } };
    expect(stepsBound({ ...unlimited, limits: { ...unlimited.limits, iterations: 30 } })).toBeGreaterThan(
      stepsBound(unlimited),
    );
  });

  it("holds for a run in which everything fails", () => {
    const failing = world({
      gates: Object.fromEntries(GATES.map((gate) => [gate, Array.from({ length: 99 }, () => "fail" as const)])),
    });
    for (const preset of PRESETS) {
      const run = fold(
        [
          recordedEvent(0, null, { type: "policy.set", policy: presetPolicy(preset), by: "t" }),
          recordedEvent(0, "a", { type: "story.added", story: story("a") }),
        ],
        EMPTY_RUN,
      );
      expect(runScript(run, failing).commands.length).toBeLessThanOrEqual(stepsBound(presetPolicy(preset)));
    }
  });
});
