import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { AttemptSummary } from "../../src/core/stories/attempt.ts";
import { fingerprint, roleName, treeId } from "../../src/core/events/ids.ts";
import type { Phase } from "../../src/core/stories/story.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { Round, StoryState } from "../../src/core/stories/story-state.ts";
import { roundsOf, stalledAtOnce, stalledByCause, stalledUnchanged } from "../../src/decide/converge.ts";
import { newStory, UNJUDGED } from "../../src/fold/new-state.ts";
import { blameEvent, identities, story } from "../kit/story-world.ts";

/** What a person reads where a story stops: each rule says what it saw, with its number. */

const PRESET = presetPolicy("goal");
const POLICY: Policy = {
  ...PRESET,
  limits: { ...PRESET.limits, perLocation: 3 },
  stall: { ...PRESET.stall, unchanged: 2, sameFailure: 3, plateau: 2, oscillation: true, cascade: true },
};

const round = (at: number, failing: readonly string[], failure: string | null = `f${at}`): Round => ({
  attempt: at,
  tree: treeId(`t${at}`),
  commit: `c${at}`,
  failure: failure === null ? null : fingerprint(failure),
  blocking: failing.length,
  findings: [],
  identities: identities(failing),
});

function state(rounds: readonly Round[], more: Partial<StoryState> = {}): StoryState {
  return {
    ...newStory(story("a"), 0, 0),
    policy: POLICY,
    phase: "implement",
    gates: { checks: { ...UNJUDGED, rounds } },
    ...more,
  };
}

const attempt = (number: number, phase: Phase): AttemptSummary => ({
  attempt: number,
  phase,
  role: roleName("developer"),
  reworkOf: null,
  outcome: "ready",
  asked: 0,
  tree: null,
  summary: "",
  failed: "",
});

describe("the description of a stall", () => {
  test("no change: the number of reworks in a row", () => {
    const after = (unchanged: number): StoryState => state([], { counters: { ...state([]).counters, unchanged } });
    expect(stalledUnchanged(after(1), POLICY)).toBeNull();
    expect(stalledUnchanged(after(2), POLICY)).toEqual({
      stall: "no-change",
      detail: "2 reworks in a row left the work as it was",
    });
    const once = { ...POLICY, stall: { ...POLICY.stall, unchanged: 1 } };
    expect(stalledUnchanged(after(1), once)?.detail).toBe("1 rework in a row left the work as it was");
  });

  test("oscillation: that the tree was judged before", () => {
    const trees = ["one", "two", "one"].map(treeId);
    expect(stalledAtOnce(state([], { trees }), POLICY, "checks")).toEqual({
      stall: "oscillation",
      detail: "the work is back at a tree that was judged before",
    });
  });

  test("regression: which tests the rework broke, the first three by name", () => {
    const broke = (...tests: string[]) => stalledAtOnce(state([round(1, ["a"]), round(2, tests)]), POLICY, "checks");
    const text = (what: string): unknown => ({ stall: "regression-cascade", detail: `the rework broke ${what}` });
    expect(broke("old 1")).toEqual(text("1 test that passed before: old 1"));
    expect(broke("old 1", "old 2", "old 3")).toEqual(text("3 tests that passed before: old 1, old 2, old 3"));
    expect(broke("old 1", "old 2", "old 3", "old 4", "old 5")).toEqual(
      text("5 tests that passed before: old 1, old 2, old 3 and 2 more"),
    );
  });

  test("the same failure: the number of times", () => {
    const same = [1, 2, 3].map((at) => round(at, [`a${at}`], "same"));
    expect(stalledByCause(state(same), POLICY, "checks")).toEqual({
      stall: "same-failure",
      detail: "the same failure 3 times",
    });
    expect(stalledByCause(state(same.slice(1)), POLICY, "checks")).toBeNull();
  });

  test("a plateau: the number of rounds, and of open findings", () => {
    const flat = [round(1, ["a"]), round(2, ["a", "b"]), round(3, ["a", "b", "c"])];
    expect(stalledByCause(state(flat), POLICY, "checks")).toEqual({
      stall: "plateau",
      detail: "2 rounds in a row fixed nothing, 3 still open",
    });
  });

  test("a trouble spot: the location, and the failures since a pass", () => {
    const event = blameEvent("checks", "culprit", "src/a.ts");
    const blame = event.type === "blame.found" ? event.blame : null;
    const record = { attempts: 1, lastAttemptAt: 0, outcomes: [], totalCostUsd: 0 };
    const blamed = (sincePass: number): StoryState =>
      state([round(1, ["a"])], {
        failing: { gate: "checks", blame, approved: false, restored: false },
        locations: { "src/a.ts": { ...record, sincePass } },
      });
    expect(stalledByCause(blamed(2), POLICY, "checks")).toBeNull();
    expect(stalledByCause(blamed(3), POLICY, "checks")).toEqual({
      stall: "trouble-spot",
      detail: "2 reworks without a pass at src/a.ts (3 failures)",
    });
  });
});

describe("no stall", () => {
  test("failures with unknown causes are not the same failure", () => {
    const unknown = [1, 2, 3].map((at) => round(at, [`a${at}`], null));
    expect(stalledByCause(state(unknown), POLICY, "checks")).toBeNull();
  });

  test("a gate that has not failed yet", () => {
    const eager = { ...POLICY, stall: { ...POLICY.stall, sameFailure: 1 } };
    expect(stalledByCause(state([]), eager, "checks")).toBeNull();
    expect(stalledAtOnce(state([]), eager, "checks")).toBeNull();
  });

  test("a tree that is the same as right before is no change, not oscillation", () => {
    const at = (...trees: string[]) => stalledAtOnce(state([], { trees: trees.map(treeId) }), POLICY, "checks");
    expect(at("one", "one")).toBeNull();
    expect(at("one", "two", "one", "one")).toBeNull();
    expect(at("one", "two", "one")?.stall).toBe("oscillation");
  });
});

test("only rounds of the current phase count: a review of the plan says nothing about the code", () => {
  const attempts = [attempt(1, "plan"), attempt(2, "implement"), attempt(3, "implement")];
  const rounds = [round(1, ["a"]), round(2, ["b"]), round(3, ["c"])];
  const numbers = (more: Partial<StoryState>): number[] =>
    roundsOf(state(rounds, more), "checks").map((each) => each.attempt);
  expect(numbers({ attempts })).toEqual([2, 3]);
  expect(numbers({ attempts, phase: "plan" })).toEqual([1]);
  // A round whose attempt the journal does not have is taken to be of this phase.
  expect(numbers({ attempts: attempts.slice(0, 2) })).toEqual([2, 3]);
});
