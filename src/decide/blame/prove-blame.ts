import { countText } from "../../stdx/plain-text.ts";
import { ask, keyOf, type Asking, type Experiment, type Notebook, type Outcome, type Told } from "./experiments.ts";
import { provenCause, ranked, type Cause, type ProofKind } from "./confirm.ts";
import { outcomeWithout, type Search } from "./search.ts";

/**
 * Proving which change did it, by runs that somebody else makes.
 *
 * 1. The untouched tree, to see whether the failure is there at all: what passes now and fails then is flaky.
 * 2. The base, with the failing tests as the iteration left them: what fails there too is unmet, pre-existing or the
 *    surroundings, and nothing is taken back.
 * 3. The search: the smallest set of hunks without which the failure is gone, along the ranking (`search.ts`).
 * 4. The proof, both ways and each of them again: without the set it passes; with nothing but the set on the base it
 *    fails as recorded. If the set does not fail there, what has to come to it is looked for: hunks without which
 *    the failure is gone as well make it a joint cause, hunks that do not matter are only its surroundings.
 *
 * Anything that contradicts itself on the way (a tree that passes and fails, a smaller set that does more than a larger
 * one) ends the claim: an answer is *proven* only when every run ever made agrees with it.
 *
 * The state is what was asked for and what was told; the machine is walked anew each time, so that it can be kept as
 * data, and the same answers always lead to the same next question.
 */
export interface ProofState {
  readonly input: ProofInput;
  readonly told: readonly Told[];
}

export interface ProofInput {
  /** What may be taken back, the likeliest first. */
  readonly hunks: readonly { readonly id: number; readonly confidence: number }[];
  readonly companions: ReadonlyMap<number, readonly number[]>;
  /** Hunks of the failing tests themselves: they stay, so that the same test is run on every tree. */
  readonly pinned: readonly number[];
  /** Every failing test is new with this iteration. */
  readonly isNewTest: boolean;
  /** The failure looks like one of the surroundings. */
  readonly looksEnvironmental: boolean;
  /** Something speaks for a flake: nothing that changed is reached, or time and chance are in play. */
  readonly looksFlaky: boolean;
  /** The failures say nothing by which another one could be told from them: then nothing can be proven. */
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
}

export type ProofStep = { readonly experiment: Experiment } | { readonly answer: ProofAnswer };

export function newProof(input: ProofInput): ProofState {
  return { input, told: [] };
}

export function told(state: ProofState, outcome: Told): ProofState {
  return { ...state, told: [...state.told, outcome] };
}

export function nextExperiment(state: ProofState): ProofStep {
  const { input } = state;
  const { book, step } = walked(state);
  if (!step.done) return { experiment: step.value };
  const searchRuns = book.seen.filter((each) => each.purpose === "search").length;
  const proven = step.value.proven && input.isVague !== true;
  return { answer: { ...step.value, proven, runs: book.seen.length, searchRuns, spentMs: book.spentMs } };
}

/**
 * The experiments that come next if each ends as the likeliest culprit would have it, the next one first. Whoever can
 * run several at once begins with these; what was not asked for in the end is thrown away, so the answer is the same.
 */
export function foreseen(state: ProofState, most: number): readonly Experiment[] {
  const found: Experiment[] = [];
  let now = state;
  while (found.length < most) {
    const { book, step } = walked(now);
    if (step.done) break;
    found.push(step.value);
    now = told(now, expected(now.input, book, step.value));
  }
  return found;
}

/** A tree passes without the likeliest hunk that all runs so far agree with, and fails with it. */
function expected({ hunks, pinned }: ProofInput, { seen }: Notebook, { without }: Experiment): Told {
  const groups = seen[0]?.told.outcomes ?? ["fail-same"];
  const outcomes = groups.map((_, group): Outcome => {
    const agrees = ({ id }: { readonly id: number }): boolean =>
      !pinned.includes(id) &&
      seen.every((each) => {
        const outcome = each.told.outcomes[group];
        return outcome === "pass" ? each.without.includes(id) : outcome !== "fail-same" || !each.without.includes(id);
      });
    const guess = hunks.find(agrees);
    return guess !== undefined && without.includes(guess.id) ? "pass" : "fail-same";
  });
  return { outcomes, isGreen: outcomes.every((outcome) => outcome === "pass"), tookMs: 0 };
}

function walked({ input, told: all }: ProofState): { book: Notebook; step: IteratorResult<Experiment, Cause> } {
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

function* proof(input: ProofInput, book: Notebook): Asking<Cause> {
  const first = yield* ask(book, [], "untouched", input.looksFlaky ? UNTOUCHED_RUNS : 1);
  const steady = (outcomes: readonly Outcome[]): number[] =>
    outcomes.flatMap((outcome, group) => (outcome === "fail-same" ? [group] : []));
  if (steady(first).length === 0) return yield* notSeenAgain(book);
  const unpinned = input.hunks.map(({ id }) => id).filter((id) => !input.pinned.includes(id));
  const base = unpinned.length === 0 ? first : yield* ask(book, unpinned, "base");
  const groups = steady(first);
  const regressed = groups.filter((group) => base[group] === "pass");
  if (regressed.length > 0)
    return yield* steadied(book, unpinned, yield* searchGroups(input, book, regressed, unpinned));
  const outcome = base[groups[0]!] ?? "cannot-apply";
  if (book.isSpent && outcome === "cannot-apply") return ranked("unknown", "no runs were left to look at the base");
  if (input.isNewTest)
    return ranked("unmet", "the failing tests are new, and fail on the base too: nothing that was there before broke");
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
 * Runs that do not fit together are what a flake looks like. Before such an answer is given, the two trees of which the
 * end is known are run again: what then passes and fails is nobody's.
 */
function* steadied(book: Notebook, base: readonly number[], cause: Cause): Asking<Cause> {
  if (cause.proven || cause.isEntangled === true) return cause;
  for (const tree of [[], base]) {
    const again = yield* ask(book, tree, "confirm", UNTOUCHED_RUNS);
    if (again.includes("flaky"))
      return { kind: "flaky", proven: true, hunks: [], because: "the same tree passed and failed" };
  }
  return cause;
}

/** The untouched tree did not fail as recorded. */
function* notSeenAgain(book: Notebook): Asking<Cause> {
  const again = yield* ask(book, [], "untouched", UNTOUCHED_RUNS);
  if (again.includes("flaky"))
    return { kind: "flaky", proven: true, hunks: [], because: "the same tree passed and failed" };
  if (again.length > 0 && again.every((outcome) => outcome === "pass"))
    return ranked("flaky", `the failure did not come again in ${countText(book.seen.length, "run")} of the same tree`);
  if (again.includes("fail-other")) return ranked("unknown", "the same tree fails in another way than was recorded");
  return ranked("unknown", "the failing tests could not be run again");
}

/** What comes and goes with even chances is red as often as this in a row once in sixty-four times. */
const RED_RUNS = 6;

/** Red on the base: seen again and again, because what comes and goes was there before as well. */
function* redBefore(input: ProofInput, book: Notebook, base: readonly number[], group: number): Asking<Cause> {
  const outcome = (yield* ask(book, base, "base", RED_RUNS))[group] ?? "cannot-apply";
  if (outcome === "cannot-apply") return ranked("unknown", "the failing tests cannot be run on the base");
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
  return ranked("pre-existing", "the same tests fail on the base too, in another way");
}

/** Some failures were there before, and others came with tests of the iteration: why those fail is not known then. */
function* redBeside(
  input: ProofInput,
  book: Notebook,
  base: readonly number[],
  old: readonly number[],
  count: number,
): Asking<Cause> {
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
): Asking<Cause> {
  if (pinnedOnBase !== "fail-same") return yield* searchGroups(input, book, groups, whole);
  // It asks for what neither the old nor the new code does. That is work to be done, unless the test itself is at fault;
  // which of the two it is no run can tell.
  return ranked("unmet", "a test that was changed asks for what the code does not do, before or after", input.pinned);
}

/** Each group of failures in turn; what explains one group often explains the next, and then costs no run. */
function* searchGroups(
  input: ProofInput,
  book: Notebook,
  groups: readonly number[],
  order: readonly number[],
): Asking<Cause> {
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

/**
 * Does the whole run pass once the culprits are out? What was read of the failures may not be all of them: as long as
 * something fails that passes on the base, somebody is not found yet.
 */
function* isCured(book: Notebook, base: readonly number[], cure: readonly number[]): Asking<boolean> {
  const isGreen = (without: readonly number[]): boolean | undefined => {
    const key = keyOf(without);
    return book.seen.find((each) => each.key === key)?.told.isGreen;
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
