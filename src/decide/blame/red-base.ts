import { countText } from "../../stdx/plain-text.ts";
import { rankedCause, type Cause } from "./cause.ts";
import { ask, type Experiments, type Notebook } from "./experiments.ts";
import type { ProofInput } from "./proof-input.ts";

/** How often a tree with a doubtful outcome is run. */
export const UNTOUCHED_RUNS = 3;

/**
 * Checks for a flake before an unproven answer: contradicting runs may come from one. The two trees with a known
 * outcome run again, and a failure that appears only sometimes is flaky.
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

/** Handles an untouched tree that did not fail as recorded. */
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

/** A test that fails with a chance of one half fails this often in a row in one of sixty-four cases. */
const RED_RUNS = 6;
/** A broken environment fails a check every time. */
const BROKEN_RUNS = 2;
/** Handles a failure that also occurs on the base. It runs several times, because it may have been flaky there too. */
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
      // If no time was left, it did not run often enough.
      proven: !book.isSpent,
      hunks: [],
      because: "the same tests fail in the same way on the base",
    };
  return rankedCause("pre-existing", "the same tests fail on the base too, in another way");
}

/** Handles failures of which some existed before. The cause of those in new tests is then unknown. */
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
