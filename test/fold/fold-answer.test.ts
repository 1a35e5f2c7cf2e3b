import { describe, expect, test } from "vitest";
import { FAILURE_CEILING } from "../../src/core/stories/budget.ts";
import type { EscalationReason } from "../../src/core/stories/escalation.ts";
import type { Answer } from "../../src/core/events/event.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import type { GateName } from "../../src/core/gates/gate.ts";
import { fingerprint, roleName } from "../../src/core/events/ids.ts";
import type { Dispute, StoryState } from "../../src/core/stories/story-state.ts";
import { applyAnswer, gateOfBudget } from "../../src/fold/fold-answer.ts";
import { judgement } from "../kit/story-world.ts";
import { ANSWERED, asking, changes, FORGIVEN, usedGate, GONE } from "../kit/story-states.ts";

/** What each answer does to a story, and that it does nothing else. */

const said = (verb: Answer["verb"], more: Partial<Answer> = {}): Answer => ({
  verb,
  by: "Ada",
  message: "because",
  escalation: null,
  ...more,
});
const after = (state: StoryState, verb: Answer["verb"], more: Partial<Answer> = {}): Partial<StoryState> =>
  changes(state, applyAnswer(state, said(verb, more), "base", 7));

const STALL: EscalationReason = { type: "stall", stall: "plateau", detail: "" };
const MERGE: EscalationReason = { type: "approval", of: "merge" };
const CLOSED = { escalation: null, escalatedAt: null, counters: ANSWERED } as const;
const { targetMoves: _moves, ...UNMOVED } = ANSWERED;
/** The counters after an answer that also clears what led to the question. */
const CLEARED = { ...ANSWERED, lastFailure: null, stepFailures: 0 };
const gates = (state: StoryState, ...reset: GateName[]): StoryState["gates"] =>
  Object.fromEntries(
    Object.entries(state.gates).map(([gate, known]) => [
      gate,
      reset.includes(gate as GateName) ? { ...known, ...FORGIVEN } : known,
    ]),
  );
const BLOCKING = judgement("review", "t1", "fail").blocking;

describe("merge and drop", () => {
  test("merge approves if that was the question, and resets the target's moves", () => {
    for (const reason of [MERGE, { type: "target-moves", times: 2, merges: true } as const]) {
      const state = asking(reason, null);
      expect(after(state, "merge")).toEqual({ ...CLOSED, counters: UNMOVED, delivery: { approvedBy: "Ada" } });
    }
  });

  test("merge does not answer another question", () => {
    expect(after(asking(STALL), "merge")).toEqual({});
    expect(after(asking(null), "merge")).toEqual({});
    expect(after(asking({ type: "target-moves", times: 2, merges: false }, "merge"), "merge")).toEqual({});
  });

  test("drop removes the commit of the question from the branch, and keeps an approval", () => {
    const reason = { type: "branch-moved", commit: "f00", detail: "" } as const;
    const refused = { why: "branch-moved", detail: "", commit: "f00" } as const;
    expect(after(asking(reason, null, { delivery: { approvedBy: "Eve", refused } }), "drop")).toEqual({
      ...CLOSED,
      delivery: { approvedBy: "Eve", drop: "f00" },
    });
    expect(after(asking(STALL), "drop")).toEqual({});
    expect(after(asking(null), "drop")).toEqual({});
  });
});

describe("resolve", () => {
  const adopted = { failing: null, adopting: "Ada", delivery: GONE };
  const closed = (state: StoryState, ...reset: GateName[]): StoryState["gates"] =>
    Object.fromEntries(Object.entries(gates(state, ...reset)).map(([name, gate]) => [name, { ...gate, fresh: false }]));

  test("adopts the person's fix, and every gate runs again", () => {
    const state = asking({ type: "gate-error", errors: 3, detail: "" }, "review", {
      productReady: false,
      requested: { phase: "plan", message: "" },
      disputes: [{ finding: BLOCKING[0]!, gate: "review", by: "dev", rationale: "", standing: "open" }],
      rework: { gate: "review", route: {}, brief: "b" } as never,
    });
    expect(after(state, "resolve")).toEqual({
      ...CLOSED,
      ...adopted,
      counters: CLEARED,
      gates: closed(state, "review"),
      productReady: true,
      requested: null,
      disputes: [],
      rework: null,
    });
  });

  test.each<EscalationReason>([
    { type: "failing-base", tests: ["x"] },
    { type: "target-not-failing", targets: ["x"] },
  ])("looks at the base again where it was about the base: $type", (reason) => {
    expect(after(asking(reason, null, { failing: null }), "resolve")).toEqual({
      ...CLOSED,
      counters: CLEARED,
      delivery: GONE,
      tree: null,
      preExisting: [],
    });
  });

  test("of a merge is a claim that git checks", () => {
    expect(after(asking(MERGE, null, { failing: null }), "resolve")).toEqual({
      ...CLOSED,
      counters: { ...UNMOVED, lastFailure: null, stepFailures: 0 },
      delivery: { claimedBy: "Ada" },
    });
  });

  test("approves the retry of the question, and no other approval does", () => {
    const retry = asking({ type: "approval", of: "retry" });
    expect(after(retry, "resolve")).toEqual({
      ...CLOSED,
      counters: { ...CLEARED, approvedRetry: true },
      delivery: GONE,
      gates: gates(retry, "review"),
    });
    expect(after(asking({ type: "approval", of: "rework" }), "resolve")).toMatchObject({ adopting: "Ada" });
  });

  test("runs a step of the engine again, and nothing else", () => {
    const died = (kind: "step" | "gate"): EscalationReason => ({ type: "engine-died", during: "", kind, times: 3 });
    expect(after(asking(died("step"), null, { failing: null }), "resolve")).toEqual({
      ...CLOSED,
      counters: CLEARED,
      delivery: GONE,
    });
    expect(after(asking(died("gate"), "review"), "resolve")).toMatchObject({ adopting: "Ada" });
  });
});

describe("what an answer resets", () => {
  const sentBack = (reason: EscalationReason, gate: GateName | null): Partial<StoryState> =>
    after(asking(reason, gate), "send-back", { phase: "plan" });
  const state = asking(null);

  test.each<[string, EscalationReason, GateName | null, Partial<StoryState>]>([
    [
      "an agent that was blocked",
      { type: "incomplete", category: "x", blocker: "", needed: "" },
      "review",
      { counters: { ...CLEARED, dependencyWaits: 0 }, wait: null },
    ],
    ...(["agent-failure", "agent-missing"] as const).map(
      (type): [string, EscalationReason, GateName | null, Partial<StoryState>] => [
        type,
        { type, role: "x", outcome: "", times: 1, detail: "" },
        "review",
        {
          counters: { ...CLEARED, agentFailures: 0, timeouts: 0, rateLimits: 0, refusals: 0, missing: [] },
          wait: null,
        },
      ],
    ),
    [
      "a target that moves",
      { type: "target-moves", times: 2, merges: false },
      "review",
      { counters: { ...UNMOVED, lastFailure: null, stepFailures: 0 }, gates: gates(state, "review") },
    ],
    [
      "a gate that is blocked",
      { type: "gate-blocked", times: 2, detail: "" },
      "review",
      { counters: { ...CLEARED, blocked: 0 }, gates: gates(state, "review") },
    ],
    [
      "a stall",
      STALL,
      "review",
      {
        counters: CLEARED,
        trees: [],
        locations: { "src/a.ts": { ...state.locations["src/a.ts"]!, sincePass: 0 } },
        gates: gates(state, "review"),
      },
    ],
    [
      "failures of a gate",
      { type: "budget", budget: "failures:checks", used: 3, limit: 3 },
      "review",
      { counters: CLEARED, gates: gates(state, "review", "checks") },
    ],
    [
      "money",
      { type: "budget", budget: "cost", used: 3, limit: 3 },
      "review",
      { counters: CLEARED, gates: gates(state, "review") },
    ],
    [
      "a gate that broke",
      { type: "gate-error", errors: 3, detail: "" },
      "checks",
      { counters: CLEARED, gates: gates(state, "checks") },
    ],
    ["a gate that has not run yet", { type: "gate-error", errors: 3, detail: "" }, "audit", { counters: CLEARED }],
  ])("%s", (_name, reason, gate, forgiven) => {
    expect(sentBack(reason, gate)).toEqual({
      ...CLOSED,
      delivery: GONE,
      guidance: ["Ada: because"],
      requested: { phase: "plan", message: "because" },
      ...forgiven,
    });
  });
});

describe("send-back", () => {
  const guided = { ...CLOSED, delivery: GONE, guidance: ["Ada: because"] };

  test("approves the failing gate's rework, and ends disputes", () => {
    const dispute: Dispute = { finding: BLOCKING[0]!, gate: "review", by: "dev", rationale: "", standing: "open" };
    const state = asking({ type: "dispute", finding: BLOCKING[0]!, detail: "" }, "review", { disputes: [dispute] });
    expect(after(state, "send-back")).toEqual({
      ...guided,
      counters: CLEARED,
      gates: gates(state, "review"),
      disputes: [],
      failing: { ...state.failing, approved: true },
    });
  });

  test("approving a rework resets no failures, and approving a retry allows only that retry", () => {
    const rework = asking({ type: "approval", of: "rework" });
    expect(after(rework, "send-back")).toEqual({ ...guided, failing: { ...rework.failing, approved: true } });
    const retry = asking({ type: "approval", of: "retry" });
    expect(after(retry, "send-back")).toEqual({ ...guided, counters: { ...ANSWERED, approvedRetry: true } });
  });

  test("requests the current phase if no gate has failed, or the named phase", () => {
    const idle = asking({ type: "gate-error", errors: 3, detail: "" }, null, { failing: null });
    expect(after(idle, "send-back").requested).toEqual({ phase: "implement", message: "because" });
    expect(after(asking(STALL), "send-back", { phase: "plan" }).requested).toEqual({
      phase: "plan",
      message: "because",
    });
    expect(after(asking(STALL), "send-back", { phase: "plan" }).failing).toBeUndefined();
  });

  test.each<EscalationReason>([
    { type: "incomplete", category: "missing_info", blocker: "", needed: "" },
    { type: "agent-failure", outcome: "crashed", times: 3, detail: "" },
    { type: "agent-missing", role: "developer" },
    { type: "engine-died", during: "attempt 1", kind: "attempt", times: 3 },
  ])("dispatches the same work once more where the agent was the question: $type", (reason) => {
    const state = asking(reason, null, { failing: null });
    expect(after(state, "send-back")).not.toHaveProperty("requested");
    expect(after(state, "send-back").guidance).toEqual(["Ada: because"]);
    expect(after(state, "send-back", { phase: "plan" }).requested).toEqual({ phase: "plan", message: "because" });
  });

  test("of a gate in which the engine died is requested", () => {
    const state = asking({ type: "engine-died", during: "", kind: "gate", times: 3 }, null, { failing: null });
    expect(after(state, "send-back").requested).toEqual({ phase: "implement", message: "because" });
  });

  test("records its comments, each once, and requests their findings", () => {
    const finding = identifyFinding({ severity: "critical", category: "x", message: "wrong", source: "pr" });
    const state = asking(STALL, "review", { heard: ["1"] });
    const back = after(state, "send-back", { comments: ["1", "2"].map((id) => ({ id, finding })), message: "" });
    expect(back.heard).toEqual(["1", "2"]);
    expect(back.requested).toEqual({ phase: "implement", message: "", findings: [finding, finding] });
    expect(back).not.toHaveProperty("guidance");
    const first = after(asking(STALL), "send-back", { comments: [{ id: "9", finding }] });
    expect(first.heard).toEqual(["9"]);
  });
});

describe("waive", () => {
  const waiver = { gate: "review", by: "Ada", reason: "because", at: 7 };

  test("without named findings waives all blocking ones, and the gate lets the work through", () => {
    const state = asking(STALL);
    expect(after(state, "waive")).toEqual({
      ...CLOSED,
      failing: null,
      waivers: [{ ...waiver, findings: BLOCKING, tree: null }],
    });
  });

  test("leaves another gate's failure alone", () => {
    const state = asking(STALL, "review", {
      failing: { gate: "checks", blame: null, approved: false, restored: false },
    });
    expect(after(state, "waive")).toEqual({ ...CLOSED, waivers: [{ ...waiver, findings: BLOCKING, tree: null }] });
  });

  test("of a gate without a result for this tree covers the tree", () => {
    for (const known of [
      usedGate("review", { fresh: false }),
      usedGate("review", { last: judgement("review", "t1", "pass") }),
    ]) {
      const state = asking(STALL, "review", { gates: { review: known } });
      expect(after(state, "waive").waivers).toEqual([{ ...waiver, findings: [], tree: "t1" }]);
    }
  });

  test("of one of two findings leaves the other blocking", () => {
    const two = judgement("review", "t1", "fail", { blocking: 2 });
    const [one, other] = two.blocking;
    const dispute = (finding: Dispute["finding"]): Dispute => ({
      finding,
      gate: "review",
      by: "d",
      rationale: "",
      standing: "open",
    });
    const state = asking(STALL, "review", {
      gates: { review: usedGate("review", { last: two }) },
      disputes: [dispute(one!), dispute(other!)],
    });
    expect(after(state, "waive", { findings: [one!] })).toEqual({
      ...CLOSED,
      waivers: [{ ...waiver, findings: [one], tree: null }],
      disputes: [dispute(other!)],
      gates: {
        review: {
          ...state.gates.review,
          last: { ...two, blocking: [other] },
          errors: 0,
          inconclusives: 0,
          ciRetries: 0,
          flaky: [],
        },
      },
    });
  });

  test("of all findings of an older tree makes the gate run again", () => {
    const known = usedGate("review", { fresh: false, errors: 0, inconclusives: 0, ciRetries: 0 });
    const state = asking(STALL, "review", { gates: { review: known } });
    expect(after(state, "waive", { findings: BLOCKING })).toEqual({
      ...CLOSED,
      failing: null,
      waivers: [{ ...waiver, findings: BLOCKING, tree: null }],
    });
    const other = asking(STALL, "review", {
      gates: { review: known },
      failing: { gate: "checks", blame: null, approved: false, restored: false },
    });
    expect(after(other, "waive", { findings: BLOCKING })).not.toHaveProperty("failing");
  });

  test("of a gate that has not run yet is stored until it does", () => {
    const state = asking(STALL, "review", { gates: {}, failing: null });
    expect(after(state, "waive")).toEqual({ ...CLOSED, waivers: [{ ...waiver, findings: [], tree: "t1" }] });
    const named = after(state, "waive", { findings: BLOCKING });
    expect(named.waivers).toEqual([{ ...waiver, findings: BLOCKING, tree: null }]);
    expect(named.gates?.review?.last).toBeNull();
    expect(named).not.toHaveProperty("failing");
    const stale = asking(STALL, "review", { gates: { review: usedGate("review", { fresh: false }) }, failing: null });
    expect(after(stale, "waive", { findings: BLOCKING })).not.toHaveProperty("failing");
  });

  test("of a merge conflict, or of no gate, only closes the question", () => {
    expect(after(asking(STALL, "merge"), "waive")).toEqual(CLOSED);
    expect(after(asking(STALL, null, { failing: null }), "waive")).toEqual(CLOSED);
    // The gate may be named, or be the one that fails.
    expect(after(asking(STALL, "merge"), "waive", { gate: "review" })).toHaveProperty("waivers");
    expect(after(asking(STALL, null), "waive")).toHaveProperty("waivers");
  });
});

describe("dispute", () => {
  const finding = fingerprint("f9");

  test("opens each finding once, and keeps all counts until it is overturned", () => {
    const state = asking(STALL);
    expect(after(state, "dispute", { findings: [finding, finding] })).toEqual({
      escalation: null,
      escalatedAt: null,
      disputes: [{ finding, gate: "review", by: "Ada", rationale: "because", standing: "open", isAnswer: true }],
    });
    const unasked = asking(null);
    expect(after(unasked, "dispute", { findings: [finding] }).disputes).toEqual([
      { finding, gate: "review", by: "Ada", rationale: "because", standing: "open" },
    ]);
  });

  test("of a disputed, upheld or overturned finding opens nothing", () => {
    const open: Dispute = { finding, gate: "review", by: "d", rationale: "", standing: "open" };
    const closed = { escalation: null, escalatedAt: null };
    expect(after(asking(STALL, "review", { disputes: [open] }), "dispute", { findings: [finding] })).toEqual(closed);
    for (const more of [{ upheld: [{ finding, says: "x" }] }, { overturned: [finding] }])
      expect(
        after(asking(STALL, "review", { gates: { review: usedGate("review", more) } }), "dispute", {
          findings: [finding],
        }),
      ).toEqual(closed);
    expect(after(asking(STALL, null, { failing: null }), "dispute", { findings: [finding] })).toEqual(closed);
  });
});

describe("budgets and endings", () => {
  test("raise-budget sets the limit, for failures at most the ceiling", () => {
    expect(after(asking(STALL), "raise-budget", { budget: "cost", limit: 500 }).raised).toEqual({ cost: 500 });
    expect(after(asking(STALL), "raise-budget", { budget: "failures:review", limit: 500 }).raised).toEqual({
      "failures:review": FAILURE_CEILING,
    });
    expect(after(asking(STALL), "raise-budget", { budget: "cost" })).toEqual(CLOSED);
    expect(after(asking(STALL), "raise-budget", { limit: 5 })).toEqual(CLOSED);
  });

  test("the gate of a budget is in its name", () => {
    expect(gateOfBudget("failures:review")).toBe("review");
    expect(gateOfBudget("failures:nothing")).toBeNull();
    expect(gateOfBudget("run-cost!review")).toBeNull();
    expect(gateOfBudget("cost")).toBeNull();
  });

  test("abandon ends the story with the person's name and message", () => {
    const running = { type: "attempt", attempt: 1, role: roleName("developer"), since: 0, seq: 1, unclear: 0 } as const;
    expect(after(asking(STALL, "review", { running }), "abandon")).toEqual({
      ...CLOSED,
      running: null,
      ending: { how: "abandoned", at: 7, reason: "Ada: because" },
    });
  });

  test("force-complete accepts with a waiver for each gate that did not pass: none is shown as a pass", () => {
    const passed = usedGate("checks", { last: judgement("checks", "t1", "pass") });
    const running = { type: "gate", gate: "review", since: 0, seq: 1 } as const;
    const state = asking(STALL, "review", {
      gates: { review: usedGate("review"), checks: passed },
      running,
      rework: { gate: "review", route: {}, brief: "b" } as never,
    });
    const forced = after(state, "force-complete");
    const waiver = (gate: GateName, findings: readonly string[]) => ({
      gate,
      findings,
      tree: "t1",
      by: "Ada",
      reason: "because",
      at: 7,
    });
    expect(forced).toEqual({
      ...CLOSED,
      running: null,
      failing: null,
      rework: null,
      waivers: [waiver("integrity", []), waiver("review", BLOCKING), waiver("audit", [])],
      ending: { how: "accepted", at: 7, forced: { by: "Ada", reason: "because" } },
    });
    expect(after(asking(STALL, "review", { policy: null }), "force-complete")).not.toHaveProperty("waivers");
  });
});

describe("failures of the base", () => {
  const asked: EscalationReason = { type: "failing-base", tests: ["x", "y"] };

  test("known: all failures of the question, or the named ones, with the reason", () => {
    const known = (test: string) => ({ test, reason: "because", by: "Ada" });
    expect(after(asking(asked, null), "known")).toEqual({ ...CLOSED, known: [known("x"), known("y")] });
    const before = asking(asked, null, { known: [known("w")] });
    expect(after(before, "known", { tests: ["y"] }).known).toEqual([known("w"), known("y")]);
    expect(after(asking(STALL), "known")).toEqual(CLOSED);
  });

  test("target: each once, in addition to earlier ones", () => {
    expect(after(asking(asked, null), "target").targets).toEqual(["x", "y"]);
    expect(after(asking(asked, null, { targets: ["y", "z"] }), "target", { tests: ["x", "y"] }).targets).toEqual([
      "y",
      "z",
      "x",
    ]);
  });
});

test.each(["retry", "declare-healthy", "halt"] as const)("%s is about the project: a story does not change", (verb) => {
  expect(after(asking(STALL), verb)).toEqual({});
});

test("an answer without a question takes effect", () => {
  expect(after(asking(null), "resolve")).toMatchObject({ adopting: "Ada", failing: null });
  const { escalation: _1, escalatedAt: _2, ...counted } = CLOSED;
  expect(after(asking(null), "known")).toEqual(counted);
  expect(after(asking(null), "send-back")).toMatchObject({ failing: { approved: true } });
});

test("an answer without a question resets unchanged reworks and the budget that ended a step", () => {
  expect(applyAnswer(asking(null), said("raise-budget"), "base", 7).counters).toEqual(ANSWERED);
});
