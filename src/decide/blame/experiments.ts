/**
 * How one run of the failing tests ended, for one group of failures. `fail-other`: the same tests fail, for another
 * reason than recorded. `cannot-apply`: the tree could not be put together, built or run to its end, so that nothing
 * can be said. `flaky`: several runs of the same tree ended differently.
 */
export type Outcome = "pass" | "fail-same" | "fail-other" | "cannot-apply" | "flaky";

/** A run to be made: the iteration with these hunks taken back, only the failing tests, in a fresh process. */
export interface Experiment {
  /** Ids of hunks, in order. */
  readonly without: readonly number[];
  /** How often this very tree was run before: a result from a cache will not do where this is above 0. */
  readonly repeat: number;
  readonly purpose: "untouched" | "base" | "search" | "confirm";
}

/** What came of it, for each group of failures in their order. */
export interface RunOutcome {
  readonly outcomes: readonly Outcome[];
  /** By what each group's failure is told from others, where it failed: two that are the same fail in the same way. */
  readonly signatures?: readonly (string | null)[];
  /** The tests that failed in the whole run; absent where they are not known by name. */
  readonly failed?: readonly string[];
  /** Did the whole run pass, and not only these failures stay away? */
  readonly isGreen?: boolean;
  /** Where the tree did not build: the changes that its messages are about. */
  readonly bound?: BoundChanges;
  readonly tookMs: number;
  /** The same files were run before, for another set of hunks: nothing was run for this one. */
  readonly isKnown?: true;
  /** The time for all runs was up before this one could end: it says nothing, and no other can be made. */
  readonly isLate?: true;
}

/** Changes that messages of a build are about, by what was done to them in the tree that did not build. */
export interface BoundChanges {
  readonly kept: readonly number[];
  readonly taken: readonly number[];
}

export interface PastExperiment {
  readonly without: readonly number[];
  readonly key: string;
  readonly purpose: Experiment["purpose"];
  readonly outcome: RunOutcome;
}

/** Everything seen so far. Search procedures ask it; what it does not know becomes the next experiment. */
export interface Notebook {
  readonly seen: PastExperiment[];
  spentMs: number;
  /** No run is left: from now on nothing can be found out. */
  isSpent: boolean;
  /** What is taken back in every tree from now on, whatever else is. */
  fixed: readonly number[];
  readonly limits: { readonly runs: number; readonly timeMs: number };
}

export type Experiments<T> = Generator<Experiment, T, RunOutcome>;

export const keyOf = (ids: readonly number[]): string => [...new Set(ids)].sort((a, b) => a - b).join(",");

/** How many of these were runs, and not only another name for files that had run. */
export const runCount = (seen: readonly PastExperiment[]): number =>
  seen.filter(({ outcome }) => outcome.isKnown !== true).length;

/** The runs of a tree that were made so far. */
export function runsOf({ seen, fixed }: Notebook, without: readonly number[]): PastExperiment[] {
  const key = keyOf([...without, ...fixed]);
  return seen.filter((each) => each.key === key);
}

/** The outcomes of a tree, run as often as asked for in all; what is known is not run again. */
export function* ask(
  book: Notebook,
  without: readonly number[],
  purpose: Experiment["purpose"],
  times = 1,
): Experiments<readonly Outcome[]> {
  const key = keyOf([...without, ...book.fixed]);
  const known = runsOf(book, without);
  while (known.length < times) {
    const runs = runCount(book.seen);
    const perRun = runs === 0 ? 0 : book.spentMs / runs;
    if (book.isSpent || runs >= book.limits.runs || book.spentMs + perRun > book.limits.timeMs) {
      book.isSpent = true;
      break;
    }
    const ids = key === "" ? [] : key.split(",").map(Number);
    const outcome = yield { without: ids, repeat: known.length, purpose };
    if (outcome.isLate === true) {
      book.isSpent = true;
      break;
    }
    const seen = { without: ids, key, purpose, outcome };
    book.spentMs += outcome.tookMs;
    book.seen.push(seen);
    known.push(seen);
  }
  const groups = known[0]?.outcome.outcomes.length ?? 0;
  return Array.from({ length: groups }, (_, group) =>
    together(known.map(({ outcome }) => outcome.outcomes[group] ?? "cannot-apply")),
  );
}

/** Several runs of one tree as one outcome. */
function together(outcomes: readonly Outcome[]): Outcome {
  const said = outcomes.filter((outcome) => outcome !== "cannot-apply");
  if (said.length === 0) return "cannot-apply";
  if (said.includes("flaky") || (said.includes("pass") && said.some((outcome) => outcome !== "pass"))) return "flaky";
  return said.includes("fail-same") ? "fail-same" : said[0]!;
}
