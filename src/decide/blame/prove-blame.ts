import { countText } from "../../stdx/plain-text.ts";
import {
  ask,
  keyOf,
  type Experiments,
  type Experiment,
  type Notebook,
  type Outcome,
  type PastExperiment,
  type RunOutcome,
} from "./experiments.ts";
import { provenCause, rankedCause, type Cause, type ProofKind } from "./confirm.ts";
import { outcomeWithout, type Search } from "./search.ts";

/**
 * Proves by runs which change caused a failure. The caller makes the runs.
 *
 * 1. The untouched tree: a failure that does not come back is flaky.
 * 2. The base, with the failing tests as the iteration left them: what fails there too is unmet, pre-existing or caused
 *    by the environment, and nothing is reverted.
 * 3. The search: the smallest set of hunks without which the failure is gone, along the ranking (`search.ts`).
 * 4. The proof, both ways and each of them twice: without the set it passes; with only the set on the base it fails as
 *    recorded. If it does not fail there, hunks without which the failure is gone as well make it a joint cause.
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

export interface ProofInput {
  /** What may be taken back, the likeliest first. */
  readonly hunks: readonly { readonly id: number; readonly confidence: number }[];
  readonly companions: ReadonlyMap<number, readonly number[]>;
  /** Hunks of the failing tests themselves: they stay, so that the same test is run on every tree. */
  readonly pinned: readonly number[];
  /** Every failing test is new with this iteration. */
  readonly isNewTest: boolean;
  /** The failure looks like an environment problem. */
  readonly looksEnvironmental: boolean;
  /** Something speaks for a flake: nothing that changed is reached, or time and chance are in play. */
  readonly looksFlaky: boolean;
  /** The failures cannot be distinguished from others, so nothing can be proven. */
  readonly isVague?: boolean;
  readonly limits: { readonly runs: number; readonly timeMs: number };
}

export interface ProofAnswer {
  readonly kind: ProofKind;
  readonly proven: boolean;
  /** Ids of the hunks that did it. */
  readonly hunks: readonly number[];
  readonly runs: number;
  /** Of them, those that searched; the others are triage and proof. */
  readonly searchRuns: number;
  readonly spentMs: number;
  readonly because: string;
  /** Not proven, but shown by removal. */
  readonly isShown?: boolean;
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
  const proven = step.value.proven && input.isVague !== true;
  const { seen: experiments, spentMs } = book;
  const searchRuns = experiments.filter(({ purpose }) => purpose === "search").length;
  return { answer: { ...step.value, proven, runs: experiments.length, searchRuns, spentMs, experiments } };
}

/**
 * The experiments that come next if each ends as the likeliest culprit would have it, the next one first. A
 * runner with several checkouts starts these early and drops those not needed, so the answer is the same.
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

/** A tree passes without the likeliest hunk that all runs so far agree with, and fails with it. */
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
  const book: Notebook = { seen: [], spentMs: 0, isSpent: false, limits: input.limits };
  const walk = proof(input, book);
  let step = walk.next();
  for (const each of all) {
    if (step.done) break;
    step = walk.next(each);
  }
  return { book, step };
}

const UNTOUCHED_RUNS = 3;
function* proof(input: ProofInput, book: Notebook): Experiments<Cause> {
  const first = yield* ask(book, [], "untouched", input.looksFlaky ? UNTOUCHED_RUNS : 1);
  const steady = (outcomes: readonly Outcome[]): number[] =>
    outcomes.flatMap((outcome, group) => (outcome === "fail-same" ? [group] : []));
  if (steady(first).length === 0) return yield* notSeenAgain(book);
  const unpinned = input.hunks.map(({ id }) => id).filter((id) => !input.pinned.includes(id));
  const base = unpinned.length === 0 ? first : yield* ask(book, unpinned, "base");
  const groups = steady(first);
  const regressed = groups.filter((group) => base[group] === "pass");
  if (regressed.length > 0)
    return yield* confirmStable(book, unpinned, yield* searchGroups(input, book, regressed, unpinned));
  const outcome = base[groups[0]!] ?? "cannot-apply";
  if (book.isSpent && outcome === "cannot-apply")
    return rankedCause("unknown", "no runs were left to look at the base");
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

/**
 * Runs that do not fit together are what a flake looks like. Before that answer is given, the two trees with a known
 * outcome run again: a failure that comes and goes is flaky.
 */
function* confirmStable(book: Notebook, base: readonly number[], cause: Cause): Experiments<Cause> {
  if (cause.proven || cause.isEntangled === true) return cause;
  for (const tree of [[], base]) {
    const again = yield* ask(book, tree, "confirm", UNTOUCHED_RUNS);
    if (again.includes("flaky"))
      return { kind: "flaky", proven: true, hunks: [], because: "the same tree passed and failed" };
  }
  return cause;
}

/** The untouched tree did not fail as recorded. */
function* notSeenAgain(book: Notebook): Experiments<Cause> {
  const again = yield* ask(book, [], "untouched", UNTOUCHED_RUNS);
  if (again.includes("flaky"))
    return { kind: "flaky", proven: true, hunks: [], because: "the same tree passed and failed" };
  if (again.length > 0 && again.every((outcome) => outcome === "pass"))
    return rankedCause(
      "flaky",
      `the failure did not come again in ${countText(book.seen.length, "run")} of the same tree`,
    );
  if (again.includes("fail-other"))
    return rankedCause("unknown", "the same tree fails in another way than was recorded");
  return rankedCause("unknown", "the failing tests could not be run again");
}

/** What comes and goes with even chances is red as often as this in a row once in sixty-four times. */
const RED_RUNS = 6;
/** Red on the base: seen again and again, because what comes and goes was there before as well. */
function* redBefore(input: ProofInput, book: Notebook, base: readonly number[], group: number): Experiments<Cause> {
  const outcome = (yield* ask(book, base, "base", RED_RUNS))[group] ?? "cannot-apply";
  if (outcome === "cannot-apply") return rankedCause("unknown", "the failing tests cannot be run on the base");
  if (outcome === "flaky") return { kind: "flaky", proven: true, hunks: [], because: "the base passes and fails" };
  if (input.looksEnvironmental)
    return {
      kind: "environment",
      proven: outcome === "fail-same",
      hunks: [],
      because: "it fails on the base too, and for a reason outside the code",
    };
  if (outcome === "fail-same")
    return {
      kind: "pre-existing",
      proven: true,
      hunks: [],
      because: "the same tests fail in the same way on the base",
    };
  return rankedCause("pre-existing", "the same tests fail on the base too, in another way");
}

/** Some failures were there before, and others came with tests of the iteration: why those fail is not known then. */
function* redBeside(
  input: ProofInput,
  book: Notebook,
  base: readonly number[],
  old: readonly number[],
  count: number,
): Experiments<Cause> {
  const cause = yield* redBefore(input, book, base, old[0]!);
  if (old.length === count || cause.kind === "flaky") return cause;
  return { ...cause, proven: false, because: `${cause.because}; others are new with their tests` };
}

/** A test that was there before, was changed, and fails on the base's code as it does now. */
function* changedTest(
  input: ProofInput,
  book: Notebook,
  groups: readonly number[],
  whole: readonly number[],
  pinnedOnBase: Outcome,
): Experiments<Cause> {
  if (pinnedOnBase !== "fail-same") return yield* searchGroups(input, book, groups, whole);
  // The test asks for what neither the old nor the new code does: work to be done, unless the test itself is wrong,
  // which runs cannot tell.
  return rankedCause(
    "unmet",
    "a test that was changed asks for what the code does not do, before or after",
    input.pinned,
  );
}

/** Each group of failures in turn; what explains one group often explains the next, and then costs no run. */
function* searchGroups(
  input: ProofInput,
  book: Notebook,
  groups: readonly number[],
  order: readonly number[],
): Experiments<Cause> {
  const shares = new Map(input.hunks.map(({ id, confidence }) => [id, confidence]));
  const found: Cause[] = [];
  for (const group of groups) {
    const search: Search = { book, group, order, shareOf: (id) => shares.get(id) ?? 0, companions: input.companions };
    const known = found.flatMap((each) => each.hunks);
    if (known.length > 0 && (yield* outcomeWithout(search, known)) === "pass") continue;
    found.push(yield* provenCause(search));
    if (book.isSpent) break;
  }
  const cause = together(found);
  const cure = found.flatMap((each) => each.cure ?? []);
  if (!cause.proven || (yield* isCured(book, order, cure))) return cause;
  return { ...cause, proven: false, because: "without it these tests pass, but others still fail" };
}

/** Does the whole run pass without the culprits? If a test still fails that passes on the base, one is missing. */
function* isCured(book: Notebook, base: readonly number[], cure: readonly number[]): Experiments<boolean> {
  const isGreen = (without: readonly number[]): boolean | undefined => {
    const key = keyOf(without);
    return book.seen.find((each) => each.key === key)?.outcome.isGreen;
  };
  if (isGreen(base) !== true) return true;
  yield* ask(book, cure, "confirm");
  return isGreen(cure) === true;
}

/** The causes of all groups as one answer. */
function together(found: readonly Cause[]): Cause {
  const hunks = [...new Set(found.flatMap((each) => each.hunks))];
  if (found.length === 1) return found[0]!;
  const named = found.filter((each) => each.hunks.length > 0);
  if (named.length === 0) return found[0]!;
  const proven = named.length === found.length && named.every((each) => each.proven);
  return {
    kind: hunks.length > 1 ? "multi" : named[0]!.kind,
    proven,
    hunks,
    because: proven
      ? hunks.length > 1
        ? "each of them breaks tests by itself"
        : named[0]!.because
      : (named.find((each) => !each.proven)?.because ?? "not every failure could be explained"),
  };
}
