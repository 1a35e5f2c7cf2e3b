import { rankedCause, type Cause, type ProofKind } from "./cause.ts";
import {
  ask,
  runCount,
  type Experiments,
  type Experiment,
  type Notebook,
  type Outcome,
  type PastExperiment,
  type RunOutcome,
} from "./experiments.ts";
import { slipInNewCode } from "./new-code.ts";
import type { ProofInput } from "./proof-input.ts";
import { confirmStable, notSeenAgain, redBefore, redBeside, UNTOUCHED_RUNS } from "./red-base.ts";
import { searchGroups } from "./search-groups.ts";
import { causeByOldTests, causeOfAll, causeOfNewCheck, UNEXPLAINED } from "./changed-tests.ts";

/**
 * Proves by runs which change caused a failure. The caller makes the runs.
 *
 * 1. The untouched tree: a failure that does not occur again is flaky.
 * 2. The base with the failing tests of the iteration: tests that also fail there are unmet, pre-existing or fail
 *    because of the environment, and nothing is reverted. A changed test that fails there differently runs in its old
 *    version with the new code (`changed-tests.ts`).
 * 3. The search: the smallest set of hunks without which the failure is gone, along the ranking (`search.ts`).
 * 4. If the failing tests are new: a mistake in the code that came with them (`new-code.ts`).
 * 5. The proof, in both directions and each of them twice: without the set the tests pass; with only the set on the
 *    base they fail as recorded. If they do not, other hunks without which the failure is gone too are part of a joint
 *    cause.
 *
 * A contradiction (a tree that passes and fails, a smaller set that does more than a larger one) ends the claim: an
 * answer is *proven* only when all runs agree with it.
 *
 * The state holds the input and the outcomes so far. Each step replays them, so the state is plain data and the same
 * outcomes always lead to the same next experiment.
 */
export interface ProofState {
  readonly input: ProofInput;
  readonly outcomes: readonly RunOutcome[];
}

export interface ProofAnswer {
  readonly kind: ProofKind;
  readonly proven: boolean;
  /** Ids of the hunks that caused the failure. */
  readonly hunks: readonly number[];
  readonly runs: number;
  /** How many of the runs were for the search; the others are for triage and proof. */
  readonly searchRuns: number;
  readonly spentMs: number;
  readonly because: string;
  /** The parts of these hunks that caused the failure, if a part was found. */
  readonly parts?: readonly number[];
  /** Not proven, but shown by removal. */
  readonly isShown?: boolean;
  /** The hunks to revert so that these failures disappear. */
  readonly cure?: readonly number[];
  /** The cause of these failures is proven, but other failures remain without it. */
  readonly isPartial?: boolean;
  /** Of the cure, the changes of tests that were reverted so that the tests are as on the base. */
  readonly oldTests?: readonly number[];
  readonly experiments?: readonly PastExperiment[];
}

export type ProofStep = { readonly experiment: Experiment } | { readonly answer: ProofAnswer };

export function newProof(input: ProofInput): ProofState {
  return { input, outcomes: [] };
}

export function applyOutcome(state: ProofState, outcome: RunOutcome): ProofState {
  return { ...state, outcomes: [...state.outcomes, outcome] };
}

export function nextExperiment(state: ProofState): ProofStep {
  const { input } = state;
  const { book, step } = replayProof(state);
  if (!step.done) return { experiment: step.value };
  // A failing test may ask for something new, so that its own file changed proves nothing about the code.
  const namesTests = step.value.hunks.some((id) => input.inTestFiles?.has(id) === true);
  const proven = step.value.proven && input.isVague !== true && !namesTests;
  const { seen: experiments, spentMs } = book;
  const searchRuns = runCount(experiments.filter(({ purpose }) => purpose === "search"));
  const facts = { proven, runs: runCount(experiments), searchRuns, spentMs, experiments };
  return { answer: { ...asUnmet(input, step.value), ...facts, ...wholeHunks(input, step.value.hunks) } };
}

/** Reports a new test as unmet if its output does not name it: it only asks for more than before. */
function asUnmet({ addedTests }: ProofInput, cause: Cause): Cause {
  const isNew = cause.kind === "culprit" && cause.hunks.every((id) => addedTests?.has(id) === true);
  if (!isNew || cause.hunks.length === 0) return cause;
  return rankedCause("unmet", "the failing test is new, and nothing else that changed makes it fail", cause.hunks);
}

/** Returns the hunks that parts belong to, and the parts. */
function wholeHunks({ parts = new Map() }: ProofInput, found: readonly number[]): Pick<ProofAnswer, "hunks" | "parts"> {
  const wholeOf = new Map([...parts].flatMap(([hunk, own]) => own.map(({ id }) => [id, hunk] as const)));
  const small = found.filter((id) => wholeOf.has(id));
  const hunks = [...new Set(found.map((id) => wholeOf.get(id) ?? id))];
  return { hunks, ...(small.length === 0 ? {} : { parts: small }) };
}

/**
 * Returns the experiments that come next if each ends as expected for the likeliest culprit, in order. A runner with
 * several checkouts starts these early and drops those not needed, so the answer is the same.
 */
export function speculate(state: ProofState, most: number): readonly Experiment[] {
  const found: Experiment[] = [];
  let now = state;
  while (found.length < most) {
    const { book, step } = replayProof(now);
    if (step.done) break;
    found.push(step.value);
    now = applyOutcome(now, expectedOutcome(now.input, book, step.value));
  }
  return found;
}

/**
 * Predicts an outcome: a tree passes without the likeliest hunk that agrees with all runs so far, and fails with it.
 */
function expectedOutcome({ hunks, pinned }: ProofInput, { seen }: Notebook, { without }: Experiment): RunOutcome {
  const groups = seen[0]?.outcome.outcomes ?? ["fail-same"];
  const outcomes = groups.map((_, group): Outcome => {
    const agrees = ({ id }: { readonly id: number }): boolean =>
      !pinned.includes(id) &&
      seen.every((each) => {
        const outcome = each.outcome.outcomes[group];
        return outcome === "pass" ? each.without.includes(id) : outcome !== "fail-same" || !each.without.includes(id);
      });
    const guess = hunks.find(agrees);
    return guess !== undefined && without.includes(guess.id) ? "pass" : "fail-same";
  });
  return { outcomes, isGreen: outcomes.every((outcome) => outcome === "pass"), tookMs: 0 };
}

function replayProof({ input, outcomes: all }: ProofState): {
  book: Notebook;
  step: IteratorResult<Experiment, Cause>;
} {
  const book: Notebook = { seen: [], spentMs: 0, isSpent: false, fixed: [], limits: input.limits };
  const walk = proof(input, book);
  let step = walk.next();
  for (const each of all) {
    if (step.done) break;
    step = walk.next(each);
  }
  return { book, step };
}

function* proof(input: ProofInput, book: Notebook): Experiments<Cause> {
  const first = yield* ask(book, [], "untouched", input.looksFlaky ? UNTOUCHED_RUNS : 1);
  const steady = (outcomes: readonly Outcome[]): number[] =>
    outcomes.flatMap((outcome, group) => (outcome === "fail-same" ? [group] : []));
  if (steady(first).length === 0) return yield* notSeenAgain(book);
  const unpinned = input.hunks.map(({ id }) => id).filter((id) => !input.pinned.includes(id));
  const base = unpinned.length === 0 ? first : yield* ask(book, unpinned, "base");
  const groups = steady(first);
  const regressed = groups.filter((group) => base[group] === "pass");
  const isWhole = groups.every((group) => base[group] === "pass" || base[group] === "fail-same");
  const direct = isWhole ? null : yield* causeOfAll(input, book, groups, regressed, unpinned);
  const isOld = isWhole || direct !== null ? null : yield* causeByOldTests(input, book, groups);
  if (direct !== null || isOld !== null) return (direct ?? isOld)!;
  if (regressed.length > 0) {
    const found = yield* searchGroups(input, book, regressed, unpinned);
    // A changed test that fails differently on the base may have its own cause here.
    return yield* confirmStable(book, unpinned, found.proven && !isWhole ? { ...found, ...UNEXPLAINED } : found);
  }
  const outcome = base[groups[0]!] ?? "cannot-apply";
  if (book.isSpent && outcome === "cannot-apply")
    return rankedCause("unknown", "no runs were left to look at the base");
  // If it fails differently without the new code, the new code makes a difference.
  const makesDifference = groups.some((group) => base[group] === "fail-other" || base[group] === "cannot-apply");
  if (input.isNewTest && input.newCode && (input.newCode.hasSign || makesDifference))
    return yield* slipInNewCode(input.newCode, book, groups);
  if (input.isNewTest)
    return rankedCause(
      "unmet",
      "the failing tests are new, and fail on the base too: nothing that was there before broke",
    );
  if (input.pinned.length > 0) {
    const whole = input.hunks.map(({ id }) => id);
    const before = yield* ask(book, whole, "base");
    const old = groups.filter((group) => before[group] === "fail-same");
    if (old.length > 0) return yield* redBeside(input, book, whole, old, groups.length);
    const passed = groups.filter((group) => before[group] === "pass");
    if (passed.length > 0) return yield* changedTest(input, book, passed, whole, outcome);
    return yield* redBefore(input, book, whole, groups[0]!);
  }
  return yield* redBefore(input, book, unpinned, groups[0]!);
}

/** Handles an existing test that was changed and fails on the base's code in the same way. */
function* changedTest(
  input: ProofInput,
  book: Notebook,
  groups: readonly number[],
  whole: readonly number[],
  pinnedOnBase: Outcome,
): Experiments<Cause> {
  if (input.newCode?.hasSign === true) {
    const slip = yield* slipInNewCode(input.newCode, book, groups);
    if (slip.proven || slip.isShown === true) return yield* asRegression(input, book, groups, slip);
  }
  if (pinnedOnBase !== "fail-same")
    return (yield* causeOfNewCheck(input, book, groups)) ?? (yield* searchGroups(input, book, groups, whole));
  // The test asks for something that neither the old nor the new code does: the work is not done, unless the test
  // itself is wrong, which runs cannot show.
  return rankedCause(
    "unmet",
    "a test that was changed asks for what the code does not do, before or after",
    input.pinned,
  );
}

/** Handles a mistake that also breaks the old tests on the base: it is not in new code. */
function* asRegression(
  { hunks, parts = new Map() }: ProofInput,
  book: Notebook,
  groups: readonly number[],
  slip: Cause,
): Experiments<Cause> {
  const [found] = slip.hunks;
  const others = hunks.flatMap(({ id }) => {
    const own = (parts.get(id) ?? []).map((part) => part.id);
    return found !== undefined && own.includes(found) ? own : [id];
  });
  const alone = yield* ask(
    book,
    others.filter((id) => id !== found),
    "confirm",
    2,
  );
  const isBroken = groups.some((group) => alone[group] === "fail-same" || alone[group] === "fail-other");
  if (!isBroken) return slip;
  const because = slip.proven ? "without it the tests pass; alone on the base they fail" : slip.because;
  return { ...slip, kind: "culprit", because };
}
