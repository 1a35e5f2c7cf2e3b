import { expect, test } from "vitest";
import type { Outcome } from "../../../src/decide/blame/experiments.ts";
import type { ProofInput } from "../../../src/decide/blame/proof-input.ts";
import { applyOutcome, newProof, nextExperiment, type ProofAnswer } from "../../../src/decide/blame/prove-blame.ts";
import { joinRounds } from "../../../src/decide/blame/rounds.ts";

type Applied = ReadonlySet<number>;

/** Eight changes; 0 is the changed test, 1 is another test of its file. */
const INPUT: ProofInput = {
  hunks: Array.from({ length: 8 }, (_, id) => ({ id, confidence: 1 / 8 })),
  companions: new Map(),
  pinned: [0],
  oldTests: [0, 1],
  isNewTest: false,
  looksEnvironmental: false,
  looksFlaky: false,
  limits: { runs: 40, timeMs: Infinity },
};

function prove(
  outcomes: (applied: Applied) => readonly Outcome[],
  failed?: (applied: Applied) => string[],
  input = INPUT,
): ProofAnswer {
  let state = newProof(input);
  for (;;) {
    const step = nextExperiment(state);
    if ("answer" in step) return step.answer;
    const applied = new Set(INPUT.hunks.map(({ id }) => id).filter((id) => !step.experiment.without.includes(id)));
    const all = outcomes(applied);
    const left = failed?.(applied) ?? [];
    const isGreen = left.length === 0 && all.every((outcome) => outcome === "pass");
    const named = failed === undefined ? {} : { failed: left };
    state = applyOutcome(state, { outcomes: all, isGreen, ...named, tookMs: 1 });
  }
}

/** The changed test asks for what the code does only with change 5. */
const asksForMore = (applied: Applied): boolean => applied.has(0) && !applied.has(5);

test("a changed test whose old version fails too is a regression, proven with the old tests", () => {
  const answer = prove((applied) => [asksForMore(applied) ? "fail-other" : applied.has(3) ? "fail-same" : "pass"]);
  expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [3] });
});

test("a cause shown by old tests is not proven if another test fails only in its new version", () => {
  // The second failure comes with change 4, and only the changed test sees it.
  const answer = prove((applied) => [
    asksForMore(applied) ? "fail-other" : applied.has(3) ? "fail-same" : "pass",
    asksForMore(applied) ? "fail-other" : applied.has(0) && applied.has(4) ? "fail-same" : "pass",
  ]);
  expect(answer).toMatchObject({ hunks: [3], proven: false });
  // Where nothing but the cause is left, the changed test passes without it.
  const one = prove((applied) => [
    asksForMore(applied) ? "fail-other" : applied.has(3) ? "fail-same" : "pass",
    asksForMore(applied) ? "fail-other" : applied.has(0) && applied.has(3) ? "fail-same" : "pass",
  ]);
  expect(one).toMatchObject({ hunks: [3], proven: true });
});

test("one change that breaks what passed before, and without which the whole check passes, is proven for changed tests too", () => {
  // The changed tests fail on the base in another way; as they were, no test of theirs can run on the new code.
  const hunks = INPUT.hunks.map(({ id }) => ({ id, confidence: id === 2 || id === 3 ? 0.3 : 0.4 / 6 }));
  const likely = { ...INPUT, hunks: hunks.sort((a, b) => b.confidence - a.confidence) };
  const isOldTest = (applied: Applied): boolean => !applied.has(0) && applied.has(5);
  const changed = (applied: Applied): Outcome =>
    isOldTest(applied) || asksForMore(applied) ? "fail-other" : applied.has(3) ? "fail-same" : "pass";
  const kept = (applied: Applied): Outcome =>
    isOldTest(applied) ? "cannot-apply" : applied.has(3) ? "fail-same" : "pass";
  const answer = prove((applied) => [changed(applied), kept(applied)], undefined, likely);
  expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [3] });
  // Another change that breaks the changed tests by itself is still to be found.
  const two = prove(
    (applied) => [changed(applied) === "pass" && applied.has(2) ? "fail-same" : changed(applied), kept(applied)],
    undefined,
    likely,
  );
  expect(two.proven).toBe(false);
  // And so is one that breaks a test of which nothing was recorded.
  const beside = prove(
    (applied) => [changed(applied), kept(applied)],
    (applied) => (applied.has(2) ? ["other"] : []),
    likely,
  );
  expect(beside.proven).toBe(false);
});

test("failures that remain without the cause are searched with the old tests too, and proven together", () => {
  const first = prove(
    (applied) => [asksForMore(applied) ? "fail-other" : applied.has(3) ? "fail-same" : "pass"],
    (applied) => (applied.has(4) ? ["other"] : []),
  );
  expect(first).toMatchObject({ hunks: [3], proven: false, isPartial: true, cure: [3, 0, 1] });
  const second: ProofAnswer = { ...first, kind: "culprit", proven: true, hunks: [4], cure: [4] };
  expect(joinRounds(first, second)).toMatchObject({ kind: "multi", proven: true, hunks: [3, 4] });
});

test("a new check in a changed test: the change that makes it fail on the base is named, not proven", () => {
  const answer = prove((applied) => {
    if (!applied.has(0)) return ["pass"];
    return [applied.has(5) ? "fail-same" : "fail-other"];
  });
  expect(answer).toMatchObject({ kind: "culprit", proven: false, hunks: [5] });
});

/** The old test asks for what change 5 changed on purpose; change 3 breaks it before it comes to that, old or new. */
const wasAskedBefore = (applied: Applied): Outcome =>
  applied.has(3) ? "fail-same" : asksForMore(applied) || (!applied.has(0) && applied.has(5)) ? "fail-other" : "pass";
const byShare = (...likely: readonly number[]): ProofInput => ({
  ...INPUT,
  hunks: [...likely, ...[0, 1, 2, 3, 4, 5, 6, 7].filter((id) => !likely.includes(id))].map((id) => ({
    id,
    confidence: likely.includes(id) ? 0.4 : 0.02,
  })),
});

test("what is changed on purpose and only the old tests ask for is no second cause", () => {
  const oneTest = (applied: Applied): readonly Outcome[] => [
    applied.has(3) && asksForMore(applied) ? "fail-other" : wasAskedBefore(applied),
  ];
  const early = prove(oneTest, undefined, byShare(3));
  expect(early).toMatchObject({ kind: "culprit", proven: true, hunks: [3] });
  expect(early.runs).toBeLessThanOrEqual(7);
  // Not the likeliest: the old tests find both, the new ones tell them apart.
  expect(prove(oneTest, undefined, byShare(6))).toMatchObject({ kind: "culprit", proven: true, hunks: [3] });
});

test("several mistakes are told from what the new tests ask for", () => {
  // Changes 3 and 6 break tests of their own; the changed test needs change 5, which the old one contradicts.
  const answer = prove(
    (applied) => [wasAskedBefore(applied), applied.has(6) ? "fail-same" : "pass"],
    undefined,
    byShare(7),
  );
  expect(answer).toMatchObject({ kind: "multi", proven: true });
  expect(new Set(answer.hunks)).toEqual(new Set([3, 6]));
});

test("a change without which the new tests pass is no proof where it alone does not break the old ones", () => {
  // Change 3 does it only with change 5, which the new test asks for.
  const answer = prove(
    (applied) => [
      !applied.has(0) ? "pass" : asksForMore(applied) ? "fail-other" : applied.has(3) ? "fail-same" : "pass",
    ],
    undefined,
    byShare(3),
  );
  expect(answer.proven).toBe(false);
});
