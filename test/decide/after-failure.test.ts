import { describe, expect, test } from "vitest";
import type { StoryAction } from "../../src/core/stories/command.ts";
import type { Blame } from "../../src/core/blame/blame.ts";
import { FAILURE_CEILING } from "../../src/core/stories/budget.ts";
import type { GateName, Judgement } from "../../src/core/gates/gate.ts";
import { evidenceId, fingerprint, treeId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { Failing, GateState, Round, StoryState } from "../../src/core/stories/story-state.ts";
import { afterFailure, giveUp } from "../../src/decide/after-failure.ts";
import { UNJUDGED } from "../../src/fold/new-state.ts";
import { blameEvent, identities, judgement, type JudgementParts } from "../kit/story-world.ts";
import { asking, POLICY as PRESET, ROUND } from "../kit/story-states.ts";

/** Every rule may ask or stop; each test turns on the one that it is about. */
const POLICY: Policy = {
  ...PRESET,
  autonomy: "standard",
  circuitBreaker: true,
  limits: { ...PRESET.limits, failures: { ...PRESET.limits.failures, review: 3, checks: 3, ci: 3 }, perLocation: 9 },
  stall: { ...PRESET.stall, grace: 1, sameFailure: 0, plateau: 0, oscillation: true, cascade: true },
  gates: {
    ...PRESET.gates,
    review: { ...PRESET.gates.review, blame: false, stages: [] },
    checks: { ...PRESET.gates.checks, blame: false },
    audit: { ...PRESET.gates.audit, blame: false },
    ci: { ...PRESET.gates.ci, blame: false },
  },
};
const review = (more: Partial<Policy["gates"]["review"]>): Policy => ({
  ...POLICY,
  gates: { ...POLICY.gates, review: { ...POLICY.gates.review, ...more } },
});

interface Case {
  readonly gate?: GateName;
  readonly policy?: Policy;
  readonly failing?: Partial<Failing>;
  readonly verdict?: Partial<Judgement>;
  readonly parts?: JudgementParts;
  readonly known?: Partial<GateState>;
  readonly state?: Partial<StoryState>;
}

function decided({
  gate = "review",
  policy = POLICY,
  failing = {},
  verdict = {},
  parts,
  known = {},
  state = {},
}: Case): StoryAction {
  const failed = { gate, blame: null, approved: false, restored: false, ...failing };
  const last = { ...judgement(gate, "t1", "fail", parts), ...verdict };
  const story = asking(null, null, {
    policy,
    failing: failed,
    gates: { [gate]: { ...UNJUDGED, last, fresh: true, failures: 1, failuresEver: 1, ...known } },
    trees: [treeId("t0"), treeId("t1")],
    ...state,
  });
  return afterFailure(story, policy, failed, last);
}
/** In short: the command, and why a person is asked. */
function short(action: StoryAction): string {
  if (action.type === "raise-escalation") return `ask: ${action.escalation.reason.type}`;
  return action.type === "fail" ? `fail: ${action.how}` : action.type;
}
const blame = (verdict: Blame["verdict"]): Blame => (blameEvent("review", verdict) as { blame: Blame }).blame;
const round = (at: number, failing: readonly string[]): Round => ({
  ...ROUND,
  attempt: at,
  tree: treeId(`t${at}`),
  failure: fingerprint(`f${at}`),
  identities: identities(failing),
});

test("failed work is sent back with its gate's count and limit", () => {
  expect(decided({})).toMatchObject({
    type: "send-back",
    gate: "review",
    variant: "review",
    failure: 1,
    failureLimit: 3,
    route: { phase: "implement" },
  });
});

test("a lint failure is first repaired by a command, once", () => {
  const lint = { gate: "ci", parts: { ciClass: "lint" } } as const;
  expect(decided(lint)).toEqual({ type: "fix-lint" });
  expect(short(decided({ ...lint, known: { lintFixed: true } }))).toBe("send-back");
  expect(short(decided({ gate: "ci", parts: { ciClass: "test" } }))).toBe("send-back");
});

describe("reviewers who ask for opposite changes", () => {
  const conflict = (winner: string | null) => ({ between: ["ann", "bob"], winner, file: "src/a.ts", line: 7 }) as never;

  test("raise a question with the location", () => {
    const action = decided({ verdict: { conflicts: [conflict("ann"), conflict(null)] } });
    expect(action).toMatchObject({
      type: "raise-escalation",
      escalation: {
        gate: "review",
        reason: { type: "conflict", detail: "ann and bob ask for opposite things at src/a.ts:7" },
      },
    });
  });

  test("raise no question if one of them has priority", () => {
    expect(short(decided({ verdict: { conflicts: [conflict("ann")] } }))).toBe("send-back");
    expect(short(decided({ verdict: { conflicts: [] } }))).toBe("send-back");
  });
});

describe("failures of a gate", () => {
  const improving = [round(1, ["a", "b", "c"]), round(2, ["a", "b"])];

  test("end the loop at the limit and not earlier", () => {
    expect(short(decided({ known: { failures: 2 } }))).toBe("send-back");
    expect(decided({ known: { failures: 3 } })).toMatchObject({
      escalation: { gate: "review", reason: { type: "budget", budget: "failures:review", used: 3, limit: 3 } },
    });
  });

  test("get one more round if every round fixed something", () => {
    const last = { gate: "checks", known: { failures: 3, rounds: improving } } as const;
    expect(decided(last)).toEqual({ type: "grant-grace", gate: "checks", failures: 3 });
    // The one that was granted is used up.
    expect(short(decided({ ...last, known: { ...last.known, failures: 4 }, state: { grace: { checks: 1 } } }))).toBe(
      "ask: budget",
    );
    expect(short(decided({ ...last, policy: { ...POLICY, stall: { ...POLICY.stall, grace: 0 } } }))).toBe(
      "ask: budget",
    );
    const flat = { ...last.known, rounds: [round(1, ["a"]), round(2, ["a"])] };
    expect(short(decided({ ...last, known: flat }))).toBe("ask: budget");
  });

  test("get no round above the ceiling, even with grace", () => {
    const limits = { ...POLICY.limits, failures: { ...POLICY.limits.failures, checks: FAILURE_CEILING } };
    const known = { failures: FAILURE_CEILING, rounds: improving };
    expect(short(decided({ gate: "checks", policy: { ...POLICY, limits }, known }))).toBe("ask: budget");
  });

  test("do not end the loop without a limit, or if the work is not at fault", () => {
    const limits = { ...POLICY.limits, failures: { ...POLICY.limits.failures, review: null } };
    expect(short(decided({ policy: { ...POLICY, limits }, known: { failures: 99 } }))).toBe("send-back");
    expect(short(decided({ gate: "ci", parts: { ciClass: "flaky" }, known: { failures: 99 } }))).toBe("send-back");
  });

  test("of a test in CI count for the gate that runs tests", () => {
    const action = decided({ gate: "ci", parts: { ciClass: "test" }, known: { failures: 9 }, state: {} });
    expect(action).toMatchObject({ type: "send-back", gate: "ci", variant: "ci", failure: 0, failureLimit: 3 });
  });
});

describe("a stall that shows at once", () => {
  const cascade = { gate: "checks", known: { rounds: [round(0, ["a"]), round(1, ["old 1"])] } } as const;

  test("because of broken tests restores the best tree once", () => {
    expect(decided(cascade)).toEqual({ type: "restore-tree", tree: "t0" });
    expect(decided({ ...cascade, failing: { restored: true } })).toMatchObject({
      escalation: { gate: "checks", reason: { type: "stall", stall: "regression-cascade" } },
    });
    expect(short(decided({ ...cascade, state: { tree: treeId("t0") } }))).toBe("ask: stall");
  });

  test("because of an earlier tree raises a question", () => {
    const trees = ["one", "two", "one"].map(treeId);
    expect(decided({ state: { trees } })).toMatchObject({
      escalation: { reason: { type: "stall", stall: "oscillation" } },
    });
  });

  test("because of an earlier tree restores nothing, even if another tree was better", () => {
    const trees = ["one", "two", "one"].map(treeId);
    const known = { rounds: [round(0, ["a"]), round(1, ["a", "b"])] };
    expect(short(decided({ gate: "checks", state: { trees }, known }))).toBe("ask: stall");
  });

  test("does not stop the loop if the breaker is off", () => {
    const policy = { ...POLICY, circuitBreaker: false };
    expect(short(decided({ ...cascade, policy }))).toBe("send-back");
    expect(short(decided({ policy, state: { trees: ["one", "two", "one"].map(treeId) } }))).toBe("send-back");
  });
});

describe("the search for the cause", () => {
  test("runs first if the gate's rules say so, and once", () => {
    const wants = review({ blame: true });
    expect(decided({ policy: wants })).toEqual({ type: "find-blame", gate: "review", tree: "t1" });
    expect(short(decided({ policy: wants, failing: { blame: blame("unmet") } }))).toBe("send-back");
  });

  test("does not run after the last attempt: no agent would get the result", () => {
    const policy = review({ blame: true });
    const { counters } = asking(null, null);
    const last = { counters: { ...counters, attempts: policy.limits.iterations } };
    expect(short(decided({ policy, state: last }))).toBe("send-back");
    const raised = { ...last, raised: { iterations: policy.limits.iterations + 1 } };
    expect(short(decided({ policy, state: raised }))).toBe("find-blame");
  });

  test("does not run for a failed hidden check: the brief would reveal it", () => {
    const verdict = { hidden: { failed: 1, report: evidenceId("a".repeat(64)) } };
    expect(short(decided({ policy: review({ blame: true }), verdict }))).toBe("send-back");
  });

  test.each<[Blame["verdict"], object]>([
    ["too-broad", { type: "scope-too-broad", files: ["src/a.ts", "lib/z.ts"] }],
    ["flaky", { type: "non-deterministic", detail: "it is flaky" }],
    ["pre-existing", { type: "non-deterministic", detail: "it is pre-existing" }],
  ])("%s cannot be fixed by rework: a person is asked", (verdict, reason) => {
    expect(decided({ failing: { blame: blame(verdict) } })).toMatchObject({ escalation: { gate: "review", reason } });
  });

  test("names each suspected file once", () => {
    const [suspect] = blame("culprit").suspects;
    const twice = { ...blame("too-broad"), suspects: [suspect!, suspect!] };
    expect(decided({ failing: { blame: twice } })).toMatchObject({ escalation: { reason: { files: ["src/a.ts"] } } });
  });

  test("too-broad raises no question while a target is unmet: the fix may be outside the changes", () => {
    const target = "test/a.test.ts > adds";
    const identities = { failing: [target], unlisted: 0, passing: [], passedAtBase: [], passedLast: [] };
    const verdict = { identities: { ...identities, ranTests: ["test"], notLoaded: [] } };
    const state = { story: { ...asking(null, null, {}).story, target: ["*"] }, preExisting: [target], flakyAtBase: [] };
    const failing = { blame: blame("too-broad") };
    expect(short(decided({ failing, verdict, state }))).toBe("send-back");
    expect(short(decided({ failing, verdict }))).not.toBe("send-back");
  });

  test("unknown raises a question only if the gate's rules say so", () => {
    const failing = { blame: blame("unknown") };
    expect(decided({ failing, policy: review({ onUnexplained: "escalate" }) })).toMatchObject({
      escalation: { reason: { type: "non-deterministic", detail: "it is unknown" } },
    });
    expect(short(decided({ failing, policy: review({ onUnexplained: "send-back" }) }))).toBe("send-back");
  });

  test.each(["culprit", "multi", "unmet"] as const)("%s is sent back for rework", (verdict) => {
    expect(short(decided({ failing: { blame: blame(verdict) } }))).toBe("send-back");
  });
});

test("a stall that needs the cause raises a question, unless the breaker is off", () => {
  const policy = { ...POLICY, stall: { ...POLICY.stall, sameFailure: 2 } };
  const known = { rounds: [ROUND, ROUND] };
  expect(decided({ policy, known })).toMatchObject({
    escalation: { gate: "review", reason: { type: "stall", stall: "same-failure" } },
  });
  expect(short(decided({ policy: { ...policy, circuitBreaker: false }, known }))).toBe("send-back");
});

describe("a person", () => {
  test("approves each rework of a conservative run", () => {
    expect(decided({ policy: { ...POLICY, autonomy: "conservative" } })).toMatchObject({
      escalation: { gate: "review", reason: { type: "approval", of: "rework" } },
    });
  });

  test("who approved a rework is not asked again by the rules", () => {
    const approved = {
      failing: { approved: true },
      policy: { ...review({ blame: true }), autonomy: "conservative" },
    } as const;
    expect(short(decided({ ...approved, known: { failures: 9 } }))).toBe("find-blame");
    const known = { ...approved, failing: { approved: true, blame: blame("flaky") } };
    expect(short(decided({ ...known, known: { failures: 9 } }))).toBe("send-back");
  });
});

test("the loop ends as the policy says: a question, a failure, or set aside", () => {
  const ends = (onExhausted: Policy["onExhausted"]) =>
    giveUp(asking(null), { ...POLICY, onExhausted }, { type: "stall", stall: "plateau", detail: "x" }, "review");
  const asked = ends("manual");
  expect(asked).toMatchObject({ type: "raise-escalation", escalation: { gate: "review", reason: { type: "stall" } } });
  const { title } = (asked as Extract<StoryAction, { type: "raise-escalation" }>).escalation;
  expect(title).not.toBe("");
  expect(ends("error")).toEqual({ type: "fail", how: "exhausted", reason: title });
  expect(ends("skip")).toEqual({ type: "fail", how: "set-aside", reason: title });
});

describe("the form of the brief", () => {
  const form = (of: Case): unknown => (decided(of) as Extract<StoryAction, { type: "send-back" }>).variant;
  const run = (check: string, result: string) => ({ check, result }) as never;

  test("is the gate's own", () => {
    expect(form({})).toBe("review");
    expect(form({ policy: review({ stages: ["spec"] as never }) })).toBe("staged-review");
    expect(form({ policy: { ...POLICY, preset: "story" } })).toBe("phase");
    expect(form({ gate: "audit" })).toBe("audit");
    expect(form({ gate: "checks" })).toBe("goal");
    expect(form({ gate: "ci", parts: { ciClass: "test" } })).toBe("ci");
  });

  test("is the phase's if the work goes back to a text phase", () => {
    const phases = (["plan", "implement"] as const).map((phase) => ({ phase, gates: ["review" as const] }));
    const planned = { ...POLICY, phases: phases.map((plan) => ({ ...POLICY.phases[0]!, ...plan })) };
    expect(form({ policy: planned, parts: { category: "architecture" } })).toBe("phase");
    expect(form({ policy: planned })).toBe("review");
  });

  test("is about the environment if a check passes in some and fails in others", () => {
    const both = [run("unit", "pass"), run("unit", "fail")];
    expect(form({ gate: "checks", verdict: { runs: both } })).toBe("environment");
    expect(form({ gate: "audit", verdict: { runs: both } })).toBe("environment");
    expect(form({ gate: "review", verdict: { runs: both } })).toBe("review");
    expect(form({ gate: "checks", verdict: { runs: [run("unit", "pass"), run("lint", "fail")] } })).toBe("goal");
    expect(form({ gate: "checks", verdict: { runs: [run("unit", "fail"), run("unit", "fail")] } })).toBe("goal");
    expect(form({ gate: "checks", verdict: { runs: [run("unit", "pass"), run("unit", "pass")] } })).toBe("goal");
  });
});
