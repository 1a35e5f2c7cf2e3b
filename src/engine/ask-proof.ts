import type { RunOutcome } from "../decide/blame/experiments.ts";
import { varyingGroups, type FailureGroup } from "../decide/blame/failure-groups.ts";
import type { ProofInput } from "../decide/blame/proof-input.ts";
import {
  applyOutcome,
  newProof,
  nextExperiment,
  speculate,
  type ProofAnswer,
  type ProofState,
} from "../decide/blame/prove-blame.ts";
import type { Failure } from "../core/blame/failure.ts";
import type { ProofRunner } from "./proof-runner.ts";

/** How the failing tests are run. */
export interface RunMode {
  /** Without reports of tests by name. */
  readonly isBare: boolean;
  /** By the whole command of the check, where it could run only the failing tests. */
  readonly isWhole: boolean;
}

/** The way in which the failing tests are run, and the failures that they are compared with. */
export interface ProofSetup {
  mode: RunMode;
  groups: readonly FailureGroup[];
  /** What failed in the runs of the untouched tree. */
  readonly again: Failure[];
  /** The failures say something else each time. */
  isVarying: boolean;
}

export const newSetup = (groups: readonly FailureGroup[]): ProofSetup => ({
  mode: { isBare: false, isWhole: false },
  groups,
  again: [],
  isVarying: false,
});

/** What a run of the untouched tree said; where failures vary, each of these runs shows what else they say. */
export function learnFailures(setup: ProofSetup, failures: readonly Failure[]): void {
  setup.again.push(...failures);
  if (setup.isVarying) setup.groups = varyingGroups(setup.groups, setup.again);
}

export interface ProofAsking {
  readonly runner: ProofRunner;
  readonly setup: ProofSetup;
  readonly signal: AbortSignal;
  /** Is there a longer command than the one that runs only the failing tests? */
  readonly hasWhole: boolean;
  readonly ranking: {
    /** Did a run count lines? */
    isCounted(): boolean;
    /** What the proof begins with, as far as it is known now. */
    prepared(): { readonly input: ProofInput };
  };
}

/** Makes the runs that the proof asks for, until it has its answer; `null` where it was stopped. */
export async function askUntilAnswered(asking: ProofAsking): Promise<ProofAnswer | null> {
  const { runner, signal } = asking;
  let state: ProofState = newProof(asking.ranking.prepared().input);
  while (!signal.aborted) {
    const step = nextExperiment(state);
    if ("answer" in step) return step.answer;
    if (state.outcomes.length === 0) state = await firstRun(asking, state);
    else state = applyOutcome(state, await runner.ended(step.experiment, speculate(state, runner.hands)));
  }
  return null;
}

const UNTOUCHED = { without: [], purpose: "untouched" } as const;
const isOdd = ({ isLate, outcomes }: RunOutcome): boolean => isLate !== true && !outcomes.includes("fail-same");

/**
 * The untouched tree. Where it does not fail as recorded, it runs in other ways before that is called flaky: without the
 * counts of lines and without the reports by name, which may change how a check goes, and by the whole command, because a
 * failing test may need those that run before it. Where the same tests fail each time and say something else, all that
 * they say counts as what was recorded.
 */
async function firstRun({ runner, setup, hasWhole, ranking }: ProofAsking, start: ProofState) {
  let outcome = await runner.ended({ ...UNTOUCHED, repeat: 0 }, speculate(start, runner.hands));
  const usual = setup.mode;
  const modes = [
    ...(ranking.isCounted() ? [usual] : []),
    { ...usual, isBare: true },
    ...(hasWhole ? [{ ...usual, isWhole: true }] : []),
  ];
  const seen = [outcome];
  for (const mode of modes) {
    if (!isOdd(outcome)) break;
    setup.mode = mode;
    outcome = await runner.ended({ ...UNTOUCHED, repeat: 1 }, []);
    seen.push(outcome);
  }
  if (isOdd(outcome) && seen.every(({ outcomes }) => outcomes.includes("fail-other"))) {
    setup.isVarying = true;
    setup.mode = usual;
    outcome = await runner.ended({ ...UNTOUCHED, repeat: 1 }, []);
  }
  const isUnsteady = setup.isVarying || setup.mode.isWhole;
  // The first run is the same whatever the ranking: what it showed may change the order of all that follow.
  const known = ranking.prepared().input;
  return applyOutcome(newProof({ ...known, looksFlaky: known.looksFlaky || isUnsteady }), outcome);
}
