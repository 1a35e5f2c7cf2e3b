import { presetPolicy } from "../../src/config/presets.ts";
import type { EscalationReason } from "../../src/core/stories/escalation.ts";
import type { GateName } from "../../src/core/gates/gate.ts";
import { escalationId, fingerprint, roleName, treeId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { GateState, Round, StoryState } from "../../src/core/stories/story-state.ts";
import { newStory, UNJUDGED } from "../../src/fold/new-state.ts";
import { judgement, story } from "./story-world.ts";

/** Stories in the middle of something, in which nothing is at its first value: what a rule leaves alone can be seen. */

export const POLICY: Policy = presetPolicy("critic-audit");

export const ROUND: Round = {
  attempt: 1,
  tree: treeId("t1"),
  commit: "c1",
  failure: fingerprint("f1"),
  blocking: 1,
  findings: [],
};

/** A gate that has counted one of everything. */
export const usedGate = (gate: GateName, more: Partial<GateState> = {}): GateState => ({
  ...UNJUDGED,
  last: judgement(gate, "t1", "fail"),
  fresh: true,
  failures: 2,
  failuresEver: 2,
  errors: 1,
  inconclusives: 1,
  flaky: ["a flaky test"],
  ciRetries: 1,
  lintFixed: true,
  rounds: [ROUND],
  ...more,
});

/** What is left when a person has answered about the gate. */
export const FORGIVEN = {
  failures: 0,
  errors: 0,
  inconclusives: 0,
  flaky: [],
  ciRetries: 0,
  lintFixed: false,
  rounds: [],
} as const;

export const COUNTERS: StoryState["counters"] = {
  attempts: 3,
  agentFailures: 1,
  timeouts: 1,
  rateLimits: 1,
  refusals: 1,
  dependencyWaits: 1,
  blocked: 1,
  unchanged: 1,
  stepFailures: 1,
  targetMoves: 2,
  cutShort: "cost",
  engineDeaths: { during: "attempt 1", kind: "attempt", gate: null, times: 1 },
  lastFailure: { type: "crashed", detail: "exit 1" },
  approvedRetry: false,
  missing: [roleName("developer")],
};

const { cutShort: _cutShort, engineDeaths: _deaths, ...others } = COUNTERS;
/** The counters of a story that a person has answered: what was in the way is not held against it. */
export const ANSWERED: StoryState["counters"] = { ...others, unchanged: 0 };

export function escalation(reason: EscalationReason, gate: GateName | null): StoryState["escalation"] {
  return {
    id: escalationId("a#1"),
    kind: "decision",
    reason,
    gate,
    title: "",
    assessment: "",
    recommendation: "",
    question: "",
    options: [],
    attempts: [],
    branch: "remand/a",
    commit: "c1",
  };
}

/** Implemented, rejected by the review, and a person is asked. */
export function asking(
  reason: EscalationReason | null,
  gate: GateName | null = "review",
  more: Partial<StoryState> = {},
): StoryState {
  return {
    ...newStory(story("a"), 0, 0),
    policy: POLICY,
    phase: "implement",
    tree: treeId("t1"),
    commit: "c1",
    productReady: true,
    gates: { review: usedGate("review"), checks: usedGate("checks") },
    failing: { gate: "review", blame: null, approved: false, restored: false },
    counters: COUNTERS,
    wait: { type: "time", until: 99, why: "a pause" },
    trees: [treeId("t0"), treeId("t1")],
    locations: { "src/a.ts": { attempts: 1, lastAttemptAt: 1, outcomes: [], totalCostUsd: 1, sincePass: 2 } },
    preExisting: ["old test"],
    delivery: { approvedBy: "Eve" },
    ...(reason === null ? {} : { escalation: escalation(reason, gate), escalatedAt: 5, escalations: 1 }),
    ...more,
  };
}

/** In the place of a field that a rule took away. */
export const GONE = "gone" as never;

/** What a rule changed, by the name of each field. */
export function changes<T extends object>(before: T, after: T): Partial<T> {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof T>;
  const changed = [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  return Object.fromEntries(changed.map((key) => [key, after[key] === undefined ? GONE : after[key]])) as Partial<T>;
}
