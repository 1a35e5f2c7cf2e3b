import { describe, expect, test } from "vitest";
import type { AttemptOutcome, AttemptSummary } from "../../src/core/stories/attempt.ts";
import type { AttemptFinished, AttemptStarted, AttemptUnclear } from "../../src/core/events/event.ts";
import { evidenceId, roleName, storyId, treeId } from "../../src/core/events/ids.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import {
  attemptFinished,
  attemptStarted,
  attemptUnclear,
  backoffMs,
  interruptAttempt,
  withLastAttempt,
  workInterrupted,
} from "../../src/fold/fold-attempt.ts";
import { asking, changes, COUNTERS, POLICY, usedGate } from "../kit/story-states.ts";

const [DEVELOPER, CRITIC] = [roleName("developer"), roleName("critic")];
const SCOPE = { allow: ["src/a.ts"], deny: [], tests: "open", exceptions: "never", reason: "" } as const;
const { backoffMs: PAUSE } = POLICY.limits;
const SESSION = { agent: "x", id: "s1" };

const summary = (attempt: number, more: Partial<AttemptSummary> = {}): AttemptSummary => ({
  attempt,
  phase: "implement",
  role: DEVELOPER,
  reworkOf: null,
  outcome: "ready",
  asked: 0,
  tree: treeId(`t${attempt}`),
  summary: "",
  failed: "",
  ...more,
});

describe("an attempt that starts", () => {
  const started = (more: Partial<AttemptStarted> = {}): AttemptStarted => ({
    type: "attempt.started",
    attempt: 2,
    phase: "implement",
    role: DEVELOPER,
    reworkOf: "review",
    brief: evidenceId("e1"),
    forecastUsd: null,
    ...more,
  });
  const before = (more: Partial<StoryState> = {}): StoryState =>
    asking(null, null, {
      seq: 8,
      scope: SCOPE,
      startedFrom: treeId("t0"),
      attempts: [summary(1)],
      sessions: { [DEVELOPER]: SESSION, [CRITIC]: SESSION },
      counters: { ...COUNTERS, approvedRetry: true },
      ...more,
    });
  const after = (event: AttemptStarted, state = before()): Partial<StoryState> =>
    changes(state, attemptStarted(state, event, 1000));

  test("runs, is counted at once, and has no summary yet", () => {
    expect(after(started())).toEqual({
      running: { type: "attempt", attempt: 2, role: DEVELOPER, since: 1000, seq: 9, unclear: 0 },
      wait: null,
      startedFrom: "t1",
      counters: { ...COUNTERS, attempts: 4, lastFailure: null },
      attempts: [summary(1), summary(2, { reworkOf: "review", outcome: "running", tree: null })],
    });
  });

  test("keeps its model, its part of test-first work, and that its conversation is new", () => {
    const { attempts, sessions } = after(started({ model: "large", tddPhase: "red", fresh: { failures: 2 } }));
    expect(attempts?.[1]).toMatchObject({ model: "large", tddPhase: "red", fresh: true });
    expect(sessions).toEqual({ [CRITIC]: SESSION });
    for (const key of ["model", "tddPhase", "fresh"]) expect(after(started()).attempts?.[1]).not.toHaveProperty(key);
  });

  test("that is not a rework has no scope", () => {
    expect(after(started({ reworkOf: null })).scope).toBeNull();
    expect(after(started())).not.toHaveProperty("scope");
  });

  test("is compared with the last ready work, and includes a crashed attempt", () => {
    const broke = before({ attempts: [summary(1, { outcome: "crashed" })] });
    expect(after(started(), broke)).not.toHaveProperty("startedFrom");
    expect(after(started(), { ...broke, startedFrom: null }).startedFrom).toBe("t1");
    expect(after(started(), before({ attempts: [], startedFrom: null })).startedFrom).toBe("t1");
  });

  test("that must revert changes outside its scope is compared with the tree before them", () => {
    const integrity = started({ reworkOf: "integrity" });
    const refused = before({ attempts: [summary(1, { reworkOf: "review" })] });
    expect(after(integrity, refused)).not.toHaveProperty("startedFrom");
    // The attempt before it had no scope to go beyond.
    expect(after(integrity, before()).startedFrom).toBe("t1");
    expect(after(started({ reworkOf: "integrity", phase: "plan" }), before())).not.toHaveProperty("startedFrom");
    expect(after(integrity, { ...refused, startedFrom: null }).startedFrom).toBe("t1");
    expect(after(started(), refused).startedFrom).toBe("t1");
  });
});

const working = (more: Partial<StoryState> = {}): StoryState =>
  asking(null, null, {
    running: { type: "attempt", attempt: 2, role: DEVELOPER, since: 0, seq: 1, unclear: 0 },
    attempts: [summary(1), summary(2, { outcome: "running", tree: null })],
    wait: null,
    failing: null,
    productReady: false,
    message: evidenceId("old"),
    exceptions: [{ path: "old.ts", rationale: "" }],
    guidance: ["Ada: do it"],
    ...more,
  });

describe("an unreadable reply", () => {
  const unclear: AttemptUnclear = {
    type: "attempt.unclear",
    attempt: 2,
    detail: "what?",
    costUsd: 1,
    durationMs: 2,
    session: SESSION,
  };
  const PAID = { spent: { costUsd: 1, tokens: 0, timeMs: 2, costUnknown: false }, sessions: { [DEVELOPER]: SESSION } };
  const after = (times: number): Partial<StoryState> => {
    const running = { ...working().running!, unclear: times } as StoryState["running"];
    return changes(working({ running }), attemptUnclear(working({ running }), unclear, 1000));
  };
  const { clarifications } = POLICY.limits;

  test("is asked for again, as often as the policy says", () => {
    expect(after(0)).toEqual({
      ...PAID,
      running: { ...working().running, unclear: 1 },
      attempts: [summary(1), summary(2, { outcome: "running", tree: null, asked: 1 })],
    });
    expect(after(clarifications - 1).running).toMatchObject({ unclear: clarifications });
  });

  test("above the limit ends the attempt without a result, and it is not counted", () => {
    expect(after(clarifications)).toEqual({
      ...PAID,
      running: null,
      attempts: [summary(1), summary(2, { outcome: "unclear", tree: treeId("t1"), summary: "what?" })],
      counters: { ...COUNTERS, attempts: 2, agentFailures: 2, lastFailure: { type: "unclear", detail: "what?" } },
      wait: { type: "time", until: 1000 + 2 * PAUSE, why: "unclear" },
    });
    const ruleless = working({ policy: null });
    expect(attemptUnclear(ruleless, unclear, 1000).running).toBeNull();
  });

  test("of an ended attempt only adds its cost", () => {
    const idle = working({ running: null });
    expect(changes(idle, attemptUnclear(idle, unclear, 1000))).toEqual(PAID);
    const { costUsd: _unknown, session: _none, ...unknown } = unclear;
    expect(attemptUnclear(idle, unknown, 1000)).toMatchObject({ spent: { costUnknown: true }, sessions: {} });
  });
});

const finished = (outcome: AttemptOutcome, more: Partial<AttemptFinished> = {}): AttemptFinished => ({
  type: "attempt.finished",
  attempt: 2,
  outcome,
  tree: treeId("t2"),
  commit: "c2",
  changed: ["src/a.ts"],
  productChanged: true,
  summary: "done",
  costUsd: 1,
  durationMs: 2,
  ...more,
});
const ended = (outcome: AttemptOutcome, more: Partial<AttemptFinished> = {}, state = working()): Partial<StoryState> =>
  changes(state, attemptFinished(state, finished(outcome, more), 1000));

const SAME = { changed: [], productChanged: false };

describe("an attempt that is ready", () => {
  const { targetMoves: _moves, ...unmoved } = COUNTERS;
  const HANDED_IN = {
    running: null,
    tree: "t2",
    commit: "c2",
    spent: { costUsd: 1, tokens: 0, timeMs: 2, costUnknown: false },
    exceptions: [],
    message: "e2",
    trees: ["t0", "t1", "t2"],
    productReady: true,
    guidance: [],
    attempts: [summary(1), summary(2, { summary: "done" })],
    counters: {
      ...unmoved,
      unchanged: 0,
      agentFailures: 0,
      rateLimits: 0,
      refusals: 0,
      stepFailures: 0,
      lastFailure: null,
    },
  };
  const READY = { type: "ready" } as const;

  test("makes the affected gates run again, and resets what blocked it", () => {
    const state = working({ rework: { gate: "review", route: {}, brief: "b" } as never });
    expect(ended(READY, { message: evidenceId("e2") }, state)).toEqual({
      ...HANDED_IN,
      rework: null,
      gates: { review: usedGate("review", { fresh: false }), checks: usedGate("checks", { fresh: false }) },
    });
  });

  test("stores its product, its exceptions and its conversation", () => {
    const exceptions = [{ path: "b.ts", rationale: "x" }];
    const after = ended(READY, { product: "p" as never, exceptions, session: SESSION });
    expect(after).toMatchObject({
      trees: ["t0", "t1", "p"],
      exceptions,
      sessions: { [DEVELOPER]: SESSION },
      message: null,
    });
  });

  test("without a changed product is counted, and the gate that sent it back runs again", () => {
    const back = (gate: "review" | "person") =>
      working({ rework: { gate, route: {}, brief: "b" } as never, counters: { ...COUNTERS, unchanged: 1 } });
    const reviewed = ended(READY, SAME, back("review"));
    expect(reviewed.counters?.unchanged).toBe(2);
    expect(reviewed.gates).toEqual({ review: usedGate("review", { fresh: false }), checks: usedGate("checks") });
    const asked = ended(READY, SAME, back("person"));
    expect(asked.counters?.unchanged).toBe(2);
    expect(asked).not.toHaveProperty("gates");
    // New work has nothing to leave unchanged, and broken work was not handed in.
    expect(ended(READY, SAME).counters?.unchanged).toBe(COUNTERS.unchanged);
    expect(ended({ type: "crashed", detail: "" }, SAME, back("review")).counters?.unchanged).toBe(1);
  });

  test("shares its cost among the reworked locations", () => {
    const record = { attempts: 1, lastAttemptAt: 1, outcomes: [], totalCostUsd: 1, sincePass: 2 };
    const state = working({
      watched: { gate: "review", places: ["src/a.ts", "src/b.ts", "gone.ts"] },
      locations: { "src/a.ts": record, "src/b.ts": record, "src/c.ts": record },
    });
    expect(ended(READY, { costUsd: 3 }, state).locations).toEqual({
      "src/a.ts": { ...record, totalCostUsd: 2 },
      "src/b.ts": { ...record, totalCostUsd: 2 },
      "src/c.ts": record,
    });
    const { costUsd: _unknown, ...unknown } = finished(READY);
    expect(attemptFinished(state, unknown, 0).locations).toBe(state.locations);
    expect(attemptFinished(working(), finished(READY), 0).locations).toEqual(working().locations);
  });
});

describe("an attempt without a product", () => {
  /** What is counted for it; the attempt itself is given back each time. */
  const counted = (outcome: AttemptOutcome, state = working()): Partial<StoryState> => {
    const { counters, wait, held, productReady, guidance, trees, message } = ended(outcome, SAME, state);
    expect([productReady, guidance, trees, message]).toEqual([undefined, undefined, undefined, undefined]);
    const { attempts, ...rest } = changes(state.counters, counters!);
    expect(attempts).toBe(2);
    return JSON.parse(JSON.stringify({ counters: rest, wait, held })) as Partial<StoryState>;
  };
  const pause = (times: number, why: string) => ({ type: "time", until: 1000 + times * PAUSE, why });
  const incomplete = (category: string, waitsFor?: string): AttemptOutcome =>
    ({
      type: "incomplete",
      category,
      blocker: "b",
      attempted: [],
      needed: "",
      ...(waitsFor === undefined ? {} : { waitsFor }),
    }) as AttemptOutcome;

  test.each<[string, AttemptOutcome, object]>([
    ["crashed", { type: "crashed", detail: "x" }, { counters: { agentFailures: 2 }, wait: pause(2, "crashed") }],
    ["timed out", { type: "timed-out", afterMs: 1 }, { counters: { timeouts: 2 } }],
    ["refused", { type: "refused", detail: "x" }, { counters: { refusals: 2 } }],
    [
      "rate limited",
      { type: "rate-limited", retryAt: 5 },
      { counters: { rateLimits: 2 }, wait: { type: "time", until: 5, why: "the agent's provider limits the rate" } },
    ],
    ["missing", { type: "missing", detail: "x" }, { counters: { missing: [DEVELOPER, DEVELOPER] } }],
    ["unusable", { type: "unusable", detail: "x", fix: "y" }, { counters: {} }],
    ["missing info", incomplete("missing_info"), { counters: {} }],
    [
      "waits for a time",
      incomplete("blocked_by_dependency"),
      { counters: { dependencyWaits: 2 }, wait: pause(2, "b") },
    ],
    [
      "waits for a story",
      incomplete("blocked_by_dependency", "z"),
      { counters: { dependencyWaits: 2 }, wait: { type: "story", story: storyId("z"), why: "b" } },
    ],
  ])("%s is remembered as the last failure, within its own bound", (_name, outcome, expected) => {
    const { counters, ...rest } = expected as { counters: object };
    expect(counted(outcome)).toEqual({ ...rest, counters: { ...counters, lastFailure: outcome } });
  });

  test.each<[string, AttemptOutcome, object]>([
    ["blocked", { type: "blocked", issue: "x" }, { counters: { blocked: 2, lastFailure: null } }],
    ["no infrastructure", incomplete("infrastructure"), { counters: { blocked: 2, lastFailure: null } }],
    ["stopped", { type: "stopped", by: "Ada" }, { counters: { lastFailure: null }, held: true }],
    ["cut short", { type: "cut-short", budget: "tokens" }, { counters: { lastFailure: null, cutShort: "tokens" } }],
  ])("%s is not a failure of the agent", (_name, outcome, expected) => {
    expect(counted(outcome)).toEqual(expected);
  });

  test("does not wait if a person is asked next", () => {
    const { agentFailures } = POLICY.limits;
    const before = (failures: number, more: Partial<StoryState> = {}): StoryState =>
      working({ counters: { ...COUNTERS, agentFailures: failures }, ...more });
    const crash: AttemptOutcome = { type: "crashed", detail: "x" };
    expect(attemptFinished(before(agentFailures - 1), finished(crash), 0).wait).toBeNull();
    expect(attemptFinished(before(agentFailures - 2), finished(crash), 0).wait).not.toBeNull();
    expect(attemptFinished(before(agentFailures, { policy: null }), finished(crash), 7).wait).toEqual({
      type: "time",
      until: 7,
      why: "crashed",
    });
  });

  test("keeps its tree, and an earlier message", () => {
    const after = ended({ type: "crashed", detail: "x" }, { message: evidenceId("e2") });
    expect(after).toMatchObject({ tree: "t2", commit: "c2" });
    expect(after.attempts?.[1]).toMatchObject({ outcome: "crashed", tree: "t2", summary: "done" });
    expect(after).not.toHaveProperty("message");
  });
});

describe("work that was interrupted", () => {
  test("is not counted", () => {
    const state = working();
    expect(changes(state, interruptAttempt(state))).toEqual({
      running: null,
      attempts: [summary(1), summary(2, { outcome: "interrupted", tree: null })],
      counters: { ...COUNTERS, attempts: 2 },
    });
    const judging = working({ running: { type: "gate", gate: "review", since: 0, seq: 1 } });
    expect(changes(judging, interruptAttempt(judging))).toEqual({ running: null });
    expect(changes(working({ running: null }), interruptAttempt(working({ running: null })))).toEqual({});
  });

  test("by a death of the engine counts that death; other ends do not count", () => {
    const told = { type: "work.interrupted", detail: "" } as const;
    const { engineDeaths: _none, ...alive } = COUNTERS;
    const state = working({ counters: alive });
    const deaths = (engine?: "died" | "stopped" | "rebooted") =>
      workInterrupted(state, engine === undefined ? told : { ...told, engine }).counters.engineDeaths;
    expect(deaths("died")).toEqual({ during: "attempt 3", kind: "attempt", gate: null, times: 1 });
    expect([deaths(), deaths("stopped"), deaths("rebooted")]).toEqual([undefined, undefined, undefined]);
  });

  test("by a budget adds what it used", () => {
    const overrun = { budget: "tokens", durationMs: 5, tokens: 7 } as const;
    const { cutShort: _none, ...counters } = COUNTERS;
    const state = working({ counters });
    const after = workInterrupted(state, { type: "work.interrupted", detail: "", overrun });
    expect(after.counters.cutShort).toBe("tokens");
    expect(after.spent).toEqual({ costUsd: 0, tokens: 7, timeMs: 5, costUnknown: false });
    expect(workInterrupted(state, { type: "work.interrupted", detail: "" }).counters.cutShort).toBeUndefined();
  });
});

test("a wait doubles each time, up to a thousand times its first length", () => {
  expect([1, 2, 3, 11, 12, 99].map((times) => backoffMs(working(), times) / PAUSE)).toEqual([
    1, 2, 4, 1024, 1024, 1024,
  ]);
  expect(backoffMs(working({ policy: null }), 5)).toBe(0);
});

test("changing the last attempt changes no other", () => {
  const { attempts } = withLastAttempt(working(), { summary: "x" });
  expect(attempts.map((each) => each.summary)).toEqual(["", "x"]);
});
