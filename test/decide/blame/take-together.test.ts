import { expect, test } from "vitest";
import type { Outcome } from "../../../src/decide/blame/experiments.ts";
import {
  applyOutcome,
  newProof,
  nextExperiment,
  type ProofAnswer,
  type ProofState,
} from "../../../src/decide/blame/prove-blame.ts";

/** A tree does not build without 2 or 3 while 30 to 39 are there: half of a large change. */
const isWhole = (out: ReadonlySet<number>): boolean =>
  [2, 3].every((id) => !out.has(id)) || Array.from({ length: 10 }, (_, at) => 30 + at).every((id) => out.has(id));

function prove(culprit: number): ProofAnswer {
  const hunks = Array.from({ length: 40 }, (_, id) => ({ id, confidence: 1 / 40 }));
  const facts = { companions: new Map(), pinned: [], isNewTest: false, looksEnvironmental: false, looksFlaky: false };
  let state: ProofState = newProof({ hunks, ...facts, limits: { runs: 30, timeMs: Infinity } });
  for (;;) {
    const step = nextExperiment(state);
    if ("answer" in step) return step.answer;
    const out = new Set(step.experiment.without);
    const isBuilt = isWhole(out);
    const outcome: Outcome = !isBuilt ? "cannot-apply" : out.has(culprit) ? "pass" : "fail-same";
    const bound = { kept: [], taken: [2, 3].filter((id) => out.has(id)) };
    state = applyOutcome(state, { outcomes: [outcome], ...(isBuilt ? {} : { bound }), tookMs: 1 });
  }
}

test("a few changes for which no tree builds do not keep the others from being told apart", () => {
  for (const culprit of [0, 1, 4, 7, 12, 19, 25, 29]) {
    const answer = prove(culprit);
    expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [culprit] });
    expect(answer.runs).toBeLessThanOrEqual(16);
  }
});
