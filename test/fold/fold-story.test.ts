import { describe, expect, test } from "vitest";
import type { AttemptSummary } from "../../src/core/stories/attempt.ts";
import type { Event } from "../../src/core/events/event.ts";
import { evidenceId, fingerprint, roleName, treeId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { Dispute, GateState, StoryState } from "../../src/core/stories/story-state.ts";
import { evolveStory, type ProjectFacts } from "../../src/fold/fold-story.ts";
import { blameEvent, judgement, recordedEvent, story } from "../kit/story-world.ts";
import { asking, changes, COUNTERS, escalation, GONE, POLICY, ROUND, usedGate } from "../kit/story-states.ts";

const AROUND: ProjectFacts = { policy: POLICY, base: "b1", mayUndo: () => false };
const DEVELOPER = roleName("developer");
/** A story in which nothing runs; most events of the engine come while a step does. */
const before = (more: Partial<StoryState> = {}): StoryState => asking(null, null, { seq: 8, wait: null, ...more });
const STEP = { type: "step", step: "blame", since: 0, seq: 1 } as const;
const GATE = { type: "gate", gate: "review", since: 0, seq: 1 } as const;
const after = (event: Event, state = before(), around = AROUND): Partial<StoryState> =>
  changes(state, evolveStory(state, recordedEvent(1000, "a", event) as Parameters<typeof evolveStory>[1], around));

describe("a start", () => {
  test("of a gate or a step sets it as running, and ends a wait", () => {
    const paused = before({ wait: { type: "time", until: 9, why: "" } });
    expect(after({ type: "gate.started", gate: "audit", tree: treeId("t1"), stages: [] }, paused)).toEqual({
      running: { type: "gate", gate: "audit", since: 1000, seq: 9 },
      wait: null,
    });
    expect(after({ type: "step.started", step: "blame" }, paused)).toEqual({
      running: { type: "step", step: "blame", since: 1000, seq: 9 },
      wait: null,
    });
  });
});

describe("a step that failed", () => {
  const failed = (infrastructure: boolean): Event => ({
    type: "step.failed",
    step: "blame",
    detail: "no space",
    infrastructure,
  });

  test("is retried after a growing pause, and infrastructure counts separately", () => {
    const wait = { type: "time", until: 1000 + 2 * POLICY.limits.backoffMs, why: "no space" };
    const running = before({ running: STEP });
    expect(after(failed(false), running)).toEqual({ running: null, wait, counters: { ...COUNTERS, stepFailures: 2 } });
    expect(after(failed(true), running)).toEqual({
      running: null,
      wait,
      counters: { ...COUNTERS, stepFailures: 2, blocked: 2 },
    });
  });

  test("is reset by the next step that works", () => {
    const delivered: Event = { type: "work.delivered", how: "branch", where: "there" };
    const { engineDeaths: _ended, ...alive } = COUNTERS;
    expect(after(delivered, before({ running: STEP })).counters).toEqual({ ...alive, stepFailures: 0 });
    expect(after(delivered).counters).toBeUndefined();
    const judging = before({ running: { type: "gate", gate: "review", since: 0, seq: 1 } });
    expect(after(delivered, judging).counters).toEqual(alive);
  });
});

describe("changes of the files", () => {
  const brought = { tree: treeId("t9"), commit: "c9", changed: ["src/a.ts"] };
  const stale = { review: usedGate("review", { fresh: false }), checks: usedGate("checks", { fresh: false }) };

  test("fixed lint makes the affected gates stale, and ends the failure", () => {
    const failing = { gate: "ci", blame: null, approved: false, restored: false } as const;
    const state = before({ failing });
    expect(after({ type: "lint.fixed", ...brought }, state)).toEqual({
      tree: "t9",
      commit: "c9",
      failing: null,
      delivery: GONE,
      gates: { ...stale, ci: expect.objectContaining({ lintFixed: true, fresh: false }) as GateState },
    });
  });

  test("a branch that was updated counts as a move of the target, and keeps an approval", () => {
    const updated = after({ type: "branch.updated", ...brought, conflicts: [] });
    expect(updated).toMatchObject({ tree: "t9", counters: { targetMoves: 3 } });
    expect(updated).not.toHaveProperty("delivery");
    const adopted = after({ type: "work.adopted", ...brought, by: "Ada" }, before({ adopting: "Ada" }));
    expect(adopted).toMatchObject({ tree: "t9", adopting: GONE });
    expect(adopted).not.toHaveProperty("counters");
  });

  test("a restored tree is judged again by every gate, and restored once", () => {
    const restored: Event = { type: "tree.restored", tree: treeId("t0"), commit: "c0" };
    expect(after(restored)).toEqual({
      tree: "t0",
      commit: "c0",
      gates: stale,
      delivery: GONE,
      failing: { ...before().failing, restored: true },
    });
    expect(after(restored, before({ failing: null }))).not.toHaveProperty("failing");
  });

  test("a refused delivery is recorded", () => {
    const refused: Event = { type: "delivery.refused", why: "not-merged", detail: "no" };
    expect(after(refused).delivery).toEqual({ refused: { why: "not-merged", detail: "no" } });
  });

  test("delivered work records where, and needs no approval any more", () => {
    expect(after({ type: "work.delivered", how: "branch", where: "there" })).toEqual({
      delivery: GONE,
      delivered: "there",
    });
  });

  test("a target that moved during a step does not interrupt the work", () => {
    const moved: Event = { type: "work.interrupted", detail: "main moved", cause: "target-moved" };
    expect(after(moved, before({ running: STEP })).counters).toMatchObject({ targetMoves: 3 });
    const { cause: _none, ...ended } = moved;
    expect(after(ended, before({ running: GATE }))).toEqual({ running: null });
  });
});

describe("work that is sent back", () => {
  const route = { phase: "implement", role: DEVELOPER, reason: "" } as const;
  const scope = { allow: ["src/a.ts"], deny: [], tests: "open", exceptions: "never", reason: "" } as const;
  const sentBack = (more: object = {}): Event => ({
    type: "work.sent-back",
    gate: "review",
    variant: "review",
    failure: 1,
    failureLimit: 3,
    route,
    scope,
    brief: evidenceId("b1"),
    ...more,
  });

  test("must be made again in its phase, within its scope", () => {
    const state = before({ requested: { phase: "implement", message: "" }, reworks: 1, running: STEP });
    expect(after(sentBack(), state)).toMatchObject({
      running: null,
      productReady: false,
      failing: null,
      requested: null,
      scope,
      rework: { gate: "review", route, brief: "b1" },
      reworks: 2,
    });
    expect(after(sentBack({ note: evidenceId("n1") })).rework).toEqual({
      gate: "review",
      route,
      brief: "b1",
      note: "n1",
    });
    expect(after(sentBack()).rework).not.toHaveProperty("note");
  });

  test("in the same phase keeps results of gates; in an earlier one none is fresh", () => {
    expect(after(sentBack())).not.toHaveProperty("gates");
    const phases = (["plan", "implement"] as const).map((phase) => ({ phase, gates: ["review", "checks"] }));
    const state = before({
      policy: { ...POLICY, phases } as unknown as Policy,
      completed: ["research", "plan", "implement"],
      gates: { review: usedGate("review"), checks: usedGate("checks", { last: null }) },
    });
    expect(after(sentBack({ route: { ...route, phase: "plan" } }), state)).toMatchObject({
      phase: "plan",
      completed: ["research"],
      trees: [],
      counters: { unchanged: 0 },
      gates: { review: { last: null, fresh: false, failures: 2 }, checks: { fresh: true } },
    });
  });

  test("watches the blamed locations, unless a person sent it back", () => {
    const { blame } = blameEvent("review", "culprit", "src/a.ts") as {
      blame: NonNullable<StoryState["failing"]>["blame"];
    };
    const state = before({ failing: { gate: "review", blame, approved: false, restored: false } });
    expect(after(sentBack(), state)).toMatchObject({
      watched: { gate: "review", places: ["src/a.ts"] },
      locations: { "src/a.ts": { attempts: 2, lastAttemptAt: 1000 } },
    });
    expect(after(sentBack({ gate: "person" }), state)).not.toHaveProperty("watched");
    expect(after(sentBack())).not.toHaveProperty("watched");
  });
});

describe("a phase whose gates all passed", () => {
  const phases = [
    { phase: "plan", gates: ["review"] },
    { phase: "implement", gates: ["checks"] },
  ];
  const planned = (more: Partial<StoryState> = {}): StoryState =>
    before({
      policy: { ...POLICY, phases } as unknown as Policy,
      phase: "plan",
      productReady: true,
      failing: null,
      gates: { review: usedGate("review", { last: judgement("review", "t1", "pass") }) },
      completed: ["research"],
      ...more,
    });
  const nudge: Event = { type: "story.flagged", usualMs: 1, takenMs: 9 };

  test("is followed by the next one, without evidence", () => {
    expect(after(nudge, planned())).toMatchObject({
      phase: "implement",
      completed: ["research", "plan"],
      productReady: false,
      trees: [],
      gates: { review: { last: null, fresh: false } },
    });
  });

  test("is skipped if its product exists already", () => {
    const done = planned({ completed: ["implement"] });
    expect(after(nudge, done)).toMatchObject({ phase: "implement", completed: ["implement", "plan"] });
    expect(after(nudge, done)).not.toHaveProperty("productReady");
  });

  test.each<[string, Partial<StoryState>]>([
    ["the product is not ready", { productReady: false }],
    ["something runs", { running: STEP }],
    ["a gate failed", { failing: before().failing }],
    ["a finding is disputed", { disputes: [{} as Dispute] }],
    ["a person asked for rework", { requested: { phase: "plan", message: "" } }],
    ["a gate is closed", { gates: {} }],
    ["it is the last one", { phase: "implement" }],
    ["there are no rules", { policy: null }],
  ])("stays where %s", (_name, more) => {
    expect(after(nudge, planned(more))).toEqual({ flagged: true });
  });
});

describe("a disputed finding", () => {
  const finding = fingerprint("f1");
  const dispute: Dispute = { finding, gate: "review", by: "developer", rationale: "no", standing: "open" };
  const other: Dispute = { ...dispute, finding: fingerprint("f2") };
  const ruled = (upheld: boolean, more: object = {}): Event => ({
    type: "finding.adjudicated",
    finding,
    upheld,
    by: "critic",
    reason: "I read it",
    costUsd: 1,
    durationMs: 2,
    ...more,
  });
  const state = (more: Partial<StoryState> = {}, review: Partial<GateState> = {}): StoryState =>
    before({ disputes: [dispute, other], gates: { review: usedGate("review", review) }, ...more });
  const PAID = { spent: { costUsd: 1, tokens: 0, timeMs: 2, costUnknown: false }, asked: { critic: 1 } };

  test("is open", () => {
    const told: Event = { type: "finding.disputed", gate: "review", finding, by: "developer", rationale: "no" };
    expect(after(told, before({ disputes: [other] })).disputes).toEqual([other, dispute]);
  });

  test("that is upheld is recorded and goes to a person; a question of a person is asked again", () => {
    const upheld = [{ finding, says: "critic: I read it" }];
    expect(after(ruled(true), state({ running: STEP }))).toMatchObject({
      ...PAID,
      running: null,
      disputes: [{ ...dispute, standing: "refused", ruling: "critic: I read it" }, other],
      gates: { review: { upheld } },
    });
    expect(after(ruled(true, { reason: "" }), state()).gates?.review?.upheld).toEqual([{ finding, says: "critic" }]);
    const answer = state({ disputes: [{ ...dispute, isAnswer: true }, other] });
    expect(after(ruled(true), answer).disputes).toEqual([other]);
  });

  test("that is overturned is left out: the gate runs again, and the charge is reversed", () => {
    const failed = after(ruled(false), state());
    expect(failed).toMatchObject({
      ...PAID,
      disputes: [other],
      failing: null,
      counters: { unchanged: 0 },
      gates: { review: { overturned: [finding], fresh: false, failures: 1, failuresEver: 1, rounds: [] } },
    });
    const more = after(ruled(false), state({}, { rounds: [ROUND, ROUND], overturned: [other.finding] }));
    expect(more.gates?.review).toMatchObject({ rounds: [ROUND], overturned: [other.finding, finding] });
  });

  test.each(["flaky", "pre-existing"] as const)(
    "that is overturned after %s blame has no charge left to reverse",
    (verdict) => {
      const { blame } = blameEvent("review", verdict) as { blame: NonNullable<StoryState["failing"]>["blame"] };
      const known = state({ failing: { gate: "review", blame, approved: false, restored: false } });
      expect(after(ruled(false), known).gates?.review).toMatchObject({ failures: 2, rounds: [] });
    },
  );

  test("that is overturned while another gate fails, or without a verdict, keeps failure and charge", () => {
    const checks = { gate: "checks", blame: null, approved: false, restored: false } as const;
    for (const known of [state({ failing: checks }), state({}, { last: null }), state({ failing: null })]) {
      const fallen = after(ruled(false), known);
      expect(fallen).not.toHaveProperty("failing");
      expect(fallen.counters).toMatchObject({ unchanged: 0 });
      expect(fallen.gates?.review).toMatchObject({ overturned: [finding], fresh: false, failures: 2, rounds: [ROUND] });
    }
  });

  test("that is not disputed only adds its cost; the engine's own ruling is no turn of a role", () => {
    expect(after(ruled(true), before())).toEqual(PAID);
    expect(after(ruled(true, { by: "engine" }), before())).toEqual({ spent: PAID.spent });
    expect(after(ruled(true, { asked: { architect: 2 } }), before()).asked).toEqual({ architect: 2 });
  });
});

describe("events of people and the project", () => {
  test("change the story, its policy, and its warnings", () => {
    const changed = story("a", { title: "Another title" });
    expect(after({ type: "story.changed", story: changed } as Event).story).toEqual(changed);
    expect(after({ type: "policy.applied", policy: { ...POLICY, preset: "goal" } } as Event).policy?.preset).toBe(
      "goal",
    );
    expect(
      after({ type: "budget.warned", budget: "cost", used: 9, limit: 10 }, before({ warned: ["time"] })).warned,
    ).toEqual(["time", "cost"]);
    expect(
      after({ type: "grace.granted", gate: "review", failures: 3 }, before({ grace: { checks: 1, review: 1 } })).grace,
    ).toEqual({
      checks: 1,
      review: 2,
    });
    expect(after({ type: "grace.granted", gate: "review", failures: 3 }).grace).toEqual({ review: 1 });
  });

  test("a question is stored with its time, and counted", () => {
    const asked = escalation({ type: "approval", of: "merge" }, null)!;
    expect(after({ type: "escalation.raised", escalation: asked }, before({ escalations: 1 }))).toEqual({
      escalation: asked,
      escalatedAt: 1000,
      escalations: 2,
    });
  });

  test("a pause lets a step run, unless it is to end now; a resume ends the pause", () => {
    const running = before({ running: STEP });
    expect(after({ type: "story.held", by: "Ada" }, running)).toEqual({ held: true });
    expect(after({ type: "story.held", by: "Ada", now: true }, running)).toEqual({ held: true, stopping: "Ada" });
    expect(after({ type: "story.held", by: "Ada", now: true })).toEqual({ held: true });
    expect(after({ type: "story.released", by: "Ada" }, before({ held: true }))).toEqual({ held: false });
  });

  test("a request to stop ends when nothing runs", () => {
    const stopping = before({ running: GATE, stopping: "Ada" });
    expect(after({ type: "work.interrupted", detail: "" }, stopping)).toEqual({ running: null, stopping: null });
    expect(after({ type: "story.flagged", usualMs: 1, takenMs: 9 }, stopping)).toEqual({ flagged: true });
  });

  test("an answer can be undone only while that is allowed", () => {
    const undo = { answer: {} as never, at: 0, before: before({ held: true }) };
    const undone: Event = { type: "answer.undone", by: "Ada" };
    expect(after(undone, before({ undo }))).toEqual({});
    const may = { ...AROUND, mayUndo: () => true };
    expect(after(undone, before({ undo, flagged: true }), may)).toMatchObject({ undo: null });
  });
});

describe("the end of a story", () => {
  test("is accepted with the notes of its gates, or failed with the reason", () => {
    const running = before({ running: STEP });
    expect(after({ type: "story.accepted" }, running).ending).toEqual({ how: "accepted", at: 1000, forced: null });
    expect(after({ type: "story.accepted", notes: ["no test shows it"] }).ending).toMatchObject({
      notes: ["no test shows it"],
    });
    expect(after({ type: "story.accepted", notes: [] }).ending).not.toHaveProperty("notes");
    expect(after({ type: "story.accepted" }, running).running).toBeNull();
    expect(after({ type: "story.failed", how: "exhausted", reason: "x" }, running)).toMatchObject({
      running: null,
      ending: { how: "exhausted", at: 1000, reason: "x" },
    });
  });

  test("an ended story only adds the cost of what still ran", () => {
    const over = before({ ending: { how: "exhausted", at: 0, reason: "x" } });
    expect(after({ type: "story.held", by: "Ada" }, over)).toEqual({});
    const judged: Event = { type: "gate.judged", judgement: { ...judgement("review", "t1", "pass"), costUsd: 2 } };
    expect(after(judged, over)).toEqual({ spent: { costUsd: 2, tokens: 0, timeMs: 0, costUnknown: false } });
  });
});

describe("an attempt that is not the one that runs", () => {
  const attempt: AttemptSummary = {
    attempt: 2,
    phase: "implement",
    role: DEVELOPER,
    reworkOf: null,
    outcome: "running",
    asked: 0,
    tree: null,
    summary: "",
    failed: "",
  };
  const running = { type: "attempt", attempt: 2, role: DEVELOPER, since: 0, seq: 1, unclear: 0 } as const;
  const working = before({ running, attempts: [attempt] });
  const unclear = (number: number): Event => ({
    type: "attempt.unclear",
    attempt: number,
    detail: "?",
    durationMs: 3,
    costUsd: 1,
  });
  const finished = (number: number): Event =>
    ({
      ...unclear(number),
      type: "attempt.finished",
      outcome: { type: "ready" },
      tree: treeId("t2"),
      commit: "c2",
      changed: [],
      productChanged: true,
      summary: "",
    }) as Event;
  const SPENT = { spent: { costUsd: 1, tokens: 0, timeMs: 3, costUnknown: false } };

  test("only adds its cost", () => {
    expect(after(unclear(1), working)).toEqual(SPENT);
    expect(after(finished(1), working)).toEqual(SPENT);
    expect(after(finished(2), before({ running: STEP }))).toEqual(SPENT);
    expect(after(finished(2))).toEqual(SPENT);
    expect(after(unclear(2), working).running).toMatchObject({ unclear: 1 });
    expect(after(finished(2), working)).toMatchObject({ running: null, tree: "t2" });
    const { costUsd: _unknown, ...unknown } = unclear(1) as { costUsd?: number };
    expect(after(unknown as Event, working).spent).toMatchObject({ costUnknown: true });
  });
});

test("a story that starts takes the current policy", () => {
  const waiting = before({ policy: null });
  expect(after({ type: "story.started", by: "engine" }, waiting)).toMatchObject({
    policy: { preset: POLICY.preset },
    startedAt: 1000,
  });
  const prepared: Event = { type: "story.prepared", tree: treeId("t7"), commit: "c7", preExisting: [] };
  expect(after(prepared, before({ running: { ...STEP, step: "prepare" } }))).toMatchObject({
    tree: "t7",
    commit: "c7",
    preExisting: [],
  });
});
