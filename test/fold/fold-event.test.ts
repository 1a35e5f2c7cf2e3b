import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { AttemptOutcome } from "../../src/core/stories/attempt.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { byText, lookup } from "../../src/stdx/sorted-map.ts";
import { answer, attemptEnd, attemptStart, judgement, recordedEvent, story } from "../kit/story-world.ts";
import { begin, performCommand, runScript, stateOf, foldEvents } from "../seeds/scripted-run.ts";
import { decide } from "../../src/decide/decide.ts";
import { changes } from "../kit/story-states.ts";

const POLICY = presetPolicy("critic-audit");
const after = (run: RunState, of: string | null, event: Event): Partial<RunState> =>
  changes(run, evolve(run, recordedEvent(1000, of, event)));
const dependents = (run: RunState, id: string): readonly string[] | undefined =>
  lookup(run.dependents, storyId(id), byText);
const isQueued = (run: RunState, id: string): boolean => stateOf(run, id).queued !== null;

/** The story's first attempt runs. */
function working(run: RunState, id: string): RunState {
  const started = performCommand(
    run,
    decide(run, POLICY, 0).find((command) => command.story === id)!,
  );
  const next = decide(started, POLICY, 0).find((command) => command.story === id);
  return next?.type === "start-attempt" ? foldEvents(started, id, attemptStart(next)) : started;
}

describe("an event", () => {
  test.each<Event>([
    { type: "policy.set", policy: POLICY, by: "x" },
    { type: "base.moved", commit: "b2" },
    { type: "journal.replaced" } as Event,
    { type: "run.resumed", by: "x" },
    { type: "infrastructure.blocked", issue: "x" },
    { type: "remediation.started", attempt: 1 },
    { type: "remediation.finished", attempt: 1, fixes: [], durationMs: 0 },
    { type: "health.checked", healthy: true, remaining: [], durationMs: 0 },
  ])("of the project in a story's stream is counted, and nothing else: $type", (event) => {
    const run = begin(POLICY, story("a"));
    expect(after(run, "a", event)).toEqual({ position: run.position + 1 });
    expect(stateOf(evolve(run, recordedEvent(0, "a", event)), "a").seq).toBe(stateOf(run, "a").seq);
  });

  test("of an unknown story, or one that is added again, is only counted", () => {
    const run = begin(POLICY, story("a"));
    expect(after(run, "z", { type: "story.held", by: "x" })).toEqual({ position: run.position + 1 });
    expect(after(run, "a", { type: "story.added", story: story("a", { title: "Other" }) })).toEqual({
      position: run.position + 1,
    });
  });

  test("of a story counts for it and for the run, with what it cost", () => {
    const run = working(begin(POLICY, story("a")), "a");
    const ended = evolve(
      run,
      recordedEvent(0, "a", attemptEnd(1, { type: "ready" }, "t1", { costUsd: 2, durationMs: 5 })),
    );
    expect(ended.position).toBe(run.position + 1);
    expect(ended.seq).toBe(run.seq);
    expect(ended.spent).toEqual({ costUsd: 2, tokens: 0, timeMs: 5, costUnknown: false });
    expect(stateOf(ended, "a").spent).toEqual(ended.spent);
    expect(stateOf(ended, "a").seq).toBe(stateOf(run, "a").seq + 1);
  });

  test("that reports broken infrastructure stops the run", () => {
    const run = working(begin(POLICY, story("a")), "a");
    const blocked: AttemptOutcome = { type: "blocked", issue: "the database is down" };
    expect(evolve(run, recordedEvent(9, "a", attemptEnd(1, blocked, "t1"))).remediation).toMatchObject({
      issue: "the database is down",
      since: 9,
      stage: "waiting",
    });
  });

  test("of the project is counted in its stream", () => {
    const run = begin(POLICY);
    expect(after(run, null, { type: "base.moved", commit: "b2" })).toEqual({
      position: run.position + 1,
      seq: run.seq + 1,
      base: "b2",
    });
  });
});

describe("a story that depends on another", () => {
  const two = (): RunState => begin(POLICY, story("a"), story("b", { dependsOn: [storyId("a")] }));

  test("waits until that one is accepted, and again if the acceptance is undone", () => {
    const run = two();
    expect(dependents(run, "a")).toEqual(["b"]);
    expect([isQueued(run, "a"), isQueued(run, "b")]).toEqual([true, false]);
    const started = foldEvents(run, "a", { type: "story.started", by: "x" }, { type: "work.interrupted", detail: "" });
    const forced = foldEvents(started, "a", answer("force-complete"));
    expect(isQueued(forced, "b")).toBe(true);
    expect(isQueued(foldEvents(forced, "a", { type: "answer.undone", by: "Ada" }), "b")).toBe(false);
  });

  test("does not move when the other one fails", () => {
    const started = foldEvents(
      two(),
      "a",
      { type: "story.started", by: "x" },
      { type: "work.interrupted", detail: "" },
    );
    expect(isQueued(foldEvents(started, "a", answer("abandon")), "b")).toBe(false);
  });

  test("is a dependent of each named story once, also after its file changes", () => {
    const run = two();
    const changed = foldEvents(run, "b", {
      type: "story.changed",
      story: story("b", { dependsOn: [storyId("a"), storyId("c")] }),
    } as Event);
    expect([dependents(changed, "a"), dependents(changed, "c")]).toEqual([["b"], ["b"]]);
    const third = foldEvents(changed, "d", { type: "story.added", story: story("d", { dependsOn: [storyId("a")] }) });
    expect(dependents(third, "a")).toEqual(["b", "d"]);
    // The story that it waits for may come later.
    expect(isQueued(foldEvents(third, "c", { type: "story.added", story: story("c") }), "c")).toBe(true);
  });
});

describe("an agent that waits for a story", () => {
  const waits = (waitsFor: string | undefined): AttemptOutcome => ({
    type: "incomplete",
    category: "blocked_by_dependency",
    blocker: "x",
    attempted: [],
    needed: "",
    ...(waitsFor === undefined ? {} : { waitsFor }),
  });
  const told1 = (run: RunState, id: string, waitsFor: string | undefined): RunState =>
    foldEvents(run, id, attemptEnd(1, waits(waitsFor), "t1"));
  const waitOf = (run: RunState, id: string) => stateOf(run, id).wait;

  test("waits for it, and continues when it is accepted", () => {
    const run = told1(working(begin(POLICY, story("a"), story("b")), "a"), "a", "b");
    expect(waitOf(run, "a")).toMatchObject({ type: "story", story: "b" });
    expect(dependents(run, "b")).toEqual(["a"]);
    expect(isQueued(run, "a")).toBe(false);
    const done = foldEvents(run, "b", { type: "story.started", by: "x" }, answer("force-complete"));
    expect(isQueued(done, "a")).toBe(true);
  });

  test("waits for a time if that story is unknown or ended, or none is named", () => {
    const run = working(begin(POLICY, story("a"), story("b")), "a");
    expect(waitOf(told1(run, "a", "z"), "a")).toMatchObject({ type: "time" });
    expect(waitOf(told1(run, "a", undefined), "a")).toMatchObject({ type: "time" });
    expect(waitOf(told1(run, "a", "a"), "a")).toMatchObject({ type: "time" });
    const over = foldEvents(run, "b", { type: "story.started", by: "x" }, answer("abandon"));
    expect(waitOf(told1(over, "a", "b"), "a")).toMatchObject({ type: "time" });
  });

  test("waits for a time if that story waits for this one, directly or not", () => {
    const chain = begin(
      POLICY,
      story("a"),
      story("b", { dependsOn: [storyId("x"), storyId("c")] }),
      story("c", { dependsOn: [storyId("b"), storyId("a")] }),
    );
    expect(waitOf(told1(working(chain, "a"), "a", "b"), "a")).toMatchObject({ type: "time" });
    const both = told1(working(working(begin(POLICY, story("a"), story("b")), "a"), "b"), "b", "a");
    expect(waitOf(told1(both, "a", "b"), "a")).toMatchObject({ type: "time" });
  });

  test("waits for it if that story's own wait is over", () => {
    const run = begin(
      POLICY,
      story("a"),
      story("b", { dependsOn: [storyId("c")] }),
      story("c", { dependsOn: [storyId("a")] }),
    );
    const over = foldEvents(run, "c", { type: "story.started", by: "x" }, answer("abandon"));
    expect(waitOf(told1(working(over, "a"), "a", "b"), "a")).toMatchObject({ type: "story", story: "b" });
  });
});

describe("the usual time of a kind of story", () => {
  test("is of accepted work, for each kind, without forced work", () => {
    const run = runScript(begin(POLICY, story("a"), story("b", { kind: "bug" })), (command, state) =>
      command.type === "start-attempt"
        ? [attemptStart(command), attemptEnd(command.attempt, { type: "ready" }, `t${state!.seq}`, { durationMs: 100 })]
        : null,
    ).run;
    expect(run.usual).toEqual({ feature: { count: 1, totalMs: 100 }, bug: { count: 1, totalMs: 100 } });
    const forced = foldEvents(
      foldEvents(run, "c", { type: "story.added", story: story("c") }),
      "c",
      { type: "story.started", by: "x" },
      answer("force-complete"),
    );
    expect(forced.usual).toEqual(run.usual);
  });

  test("does not change if an accepted story is judged again", () => {
    const run = runScript(begin(POLICY, story("a"))).run;
    const late = foldEvents(run, "a", { type: "gate.judged", judgement: judgement("review", "t1", "pass") });
    expect(late.usual).toEqual(run.usual);
    const back = foldEvents(run, "a", answer("send-back"));
    expect(stateOf(back, "a").ending).toBeNull();
    expect(foldEvents(back, "a", { type: "answer.undone", by: "Ada" }).usual).toEqual(run.usual);
  });
});
