import { describe, expect, test } from "vitest";
import type { AttemptSummary } from "../../src/core/stories/attempt.ts";
import type { Blame } from "../../src/core/blame/blame.ts";
import type { GateName, Judgement } from "../../src/core/gates/gate.ts";
import type { Result } from "../../src/core/events/error.ts";
import { roleName, treeId } from "../../src/core/events/ids.ts";
import type { GateState, StoryState } from "../../src/core/stories/story-state.ts";
import { blameFound, addCounts, gateJudged } from "../../src/fold/fold-gate.ts";
import { blameEvent, identities, judgement, type JudgementParts } from "../kit/story-world.ts";
import { asking, changes, COUNTERS, POLICY, ROUND, usedGate } from "../kit/story-states.ts";

const [DEVELOPER, CRITIC] = [roleName("developer"), roleName("critic")];
const RUNNING = { type: "gate", gate: "review", since: 0, seq: 1 } as const;
const ATTEMPT: AttemptSummary = {
  attempt: 1,
  phase: "implement",
  role: DEVELOPER,
  reworkOf: null,
  outcome: "ready",
  asked: 0,
  tree: treeId("t1"),
  summary: "",
  failed: "",
};
/** Gates run, and have counted one of everything before. */
const judging = (more: Partial<StoryState> = {}, review: Partial<GateState> = {}): StoryState =>
  asking(null, null, {
    running: RUNNING,
    failing: null,
    wait: { type: "time", until: 9, why: "" },
    counters: { ...COUNTERS, approvedRetry: true },
    gates: { review: usedGate("review", { last: null, fresh: false, ...review }) },
    attempts: [ATTEMPT],
    ...more,
  });
const IDLE = {
  running: null,
  wait: null,
  counters: { ...COUNTERS, approvedRetry: false, stepFailures: 0 },
} as const;
const said = (result: Result, parts: JudgementParts = {}, gate: GateName = "review"): Judgement =>
  judgement(gate, "t1", result, parts);
const after = (state: StoryState, verdict: Judgement): Partial<StoryState> =>
  changes(state, gateJudged(state, verdict, "b1", 1000));
/** What is different about the gate itself. */
const gateAfter = (state: StoryState, verdict: Judgement): Partial<GateState> =>
  changes(state.gates[verdict.gate] ?? usedGate(verdict.gate), after(state, verdict).gates![verdict.gate]!);

describe("a pass", () => {
  test("holds for this tree and base, and resets counts in a row", () => {
    const state = judging();
    const pass = said("pass");
    expect(after(state, pass)).toEqual({
      ...IDLE,
      seenTree: "t1",
      gates: {
        review: {
          ...state.gates.review,
          last: pass,
          fresh: true,
          flaky: [],
          base: "b1",
          errors: 0,
          inconclusives: 0,
          ciRetries: 0,
          lastPass: "t1",
        },
      },
    });
    expect(gateAfter(judging({}, { trouble: "it broke" }), pass).trouble).toBeNull();
  });

  test("counts for locations under rework", () => {
    const record = { attempts: 1, lastAttemptAt: 1, outcomes: [], totalCostUsd: 1, sincePass: 2 };
    const state = judging({ watched: { gate: "review", places: ["src/a.ts"] } });
    expect(after(state, said("pass"))).toMatchObject({
      watched: null,
      locations: { "src/a.ts": { ...record, outcomes: ["pass"], sincePass: 0 } },
    });
    expect(after(state, said("fail"))).toMatchObject({
      locations: { "src/a.ts": { ...record, outcomes: ["fail"], sincePass: 2 } },
    });
  });

  test("of another tree than the current one proves nothing", () => {
    const state = judging({}, { inconclusives: 1 });
    const other = { ...said("pass"), tree: treeId("t0") };
    expect(gateAfter(state, other)).toEqual({ trouble: "review says pass", inconclusives: 2, base: "b1" });
  });
});

describe("a failure", () => {
  test("is a round, is charged to its gate, and the story fails there", () => {
    const state = judging();
    const fail = said("fail", { blocking: 2, failure: "f2" });
    const { gates, attempts, ...rest } = after(state, fail);
    expect(rest).toEqual({ ...IDLE, failing: { gate: "review", blame: null, approved: false, restored: false } });
    expect(attempts?.[0]).toMatchObject({ failed: "review says fail" });
    expect(changes(state.gates.review!, gates!.review!)).toEqual({
      last: fail,
      fresh: true,
      flaky: [],
      base: "b1",
      seen: fail.findings.map(({ id }) => id),
      errors: 0,
      inconclusives: 0,
      failures: 3,
      failuresEver: 3,
      rounds: [ROUND, { attempt: 1, tree: "t1", commit: "c1", failure: "f2", blocking: 2, findings: fail.blocking }],
    });
  });

  test("remembers every finding once", () => {
    const fail = said("fail", { blocking: 2 });
    const ids = fail.findings.map(({ id }) => id);
    expect(gateAfter(judging({}, { seen: [ids[1]!] }), fail).seen).toEqual([ids[1], ids[0]]);
  });

  test("records the failed tests, and that the gate had passed since the previous round", () => {
    const named = said("fail", { failing: ["new 1"] }, "checks");
    const ran = { ...ROUND, identities: identities(["new 0"]) };
    const roundAfter = (more: Partial<GateState>, verdict: Judgement) =>
      gateAfter(judging({ gates: { checks: usedGate("checks", more) } }), verdict).rounds!.at(-1)!;
    const pass = judgement("checks", "t1", "pass");
    expect(roundAfter({ last: pass, rounds: [ran] }, named)).toMatchObject({
      identities: identities(["new 1"]),
      afterPass: true,
    });
    expect(roundAfter({ last: pass, rounds: [ROUND] }, named)).not.toHaveProperty("afterPass");
    expect(roundAfter({ last: null, rounds: [ran] }, named)).not.toHaveProperty("afterPass");
    expect(roundAfter({ last: judgement("checks", "t1", "fail"), rounds: [ran] }, named)).not.toHaveProperty(
      "afterPass",
    );
    expect(roundAfter({ last: pass, rounds: [ROUND, ran] }, named)).toMatchObject({ afterPass: true });
    expect(roundAfter({}, said("fail", {}, "checks"))).not.toHaveProperty("identities");
    const { failure: _none, ...unknown } = named;
    expect(roundAfter({}, unknown).failure).toBeNull();
  });

  test("of waived findings is none, but a merge conflict is one nevertheless", () => {
    const fail = said("fail", { blocking: 2 });
    const waiver = { gate: "review", findings: fail.blocking, tree: null, by: "Ada", reason: "", at: 0 } as const;
    const state = judging({ waivers: [waiver] });
    const { failing, attempts } = after(state, fail);
    expect([failing, attempts]).toEqual([undefined, undefined]);
    expect(gateAfter(state, fail)).toMatchObject({
      errors: 0,
      inconclusives: 0,
      ciRetries: 0,
      last: fail,
      fresh: true,
    });
    expect(gateAfter(state, fail)).not.toHaveProperty("failures");
    const watched = { ...state, watched: { gate: "review", places: ["src/a.ts"] } } as const;
    expect(after(watched, fail).locations?.["src/a.ts"]).toMatchObject({ outcomes: ["pass"], sincePass: 0 });
    const conflict = judgement("merge", "t1", "fail");
    const merging = judging({ waivers: [{ ...waiver, gate: "merge", findings: conflict.blocking }] });
    expect(after(merging, conflict).failing).toMatchObject({ gate: "merge" });
  });

  test("with one of two findings waived blocks by the other one", () => {
    const fail = said("fail", { blocking: 2 });
    const [one, other] = fail.blocking;
    const waiver = { gate: "review", findings: [one!], tree: null, by: "Ada", reason: "", at: 0 } as const;
    expect(gateAfter(judging({ waivers: [waiver] }), fail)).toMatchObject({ last: { blocking: [other] } });
  });
});

describe("a gate without a verdict", () => {
  test("because it broke waits, longer each time, and keeps its last result", () => {
    const last = said("fail");
    const state = judging({}, { errors: 0, last, fresh: true });
    const wait = (until: number) => ({ type: "time", until, why: "the review gate broke" });
    const { backoffMs } = POLICY.limits;
    expect(after(state, said("error"))).toEqual({
      ...IDLE,
      wait: wait(1000 + backoffMs),
      gates: { review: { ...state.gates.review, fresh: false, trouble: "review says error", errors: 1, base: "b1" } },
    });
    expect(after(judging({}, { errors: 1 }), said("error")).wait).toEqual(wait(1000 + 2 * backoffMs));
    const late = { ...said("error"), retryAt: 1e9 };
    expect(after(state, late).wait).toEqual(wait(1e9));
  });

  test("for the last time does not wait: a person is asked", () => {
    const { errors } = POLICY.limits;
    const last = judging({}, { errors: errors - 1 });
    expect(after(last, said("error")).wait).toBeNull();
    expect(gateAfter(last, said("error")).errors).toBe(errors);
    expect(after(judging({ policy: null }, { errors: 99 }), said("error")).wait).not.toBeNull();
  });

  test("because of flaky tests names each once", () => {
    const flaky = (more: Partial<Judgement>, ciClass?: "flaky" | "test") =>
      gateAfter(judging({ gates: { ci: usedGate("ci", { flaky: ["a"] }) } }), {
        ...said("inconclusive", ciClass === undefined ? {} : { ciClass }, "ci"),
        ...more,
      });
    expect(flaky({ flaky: ["a", "b"] })).toMatchObject({ inconclusives: 2, flaky: ["a", "b"], fresh: false });
    expect(flaky({})).not.toHaveProperty("flaky");
    expect(flaky({}, "test")).not.toHaveProperty("flaky");
    expect(flaky({}, "flaky").flaky).toEqual(["a", "the CI run"]);
    expect(flaky({ flaky: [], runs: [] }, "flaky").flaky).toEqual(["a", "the CI run"]);
    const runs = [{ check: "unit", result: "fail" }] as unknown as NonNullable<Judgement["runs"]>;
    expect(flaky({ runs }, "flaky").flaky).toEqual(["a", "unit"]);
  });

  test.each(["pass", "fail"] as const)("is a flaky one, even if it ended as %s", (result) => {
    const state = judging({ gates: { ci: usedGate("ci") } });
    expect(gateAfter(state, said(result, { ciClass: "flaky" }, "ci"))).toMatchObject({
      inconclusives: 2,
      fresh: false,
    });
    expect(after(state, said(result, { ciClass: "flaky" }, "ci"))).not.toHaveProperty("failing");
  });

  test("because of broken infrastructure counts as blocked", () => {
    const state = judging();
    expect(after(state, said("blocked"))).toEqual({
      ...IDLE,
      counters: { ...IDLE.counters, blocked: 2 },
      gates: { review: { ...state.gates.review, trouble: "review says blocked", base: "b1" } },
    });
    expect(
      gateAfter(judging({ gates: { ci: usedGate("ci") } }), said("error", { ciClass: "flaky" }, "ci")).errors,
    ).toBe(2);
  });

  test("because the CI service failed runs again later, and is not charged", () => {
    const state = judging({ gates: { ci: usedGate("ci", { ciRetries: 1 }) } });
    const fail = said("fail", { ciClass: "infrastructure" }, "ci");
    expect(after(state, fail)).toMatchObject({
      wait: { type: "time", until: 1000 + 2 * POLICY.limits.backoffMs, why: "the CI service failed" },
    });
    expect(gateAfter(state, fail)).toMatchObject({ ciRetries: 2, fresh: false });
    expect(gateAfter(state, fail)).not.toHaveProperty("failures");
    expect(after(state, fail)).not.toHaveProperty("failing");
    const review = said("fail", { ciClass: "infrastructure" });
    expect(after(judging(), review).failing).toMatchObject({ gate: "review" });
  });
});

describe("the cost of a judgement", () => {
  test("is spent; a missing cost is unknown for a reviewer, and zero for a command", () => {
    const cost = { costUsd: 2, tokens: 5, durationMs: 7 };
    expect(after(judging(), { ...said("pass"), ...cost }).spent).toEqual({
      costUsd: 2,
      tokens: 5,
      timeMs: 7,
      costUnknown: false,
    });
    const { costUsd: _unknown, ...unknown } = said("pass");
    expect(after(judging(), unknown).spent).toMatchObject({ costUnknown: true });
    const { costUsd: _none, ...free } = said("pass", {}, "checks");
    expect(after(judging(), free)).not.toHaveProperty("spent");
  });

  test("the asked roles are counted, and their conversations are stored", () => {
    const session = (id: string) => ({ agent: "x", id });
    const state = judging({
      asked: { [DEVELOPER]: 1 },
      sessions: { [DEVELOPER]: session("1"), [CRITIC]: session("2") },
    });
    const verdict = { ...said("pass"), asked: { [DEVELOPER]: 2, [CRITIC]: 1 }, sessions: { [CRITIC]: session("3") } };
    expect(after(state, verdict)).toMatchObject({
      asked: { [DEVELOPER]: 3, [CRITIC]: 1 },
      sessions: { [DEVELOPER]: session("1"), [CRITIC]: session("3") },
    });
    expect(addCounts({ [DEVELOPER]: 1 }, {})).toEqual({ [DEVELOPER]: 1 });
  });
});

describe("blame", () => {
  const event = (verdict: Blame["verdict"]): Blame => (blameEvent("review", verdict) as { blame: Blame }).blame;
  const failing = { gate: "review", blame: null, approved: false, restored: false } as const;
  const last = said("fail");
  const COST = { costUsd: 1, durationMs: 2 };
  const SPENT = { costUsd: 1, tokens: 0, timeMs: 2, costUnknown: false };
  const found = (verdict: Blame["verdict"], state = judging({ failing }, { last, fresh: true })) =>
    changes(state, blameFound(state, "review", event(verdict), COST));

  test.each(["unmet", "too-broad", "unknown"] as const)("%s is stored with the failure", (verdict) => {
    expect(found(verdict)).toEqual({ running: null, spent: SPENT, failing: { ...failing, blame: event(verdict) } });
  });

  test.each(["culprit", "multi"] as const)("%s marks the location as suspect", (verdict) => {
    expect(found(verdict)).toMatchObject({
      failing: { blame: event(verdict) },
      locations: { "src/a.ts": { sincePass: 3 } },
    });
  });

  test.each(["flaky", "pre-existing"] as const)("%s reverses the charge, and the failure stays", (verdict) => {
    const after = found(verdict);
    expect(after.failing).toEqual({ ...failing, blame: event(verdict) });
    expect(after.gates?.review).toMatchObject({ failures: 1, failuresEver: 1, rounds: [ROUND], fresh: true });
  });

  test("environment reverses the charge and the round, and the gate runs again", () => {
    const { gates, ...rest } = found("environment");
    expect(rest).toEqual({
      running: null,
      spent: SPENT,
      failing: null,
      counters: { ...COUNTERS, approvedRetry: true, blocked: 2 },
    });
    expect(gates?.review).toMatchObject({ failures: 1, fresh: false, rounds: [] });
  });

  test("of a story that does not fail, or of a gate without a result, only adds its cost", () => {
    const paid = { running: null, spent: SPENT };
    expect(found("culprit", judging({}, { last }))).toEqual(paid);
    expect(found("culprit", judging({ failing }))).toEqual(paid);
    const { costUsd: _unknown, ...unknown } = COST;
    const state = judging();
    expect(blameFound(state, "review", event("unmet"), unknown).spent.costUnknown).toBe(false);
  });
});
