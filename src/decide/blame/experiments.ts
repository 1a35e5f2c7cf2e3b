/**
 * The outcome of one run of the failing tests, for one group of failures. `fail-other`: the same tests fail, for
 * another reason than recorded. `cannot-apply`: the tree could not be assembled, built or run to its end, so nothing is
 * known. `flaky`: several runs of the same tree had different outcomes.
 */
export type Outcome = "pass" | "fail-same" | "fail-other" | "cannot-apply" | "flaky";

/** A run to make: the iteration with these hunks reverted, only the failing tests, in a fresh process. */
export interface Experiment {
  /** Ids of hunks, in order. */
  readonly without: readonly number[];
  /** How often this same tree was run before. Above 0, a cached result cannot be used. */
  readonly repeat: number;
  readonly purpose: "untouched" | "base" | "search" | "confirm";
}

/** The result of a run, for each group of failures in order. */
export interface RunOutcome {
  readonly outcomes: readonly Outcome[];
  /** What distinguishes each group's failure, if it failed: equal signatures mean the same failure. */
  readonly signatures?: readonly (string | null)[];
  /** For each group, whether its failure was compared only by test and line, because its message varies. */
  readonly loose?: readonly boolean[];
  /** The tests that failed in the whole run; absent if they are not known by name. */
  readonly failed?: readonly string[];
  /** Whether the whole run passed, not only without these failures. */
  readonly isGreen?: boolean;
  /** If the tree did not build: the changes that the messages are about. */
  readonly bound?: BoundChanges;
  readonly tookMs: number;
  /** The same files ran before, for another set of hunks: nothing ran for this one. */
  readonly isKnown?: true;
  /** The time for all runs was up before this one ended: it shows nothing, and no other run can be made. */
  readonly isLate?: true;
}

/** Changes that messages of a build are about, by whether the tree that did not build had them. */
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

/** Everything observed so far. Search procedures ask it; what it does not know becomes the next experiment. */
export interface Notebook {
  readonly seen: PastExperiment[];
  spentMs: number;
  /** No run is left: nothing more can be found out. */
  isSpent: boolean;
  /** Hunks that are reverted in every tree from now on. */
  fixed: readonly number[];
  readonly limits: { readonly runs: number; readonly timeMs: number };
}

export type Experiments<T> = Generator<Experiment, T, RunOutcome>;

export const keyOf = (ids: readonly number[]): string => [...new Set(ids)].sort((a, b) => a - b).join(",");

/** Counts the outcomes that were real runs, and not reused for equal files. */
export const runCount = (seen: readonly PastExperiment[]): number =>
  seen.filter(({ outcome }) => outcome.isKnown !== true).length;

/** Returns the runs of a tree so far. */
export function runsOf({ seen, fixed }: Notebook, without: readonly number[]): PastExperiment[] {
  const key = keyOf([...without, ...fixed]);
  return seen.filter((each) => each.key === key);
}

/** Returns the outcomes of a tree after the given total number of runs; known outcomes are not run again. */
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

/** Combines several runs of one tree into one outcome. */
function together(outcomes: readonly Outcome[]): Outcome {
  const said = outcomes.filter((outcome) => outcome !== "cannot-apply");
  if (said.length === 0) return "cannot-apply";
  if (said.includes("flaky") || (said.includes("pass") && said.some((outcome) => outcome !== "pass"))) return "flaky";
  return said.includes("fail-same") ? "fail-same" : said[0]!;
}
