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

/** How the failing tests run. */
export interface RunMode {
  /** Without reports of tests by name. */
  readonly isBare: boolean;
  /** By the whole command of the check, instead of the one for only the failing tests. */
  readonly isWhole: boolean;
}

/** How the failing tests run, and the failures that their outcomes are compared with. */
export interface ProofSetup {
  mode: RunMode;
  groups: readonly FailureGroup[];
  /** The failures in runs of the untouched tree. */
  readonly again: Failure[];
  /** Whether the messages of the failures vary. */
  isVarying: boolean;
}

export const newSetup = (groups: readonly FailureGroup[]): ProofSetup => ({
  mode: { isBare: false, isWhole: false },
  groups,
  again: [],
  isVarying: false,
});

/** Stores the failures of an untouched run. If messages vary, each of these runs adds variants. */
export function learnFailures(setup: ProofSetup, failures: readonly Failure[]): void {
  setup.again.push(...failures);
  if (setup.isVarying) setup.groups = varyingGroups(setup.groups, setup.again);
}

export interface ProofAsking {
  readonly runner: ProofRunner;
  readonly setup: ProofSetup;
  readonly signal: AbortSignal;
  /** Whether the whole command differs from the one for only the failing tests. */
  readonly hasWhole: boolean;
  readonly ranking: {
    /** Whether a run counted lines. */
    isCounted(): boolean;
    /** Returns the proof's input as known now. */
    prepared(): { readonly input: ProofInput };
  };
}

/** Makes the runs of a proof until it has an answer; `null` if it was stopped. */
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
 * Runs the untouched tree. If it does not fail as recorded, it runs in other ways before it is called flaky: without
 * counted lines and reports of tests by name, which may change a check's result, and by the whole command, because a
 * failing test may need earlier ones. If the same tests fail each time with varying messages, all of these count as
 * recorded.
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
  // The first run is the same with any ranking: its result may change the order of all that follow.
  const known = ranking.prepared().input;
  return applyOutcome(newProof({ ...known, looksFlaky: known.looksFlaky || isUnsteady }), outcome);
}
