import { describe, expect, test } from "vitest";
import { chanceOf } from "../../bench/blame/random.ts";
import { treeId } from "../../src/core/events/ids.ts";
import { proofRunner } from "../../src/engine/proof-runner.ts";
import type { Outcome } from "../../src/decide/blame/experiments.ts";
import {
  speculate,
  newProof,
  nextExperiment,
  applyOutcome,
  type ProofAnswer,
} from "../../src/decide/blame/prove-blame.ts";
import type { ExperimentCheckout } from "../../src/ports/experiment-runner.ts";

/** A checkout on which nothing but the set of hunks that are out can be seen. */
function checkoutAt(path: string, states: Map<string, readonly number[]>, closed: string[]): ExperimentCheckout {
  return {
    path,
    set(_, texts) {
      const out = [...texts.keys()].map(Number);
      states.set(path, out);
      return Promise.resolve(treeId(`tree-${out.join(",")}`));
    },
    paths: () => Promise.resolve([]),
    text: () => null,
    close: () => Promise.resolve(void closed.push(path)),
  };
}

interface Play {
  readonly answer: ProofAnswer;
  /** How many runs were made, and how many were under way at once. */
  readonly begun: number;
  readonly most: number;
  readonly closed: readonly string[];
}

/** A proof over hunks of which some are culprits; runs end in any order. */
async function play(
  culprits: readonly number[],
  more: number,
  oracle: (without: readonly number[], besides: number) => Outcome = (without) =>
    culprits.some((id) => !without.includes(id)) ? "fail-same" : "pass",
  seed = 1,
): Promise<Play> {
  const chance = chanceOf(seed);
  const [states, closed] = [new Map<string, readonly number[]>(), [] as string[]];
  let [begun, most, now, made] = [0, 0, 0, 0];
  const runner = proofRunner({
    checkout: checkoutAt("0", states, closed),
    more: {
      count: more,
      open: () => Promise.resolve(checkoutAt(String(++made), states, closed)),
    },
    tree: "whole",
    filesWithout: (hunks) => new Map(hunks.map((id) => [String(id), null])),
    async run(path, { signal }) {
      begun++;
      most = Math.max(most, ++now);
      const without = states.get(path)!;
      for (let waits = chance.below(5) + 1; waits > 0 && !signal.aborted; waits--) await Promise.resolve();
      const outcome = oracle(without, now - 1);
      now--;
      return { outcomes: [signal.aborted ? "cannot-apply" : outcome], isGreen: outcome === "pass", tookMs: 5 };
    },
    onRun: () => undefined,
    signal: new AbortController().signal,
  });
  const hunks = Array.from({ length: 24 }, (_, id) => ({ id, confidence: 1 / (id + 2) }));
  const rest = { companions: new Map(), pinned: [], isNewTest: false, looksEnvironmental: false, looksFlaky: false };
  let state = newProof({ hunks, ...rest, limits: { runs: 60, timeMs: Infinity } });
  for (;;) {
    const step = nextExperiment(state);
    if ("answer" in step) {
      await runner.close();
      return { answer: step.answer, begun, most, closed };
    }
    state = applyOutcome(state, await runner.ended(step.experiment, speculate(state, runner.hands)));
  }
}

describe("a proof with several runs at once", () => {
  test("comes to the same answer with the same reported number of runs as one after the other", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const culprits = [seed % 24];
      const alone = await play(culprits, 0, undefined, seed);
      const beside = await play(culprits, 3, undefined, seed);
      expect(beside.answer).toEqual(alone.answer);
      expect(alone.answer).toMatchObject({ kind: "culprit", proven: true, hunks: culprits });
    }
  });

  test("uses its checkouts, and closes those that it opened", async () => {
    const beside = await play([0], 2);
    expect(beside.most).toBe(3);
    expect(beside.closed).toHaveLength(2);
    const alone = await play([0], 0);
    expect([alone.most, alone.begun, alone.closed]).toEqual([1, alone.answer.runs, []]);
  });

  test("predicts every run if the ranking is right", () => {
    const hunks = [7, 3, 5].map((id, at) => ({ id, confidence: at === 0 ? 0.9 : 0.05 }));
    const rest = { companions: new Map(), pinned: [], isNewTest: false, looksEnvironmental: false, looksFlaky: false };
    const state = newProof({ hunks, ...rest, limits: { runs: 30, timeMs: Infinity } });
    const next = speculate(state, 20);
    expect(next.map(({ purpose }) => purpose).slice(0, 3)).toEqual(["untouched", "base", "search"]);
    expect(next[2]!.without).toEqual([7]);
    expect(speculate(state, 2)).toEqual(next.slice(0, 2));
  });

  test("repeats a run alone if others ran at the same time and it ended differently than recorded", async () => {
    const inTheWay = (without: readonly number[], besides: number): Outcome =>
      besides > 0 ? "fail-other" : without.includes(4) ? "pass" : "fail-same";
    const { answer } = await play([4], 3, inTheWay);
    expect(answer).toMatchObject({ kind: "culprit", proven: true, hunks: [4] });
  });
});
