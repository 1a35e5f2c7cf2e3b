import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { Command } from "../../src/core/stories/command.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { decide, mayDispatch, nextWake } from "../../src/decide/decide.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { answer, attemptStart, recordedEvent, story } from "../kit/story-world.ts";
import { begin, lineOf, performCommand, runScript, foldEvents, world } from "../seeds/scripted-run.ts";

const POLICY = presetPolicy("critic-audit");
const hands = (more: Partial<Policy["concurrency"]>): Policy => ({
  ...POLICY,
  concurrency: { ...POLICY.concurrency, ...more },
});
const runLimits = (more: Partial<Policy["limits"]["run"]>): Policy => ({
  ...POLICY,
  limits: { ...POLICY.limits, run: { ...POLICY.limits.run, ...more } },
});
const only = (...ids: string[]): ReadonlySet<ReturnType<typeof storyId>> => new Set(ids.map((id) => storyId(id)));
const lines = (commands: readonly Command[]): string[] =>
  commands.map((command) => `${command.story ?? "project"}: ${lineOf(command)}`);
const BLOCKED: Event = { type: "infrastructure.blocked", issue: "the database is down" };
const unclear = (attempt: number): Event => ({ type: "attempt.unclear", attempt, detail: "", durationMs: 0 });

/** Each of these stories is set up, and its first attempt comes next. */
function started(policy: Policy, ...ids: string[]): RunState {
  let run = begin(policy, ...ids.map((id) => story(id)));
  for (const command of decide(run, policy, 0)) run = performCommand(run, command);
  return run;
}

/** The story's next attempt has begun, and these events followed. */
function working(run: RunState, id: string, ...events: Event[]): RunState {
  const command = decide(run, run.policy!, 0).find((each) => each.story === id);
  expect(command?.type).toBe("start-attempt");
  return command?.type === "start-attempt" ? foldEvents(run, id, attemptStart(command), ...events) : run;
}

describe("the number of commands at once", () => {
  test("is limited by the free slots of the lane", () => {
    const two = hands({ developers: 2 });
    const run = started(hands({ developers: 9 }), "a", "b", "c");
    expect(lines(decide(run, two, 0))).toEqual(["a: implement by developer", "b: implement by developer"]);
    const busy = working(run, "a");
    expect(lines(decide(busy, two, 0))).toEqual(["b: implement by developer"]);
    expect(lines(decide(working(busy, "b"), two, 0))).toEqual([]);
  });

  test("limits new stories, and not work in progress", () => {
    const policy = hands({ developers: 9, stories: 2 });
    const run = foldEvents(started(policy, "a"), "b", { type: "story.added", story: story("b") });
    const more = foldEvents(run, "c", { type: "story.added", story: story("c") });
    expect(lines(decide(more, policy, 0))).toEqual(["a: implement by developer", "b: start-story"]);
    expect(lines(decide(more, { ...policy, concurrency: { ...policy.concurrency, stories: 1 } }, 0))).toEqual([
      "a: implement by developer",
    ]);
    expect(lines(decide(more, { ...policy, concurrency: { ...policy.concurrency, stories: null } }, 0))).toEqual([
      "a: implement by developer",
      "b: start-story",
      "c: start-story",
    ]);
  });
});

const readyEnd = (attempt: number): Extract<Event, { type: "attempt.finished" }> => ({
  type: "attempt.finished",
  attempt,
  outcome: { type: "ready" },
  tree: "t1" as never,
  commit: "c1",
  changed: [],
  productChanged: false,
  summary: "",
  durationMs: 0,
});

describe("only the stories that were asked for", () => {
  test("are started, and the others take none of their slots", () => {
    const run = started(hands({ developers: 9 }), "a", "b");
    const one = hands({ developers: 1 });
    expect(lines(decide(run, one, 0))).toEqual(["a: implement by developer"]);
    expect(lines(decide(run, one, 0, only("b")))).toEqual(["b: implement by developer"]);
    expect(lines(decide(run, one, 0, only()))).toEqual([]);
  });

  test("have their bookkeeping done", () => {
    const run = working(working(started(POLICY, "a", "b"), "a", unclear(1)), "b", unclear(1));
    expect(lines(decide(run, POLICY, 0))).toEqual(["a: ask-again", "b: ask-again"]);
    expect(lines(decide(run, POLICY, 0, only("b")))).toEqual(["b: ask-again"]);
  });

  test("continue when their pause is over", () => {
    const crash: Event = { ...readyEnd(1), outcome: { type: "crashed", detail: "exit 1" } };
    const run = working(working(started(POLICY, "a", "b"), "a", crash), "b", crash);
    const at = POLICY.limits.backoffMs;
    expect(lines(decide(run, POLICY, at - 1))).toEqual([]);
    expect(lines(decide(run, POLICY, at))).toEqual(["a: implement by developer", "b: implement by developer"]);
    expect(lines(decide(run, POLICY, at, only("b")))).toEqual(["b: implement by developer"]);
    expect(nextWake(run, at - 1, only("b"))).toBe(at);
  });
});

describe("asking an agent again", () => {
  test("names the attempt and how often it was unclear", () => {
    const run = working(started(POLICY, "a"), "a", unclear(1), unclear(1));
    expect(decide(run, POLICY, 0)).toEqual([{ key: "a:6", story: "a", type: "ask-again", attempt: 1, times: 2 }]);
  });
});

describe("nothing new starts", () => {
  const run = started(POLICY, "a");
  const withPause = working(run, "a", { ...readyEnd(1), outcome: { type: "crashed", detail: "exit 1" } });

  test.each<[string, RunState, string[]]>([
    ["while the infrastructure is broken", foldEvents(run, null, BLOCKED), ["project: start-remediation"]],
    ["while the run is halted", foldEvents(run, null, answer("halt")), []],
  ])("%s", (_name, stopped, expected) => {
    expect(mayDispatch(run)).toBe(true);
    expect(mayDispatch(stopped)).toBe(false);
    expect(lines(decide(stopped, POLICY, 0))).toEqual(expected);
  });

  test("and the end of a pause wakes no story", () => {
    expect(nextWake(withPause)).toBe(POLICY.limits.backoffMs);
    expect(nextWake(foldEvents(withPause, null, answer("halt")))).toBeNull();
    expect(lines(decide(foldEvents(withPause, null, answer("halt")), POLICY, 1e9))).toEqual([]);
  });

  test("while a question about the whole run is open, except bookkeeping", () => {
    const policy = runLimits({ costUsd: 10 });
    const spent = (usd: number): RunState =>
      working(working(started(policy, "a", "b"), "b", unclear(1)), "a", { ...readyEnd(1), costUsd: usd });
    expect(lines(decide(spent(1), policy, 0))).toContain("b: ask-again");
    // Nearly used up: people are told once, and work goes on.
    const near = spent(9);
    expect(decide(near, policy, 0)[0]).toEqual({
      key: `@project:${near.seq}`,
      story: null,
      type: "warn-budget",
      budget: "run-cost",
      used: 9,
      limit: 10,
    });
    expect(mayDispatch(near)).toBe(true);
    const warn: Event = { type: "budget.warned", budget: "run-cost", used: 9, limit: 10 };
    const over = foldEvents(spent(10), null, warn);
    expect(mayDispatch(over)).toBe(false);
    const [ask, ...rest] = decide(over, policy, 0);
    expect(ask).toMatchObject({
      key: `@project:${over.seq}`,
      type: "raise-escalation",
      escalation: { reason: { type: "budget", budget: "run-cost", used: 10, limit: 10 } },
    });
    expect(lines(rest)).toEqual(["b: ask-again"]);
    // Once asked, it is not asked again, nor is anything started.
    const asked = ask?.type === "raise-escalation" ? { escalation: ask.escalation } : null;
    const waiting = evolve(over, recordedEvent(0, null, { type: "escalation.raised", ...asked! }));
    expect(mayDispatch(waiting)).toBe(false);
    expect(lines(decide(waiting, policy, 0))).toEqual(["b: ask-again"]);
    const raised = foldEvents(waiting, null, answer("raise-budget", { budget: "run-cost", limit: 20 }));
    expect(mayDispatch(raised)).toBe(true);
  });

  // S4.68
  test("beyond the run's limit of actions: as many start as are left, then a person is asked", () => {
    const policy = runLimits({ actions: 3 });
    const run = started(policy, "a", "b", "c", "d", "e");
    const begun = lines(decide(run, policy, 0)).filter((line) => line.endsWith("by developer"));
    expect(begun).toHaveLength(3);
    const two = working(working(run, "a"), "b");
    expect(lines(decide(two, policy, 0)).filter((line) => line.endsWith("by developer"))).toHaveLength(1);
    const warn: Event = { type: "budget.warned", budget: "run-actions", used: 3, limit: 3 };
    const all = foldEvents(working(two, "c"), null, warn);
    expect(all.actions).toBe(3);
    expect(mayDispatch(all)).toBe(false);
    expect(lines(decide(all, policy, 0))).toEqual(["project: ask: budget"]);
  });

  test("and no repair if the run's money is spent, unless it has begun", () => {
    const policy = runLimits({ costUsd: 10 });
    const warn: Event = { type: "budget.warned", budget: "run-cost", used: 9, limit: 10 };
    const spent = foldEvents(working(started(policy, "a"), "a", { ...readyEnd(1), costUsd: 10 }), null, warn, BLOCKED);
    expect(lines(decide(spent, policy, 0))).toEqual(["project: ask: budget"]);
    const repairing = foldEvents(spent, null, { type: "remediation.started", attempt: 1 });
    expect(lines(decide(repairing, policy, 0))).toEqual([]);
  });
});

describe("an agent that outlived its engine", () => {
  const resumed: Event = { type: "work.resumed", detail: "found again", engine: "died" };

  test("is resumed, even if its story was not selected, and keeps its slot", () => {
    const policy = { ...POLICY, concurrency: { ...POLICY.concurrency, developers: 1 } };
    const run = working(started(policy, "a", "b"), "a", resumed);
    const [command, ...others] = decide(run, policy, 0, only("b"));
    expect(command).toMatchObject({ type: "resume-work", story: "a", work: { type: "start-attempt", attempt: 1 } });
    expect(others).toEqual([]);
  });

  test("resumes with the values of the command that started it", () => {
    const before = started(POLICY, "a");
    const [begun] = decide(before, POLICY, 0);
    const { key: _key, story: _story, ...work } = begun as Command & { story: string };
    const [again] = decide(working(before, "a", resumed), POLICY, 0);
    expect(again).toMatchObject({ type: "resume-work", work: { ...work, forecastUsd: null } });
  });

  test("is asked again if its reply cannot be read", () => {
    const run = working(started(POLICY, "a"), "a", resumed, unclear(1));
    expect(lines(decide(run, POLICY, 0))).toEqual(["a: ask-again"]);
  });
});

describe("a story in which the engine died runs alone", () => {
  const died: Event = { type: "work.interrupted", detail: "the engine died", engine: "died" };
  const twice = (run: RunState, id: string): Event[] => {
    const next = decide(run, POLICY, 0).find((command) => command.story === id);
    return next?.type === "start-attempt" ? [attemptStart(next), died, attemptStart(next), died] : [];
  };
  /** One more death and a person is asked about `b`. */
  const suspect = (): RunState => working(working(started(POLICY, "a", "b", "c"), "b", died), "b", died);

  test("it comes first, and nothing comes with it", () => {
    expect(suspect().alone).toBe(1);
    expect(lines(decide(suspect(), POLICY, 0))).toEqual(["b: implement by developer"]);
  });

  test("nothing starts while anything runs in any lane", () => {
    expect(lines(decide(working(suspect(), "b"), POLICY, 0))).toEqual([]);
    const judging = foldEvents(suspect(), "c", {
      type: "gate.started",
      gate: "review",
      tree: "t0" as never,
      stages: [],
    });
    expect(lines(decide(judging, POLICY, 0))).toEqual([]);
  });

  test("if it was not selected, the others run one at a time", () => {
    expect(lines(decide(suspect(), POLICY, 0, only("a", "c")))).toEqual(["a: implement by developer"]);
    expect(lines(decide(suspect(), POLICY, 0, only()))).toEqual([]);
  });

  test("it comes before the first stories of other lanes", () => {
    const judged = working(started(POLICY, "a", "b"), "a", readyEnd(1));
    expect(lines(decide(judged, POLICY, 0))).toEqual(["a: judge integrity", "b: implement by developer"]);
    const run = foldEvents(judged, "b", ...twice(judged, "b"));
    expect(lines(decide(run, POLICY, 0))).toEqual(["b: implement by developer"]);
  });

  test("bookkeeping continues", () => {
    const run = foldEvents(
      working(working(working(started(POLICY, "a", "b"), "a", unclear(1)), "b", died), "b", died),
      null,
    );
    expect(lines(decide(run, POLICY, 0))).toEqual(["a: ask-again"]);
  });

  test("a pause that is over does not let another story overtake it", () => {
    const crash: Event = { ...readyEnd(1), outcome: { type: "crashed", detail: "exit 1" } };
    const run = working(working(working(started(POLICY, "a", "b"), "a", crash), "b", died), "b", died);
    expect(lines(decide(run, POLICY, 1e9))).toEqual(["b: implement by developer"]);
  });
});

test("a story whose pause is over is started before a less urgent one of its lane", () => {
  const crash: Event = { ...readyEnd(1), outcome: { type: "crashed", detail: "exit 1" } };
  const stories = [story("a", { priority: 1 }), story("b", { priority: 5 })];
  let run = begin(POLICY, ...stories);
  for (const command of decide(run, POLICY, 0)) run = performCommand(run, command);
  expect(lines(decide(working(run, "a", crash), hands({ developers: 1 }), 1e9))).toEqual(["a: implement by developer"]);
});

test("a step that was bookkeeping before the base moved now needs a free slot", () => {
  const factory: Policy = { ...presetPolicy("factory"), deliver: "branch" };
  const hold: Event[] = [{ type: "story.held", by: "x" }];
  const ran = runScript(begin(factory, story("a")), (command) => (command.type === "accept" ? hold : null));
  const released = foldEvents(ran.run, "a", { type: "story.released", by: "x" });
  const moved = foldEvents(released, null, { type: "base.moved", commit: "b2" });
  const full = { ...factory, concurrency: { ...factory.concurrency, checks: 0 } };
  expect(lines(decide(released, full, 0))).toEqual(["a: accept"]);
  expect(lines(decide(moved, factory, 0))).toEqual(["a: judge merge"]);
  expect(lines(decide(moved, full, 0))).toEqual([]);
});

test("steps that became bookkeeping during a wait are done, and former bookkeeping is started", () => {
  const timed = world({ attemptMs: 1000 });
  const known = runScript(begin(POLICY, story("x"), story("y")), timed).run;
  const added = foldEvents(known, "a", { type: "story.added", story: story("a") });
  let run = performCommand(added, decide(added, POLICY, 0)[0]!);
  run = working(run, "a", { ...readyEnd(1), outcome: { type: "crashed", detail: "exit 1" }, durationMs: 9000 });
  expect(lines(decide(run, POLICY, 1e9))).toEqual(["a: implement by developer"]);
  // A third story of its kind is accepted: now it is known how long such work usually takes.
  let third = foldEvents(run, "z", { type: "story.added", story: story("z") });
  for (let next = decide(third, POLICY, 0)[0]; next !== undefined; next = decide(third, POLICY, 0)[0])
    third = performCommand(third, next, timed);
  expect(lines(decide(third, hands({ developers: 0 }), 1e9))).toEqual(["a: flag-story"]);
  expect(lines(decide(third, POLICY, 1e9, only("z")))).toEqual([]);
  expect(lines(decide(third, POLICY, 1e9, only("a")))).toEqual(["a: flag-story"]);
});
