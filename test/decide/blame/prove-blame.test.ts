import { describe, expect, test } from "vitest";
import { ddmin } from "../../../bench/blame/ddmin.ts";
import { chanceOf, type Chance } from "../../../bench/blame/random.ts";
import type { Failure } from "../../../src/core/blame/failure.ts";
import { groupsOf } from "../../../src/decide/blame/failure-groups.ts";
import { outcomeOf } from "../../../src/decide/blame/outcome.ts";
import type { BoundChanges, Experiment, Outcome } from "../../../src/decide/blame/experiments.ts";
import { newProof, nextExperiment, applyOutcome, type ProofAnswer } from "../../../src/decide/blame/prove-blame.ts";
import type { ProofInput } from "../../../src/decide/blame/proof-input.ts";
import { joinRounds } from "../../../src/decide/blame/rounds.ts";

/** Says how a tree ends on which just these hunks are applied. */
type Oracle = (applied: ReadonlySet<number>) => Outcome | readonly Outcome[];
/** By what a failure is told from others. */
type Signature = (applied: ReadonlySet<number>) => string;

function inputOf(count: number, changes: Partial<ProofInput> = {}): ProofInput {
  const hunks = Array.from({ length: count }, (_, id) => ({ id, confidence: 1 / count }));
  const rest = { companions: new Map(), pinned: [], isNewTest: false, looksEnvironmental: false, looksFlaky: false };
  return { hunks, ...rest, limits: { runs: 60, timeMs: Infinity }, ...changes };
}

function prove(
  input: ProofInput,
  oracle: Oracle,
  signature?: Signature,
  green?: (applied: ReadonlySet<number>) => boolean,
  failed?: (applied: ReadonlySet<number>) => readonly string[],
  bound?: (applied: ReadonlySet<number>) => BoundChanges,
): { answer: ProofAnswer; asked: Experiment[] } {
  let state = newProof(input);
  const asked: Experiment[] = [];
  for (;;) {
    const step = nextExperiment(state);
    if ("answer" in step) return { answer: step.answer, asked };
    asked.push(step.experiment);
    expect(asked.length).toBeLessThanOrEqual(input.limits.runs);
    const out = new Set(step.experiment.without);
    const applied = new Set(input.hunks.map(({ id }) => id).filter((id) => !out.has(id)));
    const outcome = oracle(applied);
    const signatures = signature === undefined ? {} : { signatures: [signature(applied)] };
    const whole = green === undefined ? {} : { isGreen: green(applied) };
    const outcomes = typeof outcome === "string" ? [outcome] : outcome;
    const named = failed === undefined ? {} : { failed: failed(applied) };
    const said = bound === undefined || outcome !== "cannot-apply" ? {} : { bound: bound(applied) };
    state = applyOutcome(state, { outcomes, ...signatures, ...whole, ...named, ...said, tookMs: 100 });
  }
}

/** A ranking in which the truth stands where a good ranking puts it. */
function rankedFor(count: number, truth: readonly number[], chance: Chance): ProofInput["hunks"] {
  const scored = Array.from({ length: count }, (_, id) => ({
    id,
    score: Math.exp((truth.includes(id) ? 2.5 : 0) + 3 * chance.share()),
  }));
  const sum = scored.reduce((total, { score }) => total + score, 0);
  return scored.sort((a, b) => b.score - a.score).map(({ id, score }) => ({ id, confidence: score / sum }));
}

const SEEDS = 250;

const failsIf = (fact: boolean): Outcome => (fact ? "fail-same" : "pass");
const sorted = (ids: readonly number[]): number[] => [...ids].sort((a, b) => a - b);

describe("one culprit", () => {
  test("is found and proven in both directions; after a right first guess, the base counts as a run without it", () => {
    const input = inputOf(20, {
      hunks: [7, ...Array.from({ length: 20 }, (_, id) => id).filter((id) => id !== 7)].map((id, at) => ({
        id,
        confidence: at === 0 ? 0.6 : 0.02,
      })),
    });
    const { answer, asked } = prove(input, (applied) => failsIf(applied.has(7)));
    expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [7], searchRuns: 2 });
    const all = input.hunks.map(({ id }) => id);
    const trees = asked.map(({ without }) => without.join(","));
    const alone = sorted(all.filter((id) => id !== 7)).join(",");
    expect(trees).toEqual(["", sorted(all).join(","), "7", alone, alone]);
    expect(asked.map(({ purpose }) => purpose).slice(0, 2)).toEqual(["untouched", "base"]);
  });

  test("that runs had to choose is confirmed twice in both directions", () => {
    const { answer, asked } = prove(inputOf(20), (applied) => failsIf(applied.has(7)));
    expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [7] });
    expect(asked.filter(({ without }) => without.join() === "7")).toHaveLength(2);
  });

  test("is found at any rank", () => {
    for (let truth = 0; truth < 33; truth++) {
      const { answer } = prove(inputOf(33), (applied) => failsIf(applied.has(truth)));
      expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [truth] });
    }
  });

  test("is found in fewer runs than by plain delta debugging", () => {
    const totals = { search: 0, runs: 0, plain: 0 };
    for (let seed = 0; seed < SEEDS; seed++) {
      const chance = chanceOf(seed);
      const count = 10 + chance.below(50);
      const truth = chance.below(count);
      const { answer } = prove(inputOf(count, { hunks: rankedFor(count, [truth], chance) }), (applied) =>
        failsIf(applied.has(truth)),
      );
      expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [truth] });
      totals.search += answer.searchRuns;
      totals.runs += answer.runs;
      totals.plain += ddmin(
        Array.from({ length: count }, (_, id) => id),
        (applied) => applied.includes(truth),
      ).runs;
    }
    expect(totals.search).toBeLessThan(totals.plain / 2);
    expect(totals.runs / SEEDS).toBeLessThan(10);
  });
});

describe("the likeliest hunks", () => {
  const ranked = (shares: readonly number[]): ProofInput["hunks"] => {
    const rest = (1 - shares.reduce((sum, share) => sum + share, 0)) / (30 - shares.length);
    return Array.from({ length: 30 }, (_, id) => ({ id, confidence: shares[id] ?? rest }));
  };

  test("are tried alone, and a hunk without which the tests fail differently hides no other", () => {
    const hunks = ranked([0.3, 0.2, 0.15]);
    const oracle: Oracle = (left) => (!left.has(0) && left.size > 1 ? "fail-other" : failsIf(left.has(2)));
    const { answer, asked } = prove(inputOf(30, { hunks }), oracle);
    expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [2] });
    expect(asked.slice(2, 5).map(({ without }) => without)).toEqual([[0], [1], [2]]);
  });

  test("that disturb the others stay until those are told apart", () => {
    const hunks = ranked([0.3, 0.2]);
    const oracle: Oracle = (left) => (!left.has(0) && left.size > 1 ? "fail-other" : failsIf(left.has(20)));
    const { answer, asked } = prove(inputOf(30, { hunks }), oracle);
    expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [20] });
    expect(asked.filter(({ purpose, without }) => purpose === "search" && without.includes(0)).length).toBeLessThan(4);
  });

  test("that cannot be reverted, for an unknown reason, do not hide others", () => {
    const hunks = ranked([0.5, 0.2]);
    const oracle: Oracle = (left) => (!left.has(0) && left.size > 1 ? "cannot-apply" : failsIf(left.has(20)));
    const { answer, asked } = prove(inputOf(30, { hunks }), oracle);
    expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [20] });
    expect(asked.filter(({ purpose, without }) => purpose === "search" && without.includes(0)).length).toBeLessThan(4);
  });

  test("hunks that the build binds to an unrevertable one are not tried alone", () => {
    const hunks = ranked([0.3, 0.2, 0.15]);
    const oracle: Oracle = (left) => (left.has(0) !== left.has(1) ? "cannot-apply" : failsIf(left.has(2)));
    const { answer, asked } = prove(inputOf(30, { hunks }), oracle, undefined, undefined, undefined, () => ({
      kept: [1],
      taken: [0],
    }));
    expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [2] });
    expect(asked.slice(2, 4).map(({ without }) => without)).toEqual([[0], [2]]);
  });
});

describe("several culprits", () => {
  test("that each cause the failure alone are all named, as several", () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const chance = chanceOf(seed);
      const count = 10 + chance.below(30);
      const truth = sorted(chance.shuffled(Array.from({ length: count }, (_, id) => id)).slice(0, 2 + chance.below(2)));
      const { answer } = prove(inputOf(count, { hunks: rankedFor(count, truth, chance) }), (applied) =>
        failsIf(truth.some((id) => applied.has(id))),
      );
      expect({ seed, ...answer, hunks: sorted(answer.hunks) }).toMatchObject({
        seed,
        kind: "multi",
        proven: true,
        hunks: truth,
      });
    }
  });

  test("of which one hides the other's failure: the second is searched with the first reverted", () => {
    const hunks = Array.from({ length: 20 }, (_, id) => ({ id, confidence: id < 4 ? 0.15 : 0.025 }));
    // Without hunk 12 alone the run ends at what hunk 1 does, before the second test.
    const oracle: Oracle = (left) => [
      failsIf(left.has(1)),
      left.has(12) ? "fail-same" : left.has(1) ? "cannot-apply" : "pass",
    ];
    const { answer } = prove(inputOf(20, { hunks }), oracle);
    expect(answer).toMatchObject({ kind: "multi", proven: true, hunks: [1, 12] });
  });

  test("of two failures that change each other's message", () => {
    const hunks = Array.from({ length: 20 }, (_, id) => ({ id, confidence: id < 3 ? 0.2 : 0.02 }));
    const oracle: Oracle = (left) => {
      const both = left.has(1) && left.has(2);
      const of = (id: number): Outcome => (left.has(id) ? (both ? "fail-same" : "fail-other") : "pass");
      return [of(1), of(2)];
    };
    const { answer } = prove(inputOf(20, { hunks }), oracle);
    expect(answer).toMatchObject({ kind: "multi", proven: true });
    expect(sorted(answer.hunks)).toEqual([1, 2]);
    expect(answer.runs).toBeLessThan(12);
  });

  test("each of which changes what the other's failure says", () => {
    const oracle: Oracle = (applied) =>
      applied.has(2) && applied.has(5) ? "fail-same" : applied.has(2) || applied.has(5) ? "fail-other" : "pass";
    const signature: Signature = (applied) => [2, 5].filter((id) => applied.has(id)).join();
    expect(prove(inputOf(12), oracle, signature).answer).toMatchObject({
      kind: "multi",
      proven: true,
      hunks: expect.arrayContaining([2, 5]),
    });
  });

  test("that cause the failure only together are all named, as joint", () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const chance = chanceOf(seed);
      const count = 10 + chance.below(30);
      const truth = sorted(chance.shuffled(Array.from({ length: count }, (_, id) => id)).slice(0, 2 + chance.below(2)));
      const { answer } = prove(inputOf(count, { hunks: rankedFor(count, truth, chance) }), (applied) =>
        failsIf(truth.every((id) => applied.has(id))),
      );
      expect({ seed, ...answer, hunks: sorted(answer.hunks) }).toMatchObject({
        seed,
        kind: "joint",
        proven: true,
        hunks: truth,
      });
    }
  });

  test("of different failures: each group is searched, and a cause of both costs no further runs", () => {
    const two: Oracle = (applied) => [failsIf(applied.has(3)), failsIf(applied.has(9))];
    expect(prove(inputOf(16), two).answer).toMatchObject({ kind: "multi", proven: true, hunks: [3, 9] });
    const one: Oracle = (applied) => [failsIf(applied.has(3)), failsIf(applied.has(3))];
    const single = prove(inputOf(16), (applied) => failsIf(applied.has(3))).answer;
    const { experiments: _, ...answer } = prove(inputOf(16), one).answer;
    expect(single).toMatchObject(answer);
  });
});

describe("half of a change", () => {
  test("that fails differently is not proven a cause if another hunk explains the failure alone", () => {
    const oracle: Oracle = (applied) => (applied.has(3) ? "fail-same" : applied.has(9) ? "fail-other" : "pass");
    const says: Signature = (applied) => (applied.has(3) ? "None != 3" : "another");
    const { answer } = prove(inputOf(16), oracle, says);
    expect({ ...answer, hunks: sorted(answer.hunks) }).toMatchObject({ kind: "multi", proven: false, hunks: [3, 9] });
  });

  test("that misuses a type proves nothing, unless that was the recorded failure", () => {
    const recorded = { ...failureOf("AssertionError: None != 3"), test: "t", errorType: "AssertionError" };
    const misfit = { ...recorded, message: "TypeError: 'int' object is not callable", errorType: "TypeError" };
    const read = (failure: Failure) => ({ runners: [], failures: [failure], ranTests: true, isTruncated: false });
    const outcome = (before: Failure, now: Failure) =>
      outcomeOf(groupsOf(read(before)), { passed: false, timedOut: false, reading: read(now), tookMs: 1 }).outcomes[0];
    expect(outcome(recorded, misfit)).toBe("cannot-apply");
    expect(outcome(recorded, { ...recorded, message: "AssertionError: 4 != 3" })).toBe("fail-other");
    expect(outcome({ ...misfit, message: "TypeError: 'str' object is not callable" }, misfit)).toBe("fail-other");
  });
});

describe("a file that did not load", () => {
  const file = "test/cart.test.js";
  const recorded = { ...failureOf("SyntaxError: no export named 'format'"), test: file, file };
  const read = (failure: Failure) => ({ runners: [], failures: [failure], ranTests: true, isTruncated: false });
  const after = (now: Failure) =>
    outcomeOf(groupsOf(read(recorded)), {
      passed: false,
      timedOut: false,
      reading: { ...read(now), tests: [{ identity: `${file} > adds`, file, outcome: "failed" as const }] },
      tookMs: 1,
    }).outcomes[0];

  test("is cured when its tests run, even if one fails: that one has another cause", () => {
    expect(after({ ...failureOf("3 != 4"), test: "adds", file })).toBe("pass");
  });

  test("a failed build is cured when tests run, and not while it fails differently", () => {
    const build = (message: string): Failure => ({
      ...failureOf(message),
      test: null,
      category: "build",
      file: "a.go",
    });
    const ended = (now: Failure) =>
      outcomeOf(groupsOf(read(build("undefined: foo"))), {
        passed: false,
        timedOut: false,
        reading: read(now),
        tookMs: 1,
      }).outcomes[0];
    expect(ended({ ...failureOf("3 != 4"), test: "TestCart", file: "a_test.go" })).toBe("pass");
    expect(ended(build("undefined: bar"))).toBe("cannot-apply");
  });

  test("is not cured while the file itself fails differently", () => {
    expect(after({ ...recorded, message: "Error: out of paper", errorType: "Error" })).not.toBe("pass");
  });

  test("hides whether another change is innocent, so the cause is not proven", () => {
    const oracle: Oracle = (left) => (left.has(3) ? "fail-same" : left.has(9) ? "cannot-apply" : "pass");
    expect(prove(inputOf(12), oracle).answer).toMatchObject({ proven: false });
  });
});

describe("an incomplete list of failures", () => {
  test("a cause is not proven while another test that passes on the base still fails without it", () => {
    const oracle: Oracle = (applied) => failsIf(applied.has(3));
    const whole = prove(inputOf(16), oracle, undefined, (applied) => !applied.has(3) && !applied.has(9));
    expect(whole.answer).toMatchObject({ kind: "culprit", proven: false, hunks: [3] });
    expect(whole.answer.because).toContain("others still fail");
    const alone = prove(inputOf(16), oracle, undefined, (applied) => !applied.has(3));
    expect(alone.answer).toMatchObject({ kind: "culprit", proven: true, hunks: [3] });
    expect(alone.asked).toHaveLength(prove(inputOf(16), oracle).asked.length);
  });

  test("a failure that the base has too is unowned, and does not weaken a proof", () => {
    const never = prove(
      inputOf(16),
      (applied) => failsIf(applied.has(3)),
      undefined,
      () => false,
    );
    expect(never.answer).toMatchObject({ kind: "culprit", proven: true, hunks: [3] });
  });

  test("more different failures than are searched one by one form one last group", () => {
    const failures = Array.from({ length: 9 }, (_, at) => failureOf(`says ${"abcdefghi"[at]}`));
    const groups = groupsOf({ runners: [], failures, ranTests: true, isTruncated: false });
    expect(groups.map((group) => group.failures.length)).toEqual([1, 1, 1, 1, 1, 4]);
  });

  test("without named tests, only a passing run shows that nothing fails any more", () => {
    const crash = { ...failureOf("AssertionError: one"), test: null, category: "crash" as const };
    const read = (...failures: Failure[]) => ({ runners: [], failures, ranTests: null, isTruncated: false });
    const run = (passed: boolean, ...failures: Failure[]) =>
      outcomeOf(groupsOf(read(crash)), { passed, timedOut: false, reading: read(...failures), tookMs: 1 }).outcomes;
    expect(run(false, crash)).toEqual(["fail-same"]);
    expect(run(false, { ...crash, message: "AssertionError: two" })).toEqual(["fail-other"]);
    expect(run(true)).toEqual(["pass"]);
  });
});

function failureOf(message: string): Failure {
  const nothing = { errorType: null, expected: null, actual: null, line: null, frames: [], codes: [] };
  return { ...nothing, test: message, category: "test", message, file: "t.js", identifiers: [], literals: [] };
}

describe("hunks that cannot be reverted alone", () => {
  test("a hunk that others need is reverted with them and blamed alone; their innocence is not proven", () => {
    const companions = new Map([
      [4, [5]],
      [5, [4]],
    ]);
    // 5 uses what 4 brought: without 4 it does not build.
    const oracle: Oracle = (applied) => (applied.has(5) && !applied.has(4) ? "cannot-apply" : failsIf(applied.has(4)));
    expect(prove(inputOf(14, { companions }), oracle).answer).toMatchObject({
      kind: "culprit",
      proven: false,
      isShown: true,
      hunks: [4],
    });
  });

  test("a hunk is reverted with those that do not build without it, and blamed alone", () => {
    // Hunks 10 to 14 use what hunk 3 brings, and no name says so.
    const users = [10, 11, 12, 13, 14];
    const isWhole = (left: ReadonlySet<number>): boolean => left.has(3) || users.every((id) => !left.has(id));
    const oracle: Oracle = (left) => (isWhole(left) ? failsIf(left.has(3)) : "cannot-apply");
    const bound = (left: ReadonlySet<number>): BoundChanges => ({
      kept: users.filter((id) => left.has(id)).slice(0, 3),
      taken: [3],
    });
    const hunks = [3, ...Array.from({ length: 40 }, (_, id) => id).filter((id) => id !== 3)];
    const ranked = hunks.map((id, at) => ({ id, confidence: at === 0 ? 0.6 : 0.01 }));
    const input = inputOf(40, { hunks: ranked });
    const { answer } = prove(input, oracle, undefined, undefined, undefined, bound);
    expect(answer).toMatchObject({ kind: "culprit", proven: false, isShown: true, hunks: [3] });
    expect(answer.runs).toBeLessThan(14);
    // Without the messages the same takes longer or ends with less.
    const { answer: blind } = prove(input, oracle);
    expect(blind.isShown === true && blind.runs < 14).toBe(false);
  });

  test("a hunk that needs another is shown to fail with it, and the other is not blamed if it can be cleared", () => {
    const companions = new Map([
      [4, [5]],
      [5, [4]],
    ]);
    // 4 needs 5 on the base; the iteration has 6, which will do as well.
    const oracle: Oracle = (applied) =>
      applied.has(4) && !applied.has(5) && !applied.has(6) ? "cannot-apply" : failsIf(applied.has(4));
    expect(prove(inputOf(14, { companions }), oracle).answer).toMatchObject({
      kind: "culprit",
      proven: true,
      hunks: [4],
    });
  });

  test("new code that has other users is named, and not the user without which the tests pass", () => {
    // 4 calls what 9 brings, and so does 10: 9 cannot go alone, and 4 cannot be there alone.
    const oracle: Oracle = (applied) =>
      !applied.has(9) && (applied.has(4) || applied.has(10)) ? "cannot-apply" : failsIf(applied.has(4));
    const uses = new Map([[4, [9]]]);
    const { answer } = prove(inputOf(14, { uses }), oracle);
    expect(answer).toMatchObject({ kind: "culprit", proven: false, hunks: [9] });
    expect(answer.isShown).not.toBe(true);
    expect(prove(inputOf(14), oracle).answer).toMatchObject({ proven: false, isShown: true, hunks: [4] });
  });

  test("of many that can only be reverted together, the likeliest is named soon, not proven", () => {
    const ids = [2, 3, 4, 5, 6, 7, 8, 9];
    const companions = new Map(ids.map((id) => [id, ids.filter((other) => other !== id)]));
    const oracle: Oracle = (applied) => {
      const there = ids.filter((id) => applied.has(id)).length;
      return there > 0 && there < ids.length ? "cannot-apply" : failsIf(applied.has(5));
    };
    const hunks = [5, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11].map((id) => ({ id, confidence: id === 5 ? 0.5 : 0.05 }));
    const { answer } = prove(inputOf(12, { hunks, companions }), oracle);
    expect(answer).toMatchObject({ kind: "culprit", proven: false, hunks: [5] });
    expect(answer.runs).toBeLessThan(12);
  });

  test("of two places of a rename with a mistake in one, the likelier is named, not proven", () => {
    const companions = new Map([
      [4, [5]],
      [5, [4]],
    ]);
    const hunks = inputOf(12).hunks.map(({ id }) => ({ id, confidence: id === 5 ? 0.6 : 0.03 }));
    const oracle: Oracle = (applied) =>
      applied.has(4) && applied.has(5) ? "fail-same" : applied.has(4) || applied.has(5) ? "cannot-apply" : "pass";
    const { answer } = prove(inputOf(12, { companions, hunks }), oracle);
    expect(answer).toMatchObject({ kind: "culprit", proven: false, hunks: [5] });
    expect(answer.because).toContain("1 other that shares its names");
  });

  test("if nothing can be told apart, the answer is not proven", () => {
    const oracle: Oracle = (applied) =>
      applied.size === 12 ? "fail-same" : applied.size === 0 ? "pass" : "cannot-apply";
    const { answer } = prove(inputOf(12), oracle);
    expect(answer.proven).toBe(false);
    expect(["too-broad", "multi"]).toContain(answer.kind);
    // A list of everything is no answer.
    expect(answer.hunks.length).toBeLessThanOrEqual(5);
  });

  test("random dependencies between hunks never lead to a wrong proof", () => {
    let proven = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      const chance = chanceOf(seed);
      const count = 6 + chance.below(24);
      const truth = chance.below(count);
      const needs = Array.from({ length: count }, (_, id) => (chance.share() < 0.25 ? chance.below(count) : id));
      // What is known of the dependencies is as good as chance lets it be.
      const companions = new Map<number, number[]>();
      for (const [id, other] of needs.entries())
        if (other !== id && chance.share() < 0.7) companions.set(id, [...(companions.get(id) ?? []), other]);
      const oracle: Oracle = (applied) =>
        [...applied].some((id) => !applied.has(needs[id]!))
          ? chance.share() < 0.3
            ? "fail-other"
            : "cannot-apply"
          : failsIf(applied.has(truth));
      const { answer } = prove(inputOf(count, { hunks: rankedFor(count, [truth], chance), companions }), oracle);
      if (answer.proven) {
        proven++;
        expect({ seed, hunks: answer.hunks }).toEqual({ seed, hunks: [truth] });
      }
    }
    expect(proven).toBeGreaterThan(SEEDS / 2);
  });
});

describe("unowned failures", () => {
  test.each<[string, Partial<ProofInput>, Oracle, Partial<ProofAnswer>]>([
    ["red on the base: pre-existing", {}, () => "fail-same", { kind: "pre-existing", proven: true, runs: 7 }],
    [
      "red on the base in another way",
      {},
      (applied) => (applied.size === 0 ? "fail-other" : "fail-same"),
      { kind: "pre-existing", proven: false },
    ],
    [
      "fails on the base, caused by the environment",
      { looksEnvironmental: true },
      () => "fail-same",
      { kind: "environment", proven: true },
    ],
    [
      "new tests that the base fails too: unmet",
      { isNewTest: true, pinned: [0] },
      () => "fail-same",
      { kind: "unmet", proven: false, hunks: [] },
    ],
    [
      "new tests that cannot even be run on the base: unmet",
      { isNewTest: true, pinned: [0] },
      (applied) => (applied.size === 1 ? "cannot-apply" : "fail-same"),
      { kind: "unmet", proven: false },
    ],
    [
      "a changed test that asks for what no code does: unmet, and the test is named",
      { pinned: [0] },
      (applied) => failsIf(applied.has(0)),
      { kind: "unmet", proven: false, hunks: [0] },
    ],
    [
      "a changed test of what was red before",
      { pinned: [0] },
      () => "fail-same",
      { kind: "pre-existing", proven: true },
    ],
    [
      "tests that cannot be run on the base",
      {},
      (applied) => (applied.size === 0 ? "cannot-apply" : "fail-same"),
      { kind: "unknown", proven: false },
    ],
    ["a failure that does not come again", {}, () => "pass", { kind: "flaky", proven: false, runs: 3 }],
    ["a failure that comes in another form", {}, () => "fail-other", { kind: "unknown", proven: false }],
    ["tests that cannot be run at all", {}, () => "cannot-apply", { kind: "unknown", proven: false }],
    [
      "a base that passes and fails",
      {},
      (applied) => (applied.size === 0 ? "flaky" : "fail-same"),
      { kind: "flaky", proven: true },
    ],
  ])("%s", (_name, changes, oracle, expected) => {
    expect(prove(inputOf(8, changes), oracle).answer).toMatchObject(expected);
  });

  test("red before, with a new failing test: pre-existing, and not proven for the new test", () => {
    // The last hunk is the new test: without it nothing of its group fails.
    const oracle: Oracle = (applied) => ["fail-same", applied.has(7) ? "fail-same" : "pass"];
    const { answer } = prove(inputOf(8, { pinned: [7] }), oracle);
    expect(answer).toMatchObject({ kind: "pre-existing", proven: false, hunks: [] });
    expect(answer.because).toContain("others are new");
  });

  test("a changed test that fails only with the new code is a regression", () => {
    // On the base's code the changed test does not even build, so it is taken back with everything else.
    const oracle: Oracle = (applied) => (applied.has(0) && !applied.has(1) ? "cannot-apply" : failsIf(applied.has(4)));
    const companions = new Map([
      [0, [1]],
      [1, [0]],
    ]);
    expect(prove(inputOf(8, { pinned: [0], companions }), oracle).answer).toMatchObject({
      kind: "culprit",
      hunks: [4],
      proven: true,
    });
  });
});

describe("noise", () => {
  test("a flake is hardly ever mistaken for a cause, and a suspected flake is run more often first", () => {
    const wrong = { plain: 0, suspected: 0 };
    const seeds = 3 * SEEDS;
    for (let seed = 0; seed < seeds; seed++) {
      for (const looksFlaky of [false, true]) {
        const chance = chanceOf(seed);
        const share = 0.2 + 0.6 * chance.share();
        const { answer } = prove(inputOf(10 + chance.below(30), { looksFlaky }), () => failsIf(chance.share() < share));
        if (answer.proven && answer.kind !== "flaky" && answer.kind !== "pre-existing")
          wrong[looksFlaky ? "suspected" : "plain"]++;
      }
    }
    expect(wrong.plain / seeds).toBeLessThan(0.02);
    expect(wrong.suspected / seeds).toBeLessThan(0.006);
  });

  test("a failure with a chance of one half is mostly called flaky, and not blamed on a change", () => {
    let flaky = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      const chance = chanceOf(seed);
      const { answer } = prove(inputOf(14), () => failsIf(chance.share() < 0.5));
      if (answer.kind === "flaky") flaky++;
    }
    expect(flaky / SEEDS).toBeGreaterThan(0.93);
  });

  test("a culprit with a flaky failure is never replaced by an innocent hunk", () => {
    let right = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      const chance = chanceOf(seed);
      const count = 10 + chance.below(30);
      const truth = chance.below(count);
      const { answer } = prove(inputOf(count, { hunks: rankedFor(count, [truth], chance) }), (applied) =>
        failsIf(applied.has(truth) && chance.share() < 0.9),
      );
      if (answer.proven && answer.hunks.length > 0) {
        expect({ seed, hunks: answer.hunks }).toEqual({ seed, hunks: [truth] });
        right++;
      }
    }
    expect(right).toBeGreaterThan(SEEDS / 5);
  });

  test("random outcomes never give a proof that contradicts them", () => {
    for (let seed = 0; seed < 5 * SEEDS; seed++) {
      const chance = chanceOf(seed);
      const count = 3 + chance.below(6);
      const answers = new Map<string, Outcome>();
      const oracle: Oracle = (applied) => {
        const key = sorted([...applied]).join(",");
        const known =
          answers.get(key) ??
          (applied.size === count
            ? "fail-same"
            : applied.size === 0
              ? "pass"
              : chance.pick(["pass", "fail-same", "fail-other", "cannot-apply"] as const));
        answers.set(key, known);
        return known;
      };
      const { answer } = prove(inputOf(count), oracle);
      if (!answer.proven || answer.hunks.length === 0) continue;
      const all = Array.from({ length: count }, (_, id) => id);
      const rest = all.filter((id) => !answer.hunks.includes(id));
      // Whatever else is true, without the cause there is a tree that passes, and with it one that fails as recorded.
      const seen = [...answers].map(([key, outcome]) => ({
        applied: key === "" ? [] : key.split(",").map(Number),
        outcome,
      }));
      expect(
        seen.some(
          ({ applied, outcome }) =>
            outcome === "pass" &&
            applied.every((id) => !(answer.kind === "joint" ? answer.hunks.slice(0, 1) : answer.hunks).includes(id)) &&
            applied.length >= rest.length - 4,
        ),
      ).toBe(true);
      expect(
        seen.some(
          ({ applied, outcome }) =>
            outcome === "fail-same" &&
            answer.hunks.every((id) => applied.includes(id)) &&
            applied.length <= answer.hunks.length + 4,
        ),
      ).toBe(true);
      for (const { applied, outcome } of seen)
        if (answer.kind === "culprit" && !applied.includes(answer.hunks[0]!)) expect(outcome).not.toBe("fail-same");
    }
  });
});

test("failures that cannot be distinguished are searched, and never proven", () => {
  const { answer } = prove(inputOf(20, { isVague: true }), (applied) => failsIf(applied.has(7)));
  expect(answer).toMatchObject({ kind: "culprit", proven: false, hunks: [7] });
});

describe("limits", () => {
  test("are never exceeded, and a lack of runs never proves anything", () => {
    for (let runs = 0; runs <= 12; runs++) {
      const { answer, asked } = prove(inputOf(30, { limits: { runs, timeMs: Infinity } }), (applied) =>
        failsIf(applied.has(21)),
      );
      expect(asked.length).toBeLessThanOrEqual(runs);
      expect(answer.runs).toBe(asked.length);
      if (answer.proven) expect(asked.length).toBeGreaterThan(9);
    }
  });

  test("include time", () => {
    const { asked, answer } = prove(inputOf(30, { limits: { runs: 100, timeMs: 450 } }), (applied) =>
      failsIf(applied.has(21)),
    );
    expect(asked).toHaveLength(4);
    expect(answer.proven).toBe(false);
  });

  test("the same outcomes lead to the same next experiment, also from stored data", () => {
    let state = newProof(inputOf(9));
    for (const outcome of ["fail-same", "pass", "fail-same"] as const) {
      state = applyOutcome(state, { outcomes: [outcome], tookMs: 1 });
      const kept = { input: { ...state.input }, outcomes: JSON.parse(JSON.stringify(state.outcomes)) };
      expect(nextExperiment(kept)).toEqual(nextExperiment(state));
    }
  });
});

describe("changes that belong together", () => {
  const parts = new Map([
    [3, [20, 21, 22].map((id) => ({ id, confidence: id === 21 ? 0.2 : 0.05 }))],
    [4, [30, 31].map((id) => ({ id, confidence: 0.01 }))],
  ]);
  /** What is left of the input, with hunks taken apart into their parts. */
  const applied = (out: ReadonlySet<number>, id: number): boolean => {
    const whole = [...parts].find(([, own]) => own.some((part) => part.id === id))?.[0];
    return !out.has(id) && !(whole !== undefined && out.has(whole));
  };

  /** Hunks 3 and 4 do not build without each other; the slip is a part of 3. */
  function proveParts(culprit: number): ProofAnswer {
    const input = inputOf(8, {
      parts,
      companions: new Map([
        [3, [4]],
        [4, [3]],
      ]),
    });
    let state = newProof(input);
    for (;;) {
      const step = nextExperiment(state);
      if ("answer" in step) return step.answer;
      const out = new Set(step.experiment.without);
      const isHalf = out.has(3) !== out.has(4);
      const outcome: Outcome = isHalf ? "cannot-apply" : applied(out, culprit) ? "fail-same" : "pass";
      state = applyOutcome(state, { outcomes: [outcome], isGreen: outcome === "pass", tookMs: 1 });
    }
  }

  test("a hunk that cannot be reverted alone is split, and the responsible part is proven", () => {
    expect(proveParts(21)).toMatchObject({ kind: "culprit", proven: true, hunks: [3], parts: [21] });
  });

  test("all changes of a function are reverted together", () => {
    const functions = new Map([2, 3, 4].map((id) => [id, [2, 3, 4]] as const));
    const hunks = [3, 0, 1, 2, 4, 5, 6, 7].map((id, at) => ({ id, confidence: at === 0 ? 0.6 : 0.05 }));
    const { asked } = prove(inputOf(8, { functions, hunks }), (left) => {
      const inside = [2, 3, 4].filter((id) => left.has(id)).length;
      return inside === 3 ? "fail-same" : inside === 0 ? "pass" : "cannot-apply";
    });
    expect(asked.slice(2, 4).map(({ without }) => without)).toEqual([[3], [2, 3, 4]]);
  });

  test("hunks that no failing test can reach are not part of an inseparable set", () => {
    const unreached = new Set([5, 6, 7, 8, 9]);
    const companions = new Map(
      [0, 1, 2, 3, 4, 9].map((id) => [id, [0, 1, 2, 3, 4, 9].filter((other) => other !== id)]),
    );
    const { answer, asked } = prove(inputOf(10, { unreached, companions }), (left) => {
      const inside = [0, 1, 2, 3, 4].filter((id) => left.has(id)).length;
      return inside === 5 ? "fail-same" : inside === 0 ? "pass" : "cannot-apply";
    });
    expect(answer.proven).toBe(false);
    expect(asked.some(({ without }) => without.join() === "0,1,2,3,4")).toBe(true);
    expect(answer.hunks.some((id) => unreached.has(id))).toBe(false);
  });

  test("hunks of one rename are not reported as failing one by one", () => {
    const { answer } = prove(inputOf(8, { renames: [[2, 5]] }), (left) => failsIf(left.has(2) || left.has(5)));
    expect(answer).toMatchObject({ kind: "culprit", proven: false });
  });
});

test("a cause is not proven with a changed test that fails differently on the base", () => {
  // Hunk 0 is the changed test: what it expects is wrong.
  const oracle: Oracle = (left) => [failsIf(left.has(3)), left.size <= 2 ? "fail-other" : "fail-same"];
  expect(prove(inputOf(8, { pinned: [0] }), oracle).answer).toMatchObject({ hunks: [3], proven: false });
  const known: Oracle = (left) => [failsIf(left.has(3)), "fail-same"];
  expect(prove(inputOf(8, { pinned: [0] }), known).answer).toMatchObject({ hunks: [3], proven: true });
});

test("a mistake that also breaks a changed test on the base is not in new code", () => {
  // Hunk 0 is what changed in the test, which does not build on the base's code.
  const oracle: Oracle = (left) => (left.has(0) && left.size === 1 ? "cannot-apply" : failsIf(left.has(2)));
  const newCode = { candidates: [4, 2], selfContained: new Set([2]), hasSign: true };
  const green = (left: ReadonlySet<number>): boolean => !left.has(2) && oracle(left) === "pass";
  expect(prove(inputOf(6, { pinned: [0], newCode }), oracle, undefined, green).answer).toMatchObject({
    kind: "culprit",
    proven: true,
    hunks: [2],
  });
  const onlyNew: Oracle = (left) =>
    left.has(0) && left.size === 1 ? "cannot-apply" : failsIf(left.has(2) && left.has(0));
  const { answer } = prove(
    inputOf(6, { pinned: [0], newCode }),
    onlyNew,
    undefined,
    (left) => onlyNew(left) === "pass",
  );
  expect(answer).toMatchObject({ kind: "slip", hunks: [2] });
});

describe("a mistake in new code", () => {
  const newCode = (...selfContained: number[]) => ({
    candidates: [4, 2],
    selfContained: new Set(selfContained),
    hasSign: true,
  });
  const onBase = (left: ReadonlySet<number>): boolean => left.size <= 1;

  test("is shown by the part without which the new tests pass, and proven if it uses no other new name", () => {
    const oracle: Oracle = (left) => (onBase(left) ? "fail-other" : failsIf(left.has(2)));
    const green = (left: ReadonlySet<number>): boolean => !onBase(left) && !left.has(2);
    const given = { isNewTest: true, pinned: [0] };
    expect(prove(inputOf(6, { ...given, newCode: newCode(2) }), oracle, undefined, green).answer).toMatchObject({
      kind: "slip",
      proven: true,
      hunks: [2],
    });
    expect(prove(inputOf(6, { ...given, newCode: newCode() }), oracle, undefined, green).answer).toMatchObject({
      kind: "slip",
      proven: false,
      isShown: true,
      hunks: [2],
    });
  });

  test("is only likely if several parts or none make them pass", () => {
    const given = { isNewTest: true, pinned: [0], newCode: newCode(2, 4) };
    const none: Oracle = () => "fail-same";
    expect(prove(inputOf(6, given), none).answer).toMatchObject({ kind: "slip", proven: false, hunks: [4] });
    const both: Oracle = (left) => (onBase(left) ? "fail-other" : failsIf(left.has(2) && left.has(4)));
    const { answer } = prove(inputOf(6, given), both);
    expect(answer).toMatchObject({ kind: "slip", proven: false, hunks: [4] });
    expect(answer.isShown).not.toBe(true);
  });

  test("without a sign of one, failing new tests mean unfinished work", () => {
    const given = { isNewTest: true, pinned: [0], newCode: null };
    expect(prove(inputOf(6, given), () => "fail-same").answer).toMatchObject({ kind: "unmet", proven: false });
    const quiet = { ...given, newCode: { ...newCode(), hasSign: false } };
    expect(prove(inputOf(6, quiet), () => "fail-same").answer).toMatchObject({ kind: "unmet", proven: false });
  });

  test("a new test that the output does not name means unfinished work, and no culprit", () => {
    const given = { inTestFiles: new Set([3]), addedTests: new Set([3]) };
    const { answer } = prove(inputOf(6, given), (left) => failsIf(left.has(3)));
    expect(answer).toMatchObject({ kind: "unmet", proven: false, hunks: [3] });
    expect(prove(inputOf(6, given), (left) => failsIf(left.has(2))).answer).toMatchObject({ kind: "culprit" });
  });

  test("is searched if the new tests fail differently without the new code", () => {
    const given = { isNewTest: true, pinned: [0], newCode: { ...newCode(), hasSign: false } };
    const oracle: Oracle = (left) => (onBase(left) ? "fail-other" : failsIf(left.has(2)));
    expect(prove(inputOf(6, given), oracle).answer).toMatchObject({ kind: "slip", isShown: true, hunks: [2] });
  });
});

describe("a base that is not green", () => {
  const notGreen = () => false;
  const oracle: Oracle = (left) => failsIf(left.has(2));

  test("proves nothing while a test that passes there fails without the cause", () => {
    // Hunk 4 breaks another test; a test of new code fails wherever hunk 5 is not.
    const failed = (left: ReadonlySet<number>): string[] => [
      ...(left.has(2) ? ["first"] : []),
      ...(left.has(4) ? ["second"] : []),
      ...(left.has(5) ? [] : ["new"]),
    ];
    const { answer } = prove(inputOf(8), oracle, undefined, notGreen, failed);
    expect(answer).toMatchObject({ kind: "culprit", proven: false, isPartial: true, hunks: [2] });
  });

  test("does not weaken a proof by a test that fails there too", () => {
    const failed = (left: ReadonlySet<number>): string[] => ["old", ...(left.has(2) ? ["first"] : [])];
    const { answer } = prove(inputOf(8), oracle, undefined, notGreen, failed);
    expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [2] });
  });
});

describe("a cause that hides others", () => {
  const facts = { searchRuns: 1, spentMs: 10, because: "" };
  const first = { ...facts, kind: "culprit" as const, proven: false, isPartial: true, hunks: [3], cure: [3], runs: 7 };

  test("is proven together with the causes found without it", () => {
    const second = { ...facts, kind: "culprit" as const, proven: true, hunks: [5], runs: 6 };
    expect(joinRounds(first, second)).toMatchObject({ kind: "multi", proven: true, hunks: [3, 5], runs: 13 });
    expect(joinRounds(first, { ...second, proven: false })).toMatchObject({ kind: "multi", proven: false });
    expect(joinRounds({ ...first, isPartial: false }, second)).toMatchObject({ proven: false });
  });

  test("stays unproven if nothing more is found", () => {
    const second = { ...facts, kind: "unknown" as const, proven: false, hunks: [], runs: 2 };
    expect(joinRounds(first, second)).toMatchObject({ kind: "culprit", proven: false, hunks: [3], runs: 9 });
  });
});

test("a change in the failing test's own file is never proven to be the cause", () => {
  const oracle: Oracle = (left) => failsIf(left.has(5));
  expect(prove(inputOf(12), oracle).answer).toMatchObject({ hunks: [5], proven: true });
  const inTestFiles = new Set([5]);
  expect(prove(inputOf(12, { inTestFiles }), oracle).answer).toMatchObject({ hunks: [5], proven: false });
});
