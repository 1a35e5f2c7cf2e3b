import { keyOf, runsOf, type Experiments, type Outcome } from "./experiments.ts";
import { complement, outcomeWithout, type Search } from "./search.ts";

export type ProofKind =
  | "culprit"
  | "multi"
  | "joint"
  | "slip"
  | "unmet"
  | "pre-existing"
  | "environment"
  | "flaky"
  | "too-broad"
  | "unknown";

/** The result of the runs for one group of failures. */
export interface Cause {
  readonly kind: ProofKind;
  readonly proven: boolean;
  readonly hunks: readonly number[];
  readonly because: string;
  /** The changes to revert so that the tests pass: the culprits, and what does not build without them. */
  readonly cure?: readonly number[];
  /** The tests pass without it every time; only the other direction could not be run. */
  readonly isShown?: boolean;
  /** The cause of these failures is proven, but other failures remain without it. */
  readonly isPartial?: boolean;
  /** Of the cure, the changes of tests that were reverted so that the tests are as on the base. */
  readonly oldTests?: readonly number[];
  /** It is not proven because the changes depend on each other; no run contradicted another. */
  readonly isEntangled?: boolean;
}

export function rankedCause(kind: ProofKind, because: string, hunks: readonly number[] = []): Cause {
  return { kind, proven: false, hunks, because };
}

/** A set of hunks that is assumed to be the cause, with the hunks that must be reverted or kept with it. */
export interface Claim {
  readonly kind: "culprit" | "multi" | "joint";
  readonly culprits: readonly number[];
  /** Innocent hunks that must be reverted too, because the tree does not build otherwise. */
  readonly taken: readonly number[];
  /** Innocent hunks that the culprits need to build on the base. */
  readonly surroundings: readonly number[];
  /** The part to revert, if it is only a part of the culprit. */
  readonly part?: number;
}

const SHOWN_RUNS = 3;

/** Runs one direction of the proof three times; no other run may contradict it. */
export function* shownByRemoval(
  search: Search,
  kind: "culprit" | "multi",
  culprits: readonly number[],
  taken: readonly number[],
): Experiments<Cause> {
  const without = [...culprits, ...taken];
  const outcome = yield* outcomeWithout(search, without, SHOWN_RUNS, "confirm");
  const runs = runsOf(search.book, without).length;
  const isShown =
    outcome === "pass" && runs >= SHOWN_RUNS && !isContradicted(search, { kind, culprits, taken, surroundings: [] });
  const because = isShown
    ? `without it the tests pass, ${runs} of ${runs} times; the other direction could not be shown`
    : "without it the tests pass; the other direction could not be shown";
  return { ...rankedCause(kind, because, culprits), isShown };
}

/** Runs both directions again; every earlier run must agree, too. */
export function* confirmClaim(search: Search, claim: Claim): Experiments<Cause> {
  const { kind, culprits } = claim;
  const trials = trialsOf(search, claim);
  for (const { without, expected } of trials) {
    const times = isSeenEnough(search, claim, without) ? 1 : 2;
    const outcome = yield* outcomeWithout(search, without, times, "confirm");
    if (outcome === "flaky")
      return { kind: "flaky", proven: true, hunks: [], because: "the same tree passed and failed" };
    if (!expected.includes(outcome)) return rankedCause(kind, "a run that was to confirm it ended otherwise", culprits);
    const isRepeated = runsOf(search.book, without).length >= times;
    if (!isRepeated) return rankedCause(kind, "no runs were left to confirm it", culprits);
    if (expected === SAME && !(yield* isSeenExactly(search, without)))
      return rankedCause(
        kind,
        "the failure says something else each time, and alone on the base never the same",
        culprits,
      );
  }
  if (isContradicted(search, claim)) return rankedCause(kind, "some runs on the way contradict it", culprits);
  const cure = kind === "joint" ? culprits.slice(0, 1) : removalOf(claim);
  return { kind, proven: true, hunks: culprits, because: PROVEN[kind], cure };
}

/**
 * Whether a tree was seen often enough. The recorded failure is also a run of the untouched tree. If the first guess
 * was right, no run was made to choose it: the base and the tree without it are two runs that passed without the cause.
 */
function isSeenEnough({ book }: Search, { kind, culprits, taken }: Claim, without: readonly number[]): boolean {
  if (without.length === 0) return true;
  const first = book.seen.find(({ purpose }) => purpose === "search");
  const isFirst = first !== undefined && first.key === keyOf([...culprits, ...book.fixed]);
  return kind === "culprit" && taken.length === 0 && isFirst && keyOf(culprits) === keyOf(without);
}

const SAME: readonly Outcome[] = ["fail-same"];
/** How often a tree with a varying failure runs, until it fails exactly as recorded. */
const MOST_VARIED = 4;

/** Whether a run of a tree failed exactly as recorded. A tree with a varying failure runs more often for that. */
function* isSeenExactly(search: Search, without: readonly number[]): Experiments<boolean> {
  const { book, group } = search;
  const isExact = (): boolean => runsOf(book, without).some(({ outcome }) => outcome.loose?.[group] !== true);
  for (let times = runsOf(book, without).length; !isExact() && !book.isSpent && times < MOST_VARIED; times++)
    if ((yield* outcomeWithout(search, without, times + 1, "confirm")) !== "fail-same") return false;
  return isExact();
}

const removalOf = ({ culprits, taken, part }: Claim): readonly number[] =>
  part === undefined ? [...culprits, ...taken] : [part];

/** Returns the trees that a claim depends on; each must be run at least twice. */
function trialsOf(search: Search, claim: Claim): { without: readonly number[]; expected: readonly Outcome[] }[] {
  const { kind, culprits, taken, surroundings } = claim;
  const fails: readonly Outcome[] = ["fail-same", "fail-other", "cannot-apply"];
  const trials: { without: readonly number[]; expected: readonly Outcome[] }[] = [];
  if (kind === "joint") {
    for (const id of culprits) {
      trials.push({ without: [id], expected: ["pass"] });
      trials.push({
        without: complement(
          search,
          culprits.filter((each) => each !== id),
        ),
        expected: ["pass", "fail-other", "cannot-apply"],
      });
    }
  } else {
    trials.push({ without: removalOf(claim), expected: ["pass"] });
    if (culprits.length > 1)
      for (const id of culprits)
        trials.push({ without: [...culprits, ...taken].filter((each) => each !== id), expected: fails });
  }
  trials.push({ without: complement(search, [...culprits, ...surroundings]), expected: SAME });
  trials.push({ without: [], expected: SAME });
  return trials;
}

const PROVEN = {
  culprit: "without it the tests pass; alone on the base it fails in the same way",
  multi: "the tests pass only without all of them; together on the base they fail in the same way",
  joint: "without any one of them the tests pass; together on the base they fail in the same way",
};

/**
 * Whether a run contradicts the claim. Without all culprits (of a joint cause: without one of them), a tree must not
 * fail as recorded, and with all of them, it must not pass. With a part of a culprit reverted, it may do either.
 */
function isContradicted(search: Search, { kind, culprits }: Claim): boolean {
  const { book, group, parts } = search;
  const wholeOf = new Map([...parts].flatMap(([hunk, own]) => own.map((id) => [id, hunk] as const)));
  // On the base, new code that contains a culprit may not be called yet.
  const others = search.order.filter((id) => !wholeOf.has(id));
  const isUnused = (without: readonly number[]): boolean =>
    culprits.some((id) => wholeOf.has(id)) && others.every((id) => without.includes(id));
  return book.seen.some(({ without, outcome: result }) => {
    const outcome = result.outcomes[group];
    const isOut = (id: number): boolean => without.includes(id) || without.includes(wholeOf.get(id) ?? id);
    const out = culprits.filter(isOut).length;
    if (culprits.some((id) => parts.get(id)?.some((part) => without.includes(part)) === true)) return false;
    if (kind === "joint" ? out > 0 : out === culprits.length) return outcome === "fail-same";
    return out === 0 && outcome === "pass" && !isUnused(without);
  });
}
