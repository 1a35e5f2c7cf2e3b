import { countText } from "../../stdx/plain-text.ts";
import { rankedCause, type Cause } from "./cause.ts";
import { ask, type Experiments, type Notebook } from "./experiments.ts";
import type { ProofInput } from "./proof-input.ts";

/** How often a tree whose outcome is in doubt is run. */
export const UNTOUCHED_RUNS = 3;

/**
 * Runs that do not fit together are what a flake looks like. Before that answer is given, the two trees with a known
 * outcome run again: a failure that comes and goes is flaky.
 */
export function* confirmStable(book: Notebook, base: readonly number[], cause: Cause): Experiments<Cause> {
  if (cause.proven || cause.isShown === true || cause.isEntangled === true || cause.isPartial === true) return cause;
  for (const tree of [[], base]) {
    const again = yield* ask(book, tree, "confirm", UNTOUCHED_RUNS);
    if (again.includes("flaky"))
      return { kind: "flaky", proven: true, hunks: [], because: "the same tree passed and failed" };
  }
  return cause;
}

/** The untouched tree did not fail as recorded. */
export function* notSeenAgain(book: Notebook): Experiments<Cause> {
  const again = yield* ask(book, [], "untouched", UNTOUCHED_RUNS);
  if (again.length === 0 && book.isSpent)
    return rankedCause("unknown", "no time was left to run the failing tests again");
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
/** What the environment does to a check, it does each time. */
const BROKEN_RUNS = 2;
/** Red on the base: seen again and again, because what comes and goes was there before as well. */
export function* redBefore(
  input: ProofInput,
  book: Notebook,
  base: readonly number[],
  group: number,
): Experiments<Cause> {
  const outcome =
    (yield* ask(book, base, "base", input.looksEnvironmental ? BROKEN_RUNS : RED_RUNS))[group] ?? "cannot-apply";
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
      // Where no time was left, it was not seen often enough.
      proven: !book.isSpent,
      hunks: [],
      because: "the same tests fail in the same way on the base",
    };
  return rankedCause("pre-existing", "the same tests fail on the base too, in another way");
}

/** Some failures were there before, and others came with tests of the iteration: why those fail is not known then. */
export function* redBeside(
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
