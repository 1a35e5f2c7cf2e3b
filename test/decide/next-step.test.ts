import { describe, expect, test } from "vitest";
import type { StoryAction } from "../../src/core/stories/command.ts";
import type { GateName, Judgement } from "../../src/core/gates/gate.ts";
import { fingerprint, roleName, treeId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { Dispute, GateState, StoryState } from "../../src/core/stories/story-state.ts";
import { newStory, UNJUDGED } from "../../src/fold/new-state.ts";
import { laneOf, nextStep, type Facts, type NextStep } from "../../src/decide/next-step.ts";
import { judgement, story } from "../kit/story-world.ts";
import { POLICY as PRESET, ROUND } from "../kit/story-states.ts";

const POLICY: Policy = {
  ...PRESET,
  autonomy: "standard",
  limits: {
    ...PRESET.limits,
    timeoutMs: { developer: 1, critic: 2, auditor: 3, remediation: 4 },
    errors: 3,
    blocked: 4,
    inconclusives: 2,
    ciRetries: 2,
    iterations: 5,
  },
};
const FACTS: Facts = { base: "b1", usualMs: null };
const limits = (more: Partial<Policy["limits"]>): Policy => ({ ...POLICY, limits: { ...POLICY.limits, ...more } });

/** A story that has its files, and of which nothing is wrong; new work comes next. */
function idle(more: Partial<StoryState> = {}, counters: Partial<StoryState["counters"]> = {}): StoryState {
  const fresh = newStory(story("a"), 0, 0);
  return {
    ...fresh,
    policy: POLICY,
    tree: treeId("t1"),
    commit: "c1",
    ...more,
    counters: { ...fresh.counters, ...more.counters, ...counters },
  };
}
/** The work is handed in, and the first gate that is not open is this one. */
const handedIn = (gate: GateName, known: Partial<GateState> = {}, more: Partial<StoryState> = {}): StoryState =>
  idle({
    productReady: true,
    policy: { ...POLICY, phases: POLICY.phases.map((plan) => ({ ...plan, gates: [gate] })) },
    gates: { [gate]: { ...UNJUDGED, ...known } },
    ...more,
  });
const next = (state: StoryState, facts: Facts = FACTS): NextStep => nextStep(state, facts);
const action = (state: StoryState, facts: Facts = FACTS): StoryAction => next(state, facts).action;
/** Why a person is asked, and about which gate. */
function asked(state: StoryState, facts: Facts = FACTS): unknown {
  const step = next(state, facts);
  expect(step.action.type).toBe("raise-escalation");
  expect(step.lane).toBe("engine");
  const { reason, gate } = (step.action as Extract<StoryAction, { type: "raise-escalation" }>).escalation;
  return { ...reason, gate };
}

describe("the order of urgency", () => {
  test("puts gates first, then work in progress, then new stories", () => {
    expect(next(idle({ policy: null }))).toEqual({ lane: "developers", urgency: 2, action: { type: "start-story" } });
    expect(next(idle({ tree: null }))).toEqual({ lane: "developers", urgency: 1, action: { type: "start-story" } });
    expect(next(idle())).toMatchObject({ lane: "developers", urgency: 1, action: { type: "start-attempt" } });
    expect(next(handedIn("review"))).toMatchObject({ lane: "critics", urgency: 0, action: { type: "start-gate" } });
  });

  test("every action has its lane", () => {
    const lane = (type: StoryAction["type"], more: object = {}) => laneOf({ type, ...more } as StoryAction);
    expect((["start-story", "start-attempt"] as const).map((type) => lane(type))).toEqual(["developers", "developers"]);
    expect(lane("adjudicate")).toBe("critics");
    expect((["find-blame", "fix-lint", "adopt-work", "deliver"] as const).map((type) => lane(type))).toEqual(
      Array.from({ length: 4 }, () => "checks"),
    );
    expect(["review", "audit", "ci"].map((gate) => lane("start-gate", { gate }))).toEqual([
      "critics",
      "auditors",
      "checks",
    ]);
    expect(lane("accept")).toBe("engine");
  });
});

describe("notices for people", () => {
  const spending = (costUsd: number): StoryState =>
    idle({
      policy: limits({ story: { ...POLICY.limits.story, costUsd: 10 } }),
      spent: { costUsd, tokens: 0, timeMs: 0, costUnknown: false },
    });

  test("warn once that a budget is nearly used up, and ask when it is", () => {
    expect(action(spending(9))).toEqual({ type: "warn-budget", budget: "cost", used: 9, limit: 10 });
    expect(action({ ...spending(9), warned: ["cost"] }).type).toBe("start-attempt");
    expect(asked({ ...spending(10), warned: ["cost"] })).toEqual({
      type: "budget",
      budget: "cost",
      used: 10,
      limit: 10,
      gate: null,
    });
  });

  test("flag once a story that takes more than three times as long as usual", () => {
    const taking = (timeMs: number): StoryState =>
      idle({ spent: { costUsd: 0, tokens: 0, timeMs, costUnknown: false } });
    const usual = { ...FACTS, usualMs: 100 };
    expect(action(taking(301), usual)).toEqual({ type: "flag-story", usualMs: 100, takenMs: 301 });
    expect(action(taking(300), usual).type).toBe("start-attempt");
    expect(action({ ...taking(301), flagged: true }, usual).type).toBe("start-attempt");
    expect(action(taking(301)).type).toBe("start-attempt");
  });

  test("finished work is accepted even if it was expensive, unless the budget ended it", () => {
    const done: Partial<StoryState> = {
      warned: ["cost"],
      productReady: true,
      policy: { ...spending(10).policy!, phases: [], deliver: "branch" },
    };
    expect(action({ ...spending(10), ...done }).type).toBe("accept");
    const cut = { ...spending(10), ...done, counters: { ...idle().counters, cutShort: "cost" } as const };
    expect(asked(cut)).toMatchObject({ type: "budget", budget: "cost" });
  });
});

describe("a person is asked about the engine", () => {
  test("when it died too often in the same step", () => {
    const died = (times: number, gate: GateName | null = "review"): StoryState =>
      idle({}, { engineDeaths: { during: "the review gate", kind: "gate", gate, times } });
    expect(asked(died(3))).toEqual({
      type: "engine-died",
      during: "the review gate",
      kind: "gate",
      times: 3,
      gate: "review",
    });
    expect(asked(died(3, null))).toMatchObject({ gate: null });
    expect(action(died(2)).type).toBe("start-attempt");
  });

  test("when its steps keep failing, with the last reason", () => {
    expect(asked(idle({}, { stepFailures: 3 }))).toEqual({
      type: "gate-error",
      errors: 3,
      detail: "a step of the engine failed",
      gate: null,
    });
    const wait = { type: "time", until: 1, why: "no space" } as const;
    expect(asked(idle({ wait }, { stepFailures: 3 }))).toMatchObject({ detail: "no space" });
    expect(action(idle({}, { stepFailures: 2 })).type).toBe("start-attempt");
  });

  test("when infrastructure was called healthy and was not", () => {
    expect(asked(idle({}, { blocked: 4 }))).toEqual({
      type: "gate-blocked",
      times: 4,
      detail: "infrastructure failed again after each health check passed",
      gate: null,
    });
    expect(action(idle({}, { blocked: 3 })).type).toBe("start-attempt");
  });

  test("with the gate that the story is at", () => {
    const at = (state: StoryState) =>
      (asked({ ...state, counters: { ...state.counters, stepFailures: 3 } }) as { gate: unknown }).gate;
    expect(at(handedIn("audit"))).toBe("audit");
    expect(at(handedIn("audit", { fresh: true }))).toBeNull();
    expect(at({ ...handedIn("audit"), productReady: false })).toBeNull();
    expect(
      at(handedIn("audit", {}, { failing: { gate: "checks", blame: null, approved: false, restored: false } })),
    ).toBe("checks");
  });
});

describe("before any work", () => {
  test("a person's fix is adopted", () => {
    expect(action(idle({ adopting: "Ada" }))).toEqual({ type: "adopt-work", by: "Ada" });
  });

  test("a commit that no gate has passed raises a question", () => {
    const refused = { why: "branch-moved", detail: "f00 is there", commit: "f00" } as const;
    expect(asked(idle({ delivery: { refused } }))).toMatchObject({ type: "branch-moved", commit: "f00" });
  });

  test("failures at the base raise a question", () => {
    expect(asked(idle({ preExisting: ["x"], flakyAtBase: [] }))).toEqual({
      type: "failing-base",
      tests: ["x"],
      gate: null,
    });
    const targeted = idle({ story: story("a", { target: ["y"] }), preExisting: ["x"], flakyAtBase: [] });
    expect(asked(targeted)).toEqual({ type: "target-not-failing", targets: ["y"], gate: null });
  });
});

describe("a disputed finding", () => {
  const dispute = (standing: Dispute["standing"], more: Partial<Dispute> = {}): Dispute => ({
    finding: fingerprint("f1"),
    gate: "review",
    by: "the developer",
    rationale: "it is not so",
    standing,
    ...more,
  });

  test("that is open goes to the adjudicator before decided ones", () => {
    const open = dispute("open", { finding: fingerprint("f2"), gate: "audit" });
    expect(next(idle({ disputes: [dispute("refused"), open] }))).toEqual({
      lane: "critics",
      urgency: 0,
      action: { type: "adjudicate", finding: "f2", gate: "audit", role: POLICY.roles.adjudicator },
    });
  });

  test("that is upheld raises a question with both sides", () => {
    expect(asked(idle({ disputes: [dispute("refused", { ruling: "the critic: it is" })] }))).toEqual({
      type: "dispute",
      finding: "f1",
      detail: "disputed by the developer: it is not so — upheld by the critic: it is",
      gate: "review",
    });
    expect(asked(idle({ disputes: [dispute("refused")] }))).toMatchObject({
      detail: "disputed by the developer: it is not so",
    });
  });
});

test("rework for a person goes to the named phase, and is charged to no gate", () => {
  expect(action(idle({ requested: { phase: "implement", message: "again" }, productReady: true }))).toMatchObject({
    type: "send-back",
    gate: "person",
    variant: "phase",
    failure: 0,
    failureLimit: null,
    route: { phase: "implement", reason: "a person sent it back" },
  });
});

describe("the next attempt", () => {
  test("has the next number and the phase's role, and explains the format after an unreadable reply", () => {
    expect(action(idle())).toEqual({
      type: "start-attempt",
      attempt: 1,
      phase: "implement",
      role: "developer",
      reworkOf: null,
      spellOutFormat: false,
      timeoutMs: POLICY.limits.timeoutMs.developer,
      forecastUsd: null,
    });
    const unclear = idle({ attempts: [{} as never] }, { lastFailure: { type: "unclear", detail: "" } });
    expect(action(unclear)).toMatchObject({ attempt: 2, spellOutFormat: true });
  });

  test("is the rework, if there is one", () => {
    const route = { phase: "plan", role: roleName("architect"), tddPhase: "red", reason: "" } as const;
    const rework = { gate: "review", route, brief: "b" } as unknown as StoryState["rework"];
    expect(action(idle({ rework }))).toMatchObject({
      phase: "plan",
      role: "architect",
      tddPhase: "red",
      reworkOf: "review",
    });
    expect(action(idle({ story: story("a", { role: roleName("writer") }) }))).toMatchObject({ role: "writer" });
    expect(action(idle())).not.toHaveProperty("tddPhase");
  });

  test("is not started at the limit of iterations, which a person can raise", () => {
    expect(action(idle({}, { attempts: 4 })).type).toBe("start-attempt");
    expect(asked(idle({}, { attempts: 5 }))).toEqual({
      type: "budget",
      budget: "iterations",
      used: 5,
      limit: 5,
      gate: null,
    });
    expect(action(idle({ raised: { iterations: 6 } }, { attempts: 5 })).type).toBe("start-attempt");
  });

  test("needs an agent for the role, or for its fallback", () => {
    const gone = idle({}, { missing: [roleName("developer")] });
    expect(asked(gone)).toEqual({ type: "agent-missing", role: "developer", gate: null });
    const policy = {
      ...POLICY,
      roles: { ...POLICY.roles, fallback: { [roleName("developer")]: roleName("architect") } },
    };
    expect(action({ ...gone, policy })).toMatchObject({ type: "start-attempt", role: "architect" });
  });

  test("comes before the gates while the product is not ready, and after a gate that failed without a verdict", () => {
    expect(action({ ...handedIn("review"), productReady: false }).type).toBe("start-attempt");
    const failing = { gate: "review", blame: null, approved: false, restored: false } as const;
    expect(action(handedIn("review", { last: null }, { failing })).type).toBe("start-gate");
    expect(
      action(handedIn("review", { fresh: true, last: judgement("review", "t1", "pass") }, { failing })).type,
    ).not.toBe("accept");
  });

  test("that changed nothing too often is a stall, before the gate runs on the same tree again", () => {
    const { unchanged } = POLICY.stall;
    const counters = { ...idle().counters, unchanged };
    expect(asked(handedIn("review", {}, { counters }))).toMatchObject({
      type: "stall",
      stall: "no-change",
      gate: "review",
    });
    const off = handedIn("review", {}, { counters });
    expect(action({ ...off, policy: { ...off.policy!, circuitBreaker: false } }).type).toBe("start-gate");
    expect(action(handedIn("review", {}, { counters: { ...counters, unchanged: unchanged - 1 } })).type).toBe(
      "start-gate",
    );
  });
});

describe("a gate", () => {
  const gate = (known: Partial<GateState> = {}, more: Partial<StoryState> = {}) =>
    action(handedIn("review", known, more)) as Extract<StoryAction, { type: "start-gate" }>;
  const withReview = (more: Partial<Policy["gates"]["review"]>): Partial<StoryState> => {
    const { policy } = handedIn("review");
    return { policy: { ...policy!, gates: { ...policy!.gates, review: { ...policy!.gates.review, ...more } } } };
  };

  test("judges the whole tree first, and later the changes since the last tree", () => {
    const last = judgement("review", "t0", "fail", { blocking: 2 });
    const [one, other] = last.blocking;
    expect(gate({}, withReview({ stages: [] }))).toEqual({
      type: "start-gate",
      gate: "review",
      tree: "t1",
      stages: [],
      since: null,
      answer: [],
      timeoutMs: POLICY.limits.timeoutMs.critic,
    });
    expect(gate({ last, overturned: [one!] })).toMatchObject({ since: "t0", answer: [other] });
    expect(gate({ last: { ...last, tree: treeId("t1") } })).toMatchObject({ since: null });
    expect(action(handedIn("audit"))).toMatchObject({ timeoutMs: POLICY.limits.timeoutMs.auditor });
  });

  test("with ordered stages continues from the failed one", () => {
    const stages = ["spec", "tests", "quality"] as never;
    const failedAt = (stage: string, result = "fail"): Judgement => ({
      ...judgement("review", "t0", "fail"),
      stages: [
        { stage: "spec", result: "pass" },
        { stage, result },
      ] as never,
    });
    const from = (last: Judgement | null, stageOrder: string) =>
      gate({ last }, withReview({ stages, stageOrder: stageOrder as never })).stages;
    expect(from(failedAt("tests"), "in-order")).toEqual(["tests", "quality"]);
    expect(from(failedAt("tests"), "any")).toEqual(["spec", "tests", "quality"]);
    expect(from(failedAt("tests", "pass"), "in-order")).toEqual(["spec", "tests", "quality"]);
    expect(from(failedAt("renamed"), "in-order")).toEqual(["spec", "tests", "quality"]);
    expect(from(null, "in-order")).toEqual(["spec", "tests", "quality"]);
    expect(from(judgement("review", "t0", "fail"), "in-order")).toEqual(["spec", "tests", "quality"]);
  });

  test("that keeps breaking raises a question with its trouble", () => {
    const trouble = "no answer";
    expect(asked(handedIn("review", { errors: 3, trouble }))).toEqual({
      type: "gate-error",
      errors: 3,
      detail: "no answer",
      gate: "review",
    });
    expect(asked(handedIn("review", { errors: 3 }))).toMatchObject({ detail: "" });
    expect(gate({ errors: 2 }).type).toBe("start-gate");
    expect(asked(handedIn("review", { inconclusives: 2, trouble }))).toEqual({
      type: "gate-inconclusive",
      times: 2,
      detail: "no answer",
      gate: "review",
    });
    expect(gate({ inconclusives: 1 }).type).toBe("start-gate");
    expect(asked(handedIn("review", { inconclusives: 2, flaky: ["a", "b"] }))).toEqual({
      type: "non-deterministic",
      detail: "a, b gave different answers about the same tree, 2 times",
      gate: "review",
    });
    expect(asked(handedIn("review", { ciRetries: 3, trouble }))).toMatchObject({
      type: "gate-blocked",
      times: 3,
      detail: "no answer",
    });
    expect(gate({ ciRetries: 2 }).type).toBe("start-gate");
  });

  test("is retried in a conservative run only if a person approves", () => {
    const conservative = (known: Partial<GateState>, approvedRetry = false): StoryState => {
      const state = handedIn("review", known);
      return {
        ...state,
        policy: { ...state.policy!, autonomy: "conservative" },
        counters: { ...state.counters, approvedRetry },
      };
    };
    for (const known of [{ errors: 1 }, { ciRetries: 1 }]) {
      expect(asked(conservative(known))).toEqual({ type: "approval", of: "retry", gate: "review" });
      expect(action(conservative(known, true)).type).toBe("start-gate");
      expect(gate(known).type).toBe("start-gate");
    }
    expect(action(conservative({})).type).toBe("start-gate");
  });

  test("of merges follows its target a limited number of times; other gates are not affected", () => {
    const counters = { ...idle().counters, targetMoves: 99 };
    expect(asked(handedIn("merge", {}, { counters }))).toMatchObject({
      type: "target-moves",
      times: 99,
      gate: "merge",
    });
    expect(action(handedIn("review", {}, { counters })).type).toBe("start-gate");
  });

  test("that failed has the work sent back", () => {
    const failing = { gate: "review", blame: null, approved: true, restored: false } as const;
    const known = { last: judgement("review", "t1", "fail"), fresh: true, rounds: [ROUND] };
    const { policy } = withReview({ blame: false });
    expect(action(handedIn("review", known, { failing, policy: policy! })).type).toBe("send-back");
  });
});

test("an agent without a usable result raises a question before the next attempt", () => {
  expect(asked(idle({}, { lastFailure: { type: "unusable", detail: "no login", fix: "log in" } }))).toMatchObject({
    type: "agent-failure",
  });
});
