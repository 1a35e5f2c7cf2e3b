import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events/event.ts";
import { roleName, treeId } from "../../src/core/events/ids.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import {
  branchChanged,
  deliveryRefused,
  targetMoved,
  withApproval,
  withTargetMove,
  workAdopted,
} from "../../src/fold/fold-delivery.ts";
import { targetMovesLimit } from "../../src/decide/next-delivery.ts";
import { asking, changes, COUNTERS, POLICY, usedGate, GONE } from "../kit/story-states.ts";

const RUNNING = { type: "step", step: "delivery", since: 0, seq: 1 } as const;
const SCOPE = { allow: ["src/a.ts"], deny: [], tests: "open", exceptions: "never", reason: "" } as const;
const delivering = (more: Partial<StoryState> = {}): StoryState =>
  asking(null, null, { running: RUNNING, startedFrom: treeId("t0"), scope: SCOPE, ...more });
const brought = (changed: readonly string[]) => ({ tree: treeId("t9"), commit: "c9", changed });

describe("files that changed without an attempt", () => {
  test("every gate that sees them runs again, and integrity checks all of the work", () => {
    const state = delivering({ exceptions: [{ path: "src/z.ts", rationale: "x" }] });
    const stale = (gate: "review" | "checks") => usedGate(gate, { fresh: false });
    expect(changes(state, branchChanged(state, brought(["src/a.ts"])))).toEqual({
      running: null,
      tree: "t9",
      commit: "c9",
      startedFrom: null,
      scope: null,
      exceptions: [],
      gates: { review: stale("review"), checks: stale("checks") },
    });
  });

  test("a rework that starts next keeps its scope, and is compared with the merged tree", () => {
    const state = delivering({ rework: { gate: "merge", route: {}, brief: "b" } as never });
    const after = changes(state, branchChanged(state, brought(["src/a.ts"])));
    expect(after).toMatchObject({ tree: "t9", startedFrom: "t9" });
    expect(after).not.toHaveProperty("scope");
    expect(after.gates?.review?.fresh).toBe(false);
  });

  test("without changed files all evidence stays", () => {
    const state = delivering();
    expect(changes(state, branchChanged(state, brought([])))).toEqual({ running: null, tree: "t9", commit: "c9" });
  });

  test("a person's fix becomes the work, and is adopted once", () => {
    const state = delivering({ adopting: "Ada" });
    const event: Event = { type: "work.adopted", by: "Ada", ...brought([]) };
    expect(changes(state, workAdopted(state, event))).toEqual({
      running: null,
      tree: "t9",
      commit: "c9",
      adopting: GONE,
      seenTree: "t9",
    });
  });

  test("work on the story's own branch has tests that no person has seen", () => {
    const state = delivering({ adoptsBranch: true });
    const event: Event = { type: "work.adopted", by: "the story's file", branch: "begun", ...brought([]) };
    expect(changes(state, workAdopted(state, event))).toEqual({
      running: null,
      tree: "t9",
      commit: "c9",
      adoptsBranch: GONE,
    });
  });
});

describe("a target that moves", () => {
  const attempt = { type: "attempt", attempt: 1, role: roleName("developer"), since: 0, seq: 1, unclear: 0 } as const;

  test("is counted, from none", () => {
    const { targetMoves: _none, ...none } = COUNTERS;
    expect(withTargetMove(delivering()).counters.targetMoves).toBe(3);
    expect(withTargetMove(delivering({ counters: none })).counters.targetMoves).toBe(1);
  });

  test("retries the step after a growing pause, until a person is asked", () => {
    const limit = targetMovesLimit(POLICY);
    const after = (moves: number): Partial<StoryState> => {
      const state = delivering({ counters: { ...COUNTERS, targetMoves: moves }, wait: null });
      return changes(state, targetMoved(state, "main moved", 1000));
    };
    expect(after(0)).toEqual({
      running: null,
      counters: { ...COUNTERS, targetMoves: 1 },
      wait: { type: "time", until: 1000 + POLICY.limits.backoffMs, why: "main moved" },
    });
    expect(after(1).wait).toMatchObject({ until: 1000 + 2 * POLICY.limits.backoffMs });
    expect(after(limit - 1)).toEqual({ running: null, counters: { ...COUNTERS, targetMoves: limit } });
  });

  test("does not wait without a policy, and does not count an attempt", () => {
    const state = delivering({ policy: null, wait: null, running: attempt });
    const after = changes(state, targetMoved(state, "main moved", 1000));
    expect(after).toEqual({ running: null, counters: { ...COUNTERS, attempts: 2, targetMoves: 3 } });
  });
});

describe("a delivery that is refused", () => {
  const refusal = (
    why: "branch-moved" | "not-merged",
    commit?: string,
  ): Extract<Event, { type: "delivery.refused" }> => ({
    type: "delivery.refused",
    why,
    detail: "no",
    ...(commit === undefined ? {} : { commit }),
  });
  const after = (state: StoryState, event: Extract<Event, { type: "delivery.refused" }>) =>
    changes(state, deliveryRefused(state, event));

  test("keeps an approval if only the branch was the reason", () => {
    expect(after(delivering(), refusal("branch-moved", "f00"))).toEqual({
      running: null,
      delivery: { approvedBy: "Eve", refused: { why: "branch-moved", detail: "no", commit: "f00" } },
    });
    expect(after(delivering({ delivery: {} }), refusal("branch-moved", "f00")).delivery).toEqual({
      refused: { why: "branch-moved", detail: "no", commit: "f00" },
    });
  });

  test("ends an approval if the work is not merged, and names no missing commit", () => {
    const { delivery } = after(delivering(), refusal("not-merged"));
    expect(delivery).toEqual({ refused: { why: "not-merged", detail: "no" } });
    expect(delivery?.refused).not.toHaveProperty("commit");
    expect(delivery).not.toHaveProperty("approvedBy");
    const { delivery: _none, ...unasked } = delivering();
    expect(deliveryRefused(unasked, refusal("not-merged")).delivery).toEqual(delivery);
  });
});

test("an approval is for the verified tree, and the target's additions do not end it", () => {
  const state = delivering();
  const moved = { ...state, tree: treeId("t9") };
  const updated: Event = { type: "branch.updated", ...brought([]), conflicts: [] };
  const fixed: Event = { type: "lint.fixed", ...brought([]) };
  expect(withApproval(state, moved, updated)).toBe(moved);
  expect(changes(moved, withApproval(state, moved, fixed))).toEqual({ delivery: GONE });
  expect(withApproval(state, state, fixed)).toBe(state);
  const { delivery: _none, ...undelivered } = moved;
  expect(withApproval(state, undelivered, fixed)).toBe(undelivered);
});
