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
): ProofAnswer {
  let state = newProof(INPUT);
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

test("a changed test that fails as it was, too, is a regression, proven with the old tests", () => {
  const answer = prove((applied) => [asksForMore(applied) ? "fail-other" : applied.has(3) ? "fail-same" : "pass"]);
  expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [3] });
});

test("a cause that the old tests show is not proven beside a test that fails only as it is now", () => {
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

test("what is left without the cause is searched with the old tests as well, and proven together", () => {
  const first = prove(
    (applied) => [asksForMore(applied) ? "fail-other" : applied.has(3) ? "fail-same" : "pass"],
    (applied) => (applied.has(4) ? ["other"] : []),
  );
  expect(first).toMatchObject({ hunks: [3], proven: false, isPartial: true, cure: [3, 0, 1] });
  const second: ProofAnswer = { ...first, kind: "culprit", proven: true, hunks: [4], cure: [4] };
  expect(joinRounds(first, second)).toMatchObject({ kind: "multi", proven: true, hunks: [3, 4] });
});

test("a check that is new in a changed test: what makes it fail on the base is named, and not proven", () => {
  const answer = prove((applied) => {
    if (!applied.has(0)) return ["pass"];
    return [applied.has(5) ? "fail-same" : "fail-other"];
  });
  expect(answer).toMatchObject({ kind: "culprit", proven: false, hunks: [5] });
});
