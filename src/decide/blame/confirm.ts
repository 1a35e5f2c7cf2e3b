import { countText } from "../../stdx/plain-text.ts";
import { rankedCause, type Cause } from "./cause.ts";
import { keyOf, type Experiments, type Outcome } from "./experiments.ts";
import {
  belongTogether,
  complement,
  contextFor,
  isBound,
  outcomeOnBase,
  outcomeWithout,
  removalSet,
  type Search,
} from "./search.ts";

/** A set of hunks that is held to be the cause, with what has to go and to come along with it. */
interface Claim {
  readonly kind: "culprit" | "multi" | "joint";
  readonly culprits: readonly number[];
  /** Innocent hunks that have to be taken back too, because the tree does not build otherwise. */
  readonly taken: readonly number[];
  /** Innocent hunks without which the culprits do not build on the base. */
  readonly surroundings: readonly number[];
}

/** More than these, and no smaller set could be found: that is no answer. */
const MOST_TOGETHER = 4;
/** So many are named then. */
const MOST_NAMED = 5;
/** So many hunks are looked into where none could be taken back, and so many of their parts are tried. */
const MOST_OPENED = 4;
const MOST_PARTS = 8;

/** Searches for the cause of one group of failures, and proves it both ways. */
export function* provenCause(search: Search): Experiments<Cause> {
  const { book } = search;
  const removal = yield* removalSet(search);
  if (removal === null) {
    if (book.seen.some(({ outcome }) => outcome.outcomes[search.group] === "flaky"))
      return rankedCause("flaky", "the same tree ended in different ways");
    if (book.isSpent) return rankedCause("unknown", "no runs were left for the search");
    const inside = yield* causeInParts(search, search.order.slice(0, MOST_OPENED));
    return inside ?? rankedCause("too-broad", "what changed could not be taken apart");
  }
  const split = isBound(search, removal) ? null : yield* findCulprits(search, removal);
  const inside = split === null ? yield* causeInParts(search, removal) : null;
  if (inside !== null) return inside;
  const isOneName = (ids: readonly number[]): boolean =>
    ids.length > 1 && search.renames.some((hunks) => ids.every((id) => hunks.includes(id)));
  if (isOneName(split?.culprits ?? removal)) return likeliestOf(search, removal);
  if (split === null && belongTogether(search, removal)) return likeliestOf(search, removal);
  if (split === null) {
    if (removal.length <= MOST_TOGETHER)
      return rankedCause(
        "multi",
        "the tests pass only without all of them; they could not be taken apart further",
        removal,
      );
    // A list of everything is no answer: the likeliest of them are named.
    const likeliest = [...removal].sort((a, b) => search.shareOf(b) - search.shareOf(a)).slice(0, MOST_NAMED);
    const because = `the tests pass only without ${removal.length} changes, which could not be taken apart further`;
    return rankedCause("too-broad", because, likeliest);
  }
  const { culprits, taken } = split;
  const kind = culprits.length > 1 ? "multi" : "culprit";
  if (!split.isSure)
    return rankedCause(
      kind,
      "the tests pass only without all of them, but some fail by themselves in another way",
      culprits,
    );
  if (split.hasUnclear) return yield* shownByRemoval(search, kind, culprits, taken);
  const alone = yield* outcomeOnBase(search, culprits);
  if (alone === "fail-same") return yield* confirmClaim(search, { kind, culprits, taken, surroundings: [] });
  const context = yield* contextFor(search, culprits);
  const sorted = context === null ? null : yield* sortedContext(search, context);
  if (sorted === null) return yield* shownByRemoval(search, kind, culprits, taken);
  const { partners, surroundings } = sorted;
  return yield* confirmClaim(search, {
    kind: partners.length > 0 ? "joint" : kind,
    culprits: [...culprits, ...partners],
    taken,
    surroundings,
  });
}

/**
 * Below the hunk: hunks that cannot be taken back by themselves are taken apart into statements and lines, and each of
 * the likeliest is tried alone. If several cure the failure, the one that also causes it on the base is the cause;
 * else the one without which the whole run passes.
 */
function* causeInParts(search: Search, hunks: readonly number[]): Experiments<Cause | null> {
  const opened = hunks.flatMap((id) => search.parts.get(id) ?? [id]);
  if (opened.length === hunks.length) return null;
  const parts = [...opened].sort((a, b) => search.shareOf(b) - search.shareOf(a)).slice(0, MOST_PARTS);
  const inner: Search = { ...search, order: [...opened, ...complement(search, hunks)] };
  const cures: number[] = [];
  for (const id of parts) {
    if (search.book.isSpent) break;
    if ((yield* outcomeWithout(inner, [id])) !== "pass") continue;
    if ((yield* outcomeOnBase(inner, [id])) === "fail-same")
      return yield* confirmClaim(inner, { kind: "culprit", culprits: [id], taken: [], surroundings: [] });
    cures.push(id);
  }
  const isGreen = (id: number): boolean =>
    search.book.seen.some(({ key, outcome }) => key === keyOf([id]) && outcome.isGreen === true);
  const best = cures.find(isGreen) ?? cures[0];
  if (best === undefined) return null;
  const cause = yield* shownByRemoval(inner, "culprit", [best], []);
  if (cures.length === 1) return cause;
  const others = countText(cures.length - 1, "other part", "other parts");
  return { ...cause, isShown: false, because: `${cause.because}; without ${others} the tests pass too` };
}

const SHOWN_RUNS = 3;

/** One direction of the proof, run three times; no other run may contradict it. */
function* shownByRemoval(
  search: Search,
  kind: "culprit" | "multi",
  culprits: readonly number[],
  taken: readonly number[],
): Experiments<Cause> {
  const without = [...culprits, ...taken];
  const outcome = yield* outcomeWithout(search, without, SHOWN_RUNS, "confirm");
  const runs = search.book.seen.filter((each) => each.key === keyOf(without)).length;
  const isShown =
    outcome === "pass" && runs >= SHOWN_RUNS && !isContradicted(search, { kind, culprits, taken, surroundings: [] });
  const because = isShown
    ? `without it the tests pass, ${runs} of ${runs} times; the other direction could not be shown`
    : "without it the tests pass; the other direction could not be shown";
  return { ...rankedCause(kind, because, culprits), isShown };
}

/** Of hunks that go only together, because they share their names, one holds the cause as a rule. */
function likeliestOf(search: Search, removal: readonly number[]): Cause {
  const [likeliest] = [...removal].sort((a, b) => search.shareOf(b) - search.shareOf(a));
  const others = `${countText(removal.length - 1, "other that shares", "others that share")} its names`;
  const because = `it can be taken back only with ${others}, and is the likeliest of them`;
  return { ...rankedCause("culprit", because, [likeliest!]), isEntangled: true };
}

/**
 * Of several hunks that have to go, which are to blame? One is, if the tests still fail as recorded with it in and the
 * others out, or with it alone on the base; or if both fail in one other way. One that passes alone on the base, or
 * cannot be there alone while others fail by themselves, only has to go along. `null`: no run can tell.
 */
function* findCulprits(search: Search, removal: readonly number[]): Experiments<Split | null> {
  if (removal.length === 1) return { culprits: removal, taken: [], isSure: true, hasUnclear: false };
  if (removal.length > 2 * MOST_TOGETHER) return null;
  const culprits: number[] = [];
  const taken: number[] = [];
  const unclear: number[] = [];
  const strangers: number[] = [];
  for (const id of removal) {
    const others = removal.filter((each) => each !== id);
    const within = yield* outcomeWithout(search, others);
    if (within === "fail-same") {
      culprits.push(id);
      continue;
    }
    const alone = yield* outcomeOnBase(search, [id]);
    if (alone === "fail-same") culprits.push(id);
    else if (alone === "fail-other" && within === "fail-other" && failsAlike(search, others, id)) {
      culprits.push(id);
      strangers.push(id);
    } else if (alone === "pass") taken.push(id);
    else unclear.push(id);
  }
  if (culprits.length === 0 || culprits.length > MOST_TOGETHER) return null;
  if (taken.length > 0 && (yield* outcomeOnBase(search, taken)) !== "pass") return null;
  if (unclear.length > 0 && (yield* outcomeOnBase(search, culprits)) !== "fail-same") return null;
  // Where some explain the failure by themselves, one that fails in another way may be half of a change and no cause.
  const isSure = strangers.length === 0 || strangers.length === culprits.length;
  // One that uses a culprit's names is not there without it because it does not build.
  const hasUnclear = unclear.some((id) => !culprits.some((culprit) => belongTogether(search, [culprit, id])));
  return { culprits, taken: [...taken, ...unclear], isSure, hasUnclear };
}

interface Split {
  readonly culprits: readonly number[];
  readonly taken: readonly number[];
  /** Does each of them have a part in the failure as it was recorded? */
  readonly isSure: boolean;
  /** One that has to go along was never seen without the culprits, and no name says why: it may be a culprit too. */
  readonly hasUnclear: boolean;
}

/** Does a hunk fail in one way, with the other suspects out of the iteration and alone on the base? */
function failsAlike(search: Search, others: readonly number[], id: number): boolean {
  const [within, alone] = [signatureOf(search, others), signatureOf(search, complement(search, [id]))];
  return within !== null && within === alone;
}

function signatureOf({ book, group }: Search, without: readonly number[]): string | null {
  const key = keyOf(without);
  return book.seen.find((each) => each.key === key)?.outcome.signatures?.[group] ?? null;
}

/** What came to the culprits: hunks without which the failure is gone are partners, those that do not matter are not. */
function* sortedContext(
  search: Search,
  context: readonly number[],
): Experiments<{ partners: number[]; surroundings: number[] } | null> {
  const partners: number[] = [];
  const surroundings: number[] = [];
  // They must be innocent by themselves: on the base, without the culprits, they pass.
  if (context.length > MOST_TOGETHER || (yield* outcomeOnBase(search, context)) !== "pass") return null;
  for (const id of context) {
    const outcome = yield* outcomeWithout(search, [id]);
    if (outcome === "pass") partners.push(id);
    else if (outcome === "fail-same") surroundings.push(id);
    else return null;
  }
  return { partners, surroundings };
}

/** Both ways again, in fresh runs; and every run ever made must agree. */
function* confirmClaim(search: Search, claim: Claim): Experiments<Cause> {
  const { kind, culprits } = claim;
  const trials = trialsOf(search, claim);
  for (const { without, expected } of trials) {
    // The recorded failure is a run of the untouched tree as well.
    const times = without.length === 0 ? 1 : 2;
    const outcome = yield* outcomeWithout(search, without, times, "confirm");
    if (outcome === "flaky")
      return { kind: "flaky", proven: true, hunks: [], because: "the same tree passed and failed" };
    if (!expected.includes(outcome)) return rankedCause(kind, "a run that was to confirm it ended otherwise", culprits);
    const isRepeated = search.book.seen.filter((each) => each.key === keyOf(without)).length >= times;
    if (!isRepeated) return rankedCause(kind, "no runs were left to confirm it", culprits);
  }
  if (isContradicted(search, claim)) return rankedCause(kind, "some runs on the way contradict it", culprits);
  const cure = kind === "joint" ? culprits.slice(0, 1) : [...culprits, ...claim.taken];
  return { kind, proven: true, hunks: culprits, because: PROVEN[kind], cure };
}

/** The trees on which a claim rests, each to be seen twice at least. */
function trialsOf(
  search: Search,
  { kind, culprits, taken, surroundings }: Claim,
): { without: readonly number[]; expected: readonly Outcome[] }[] {
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
    trials.push({ without: [...culprits, ...taken], expected: ["pass"] });
    if (culprits.length > 1)
      for (const id of culprits)
        trials.push({ without: [...culprits, ...taken].filter((each) => each !== id), expected: fails });
  }
  trials.push({ without: complement(search, [...culprits, ...surroundings]), expected: ["fail-same"] });
  trials.push({ without: [], expected: ["fail-same"] });
  return trials;
}

const PROVEN = {
  culprit: "without it the tests pass; alone on the base it fails in the same way",
  multi: "the tests pass only without all of them; together on the base they fail in the same way",
  joint: "without any one of them the tests pass; together on the base they fail in the same way",
};

/**
 * Does any run say otherwise? With all culprits out (of a joint cause: with one of them out) a tree may not fail as
 * recorded, and with all of them in it may not pass.
 */
function isContradicted({ book, group, parts }: Search, { kind, culprits }: Claim): boolean {
  const wholeOf = new Map([...parts].flatMap(([hunk, own]) => own.map((id) => [id, hunk] as const)));
  return book.seen.some(({ without, outcome: told }) => {
    const outcome = told.outcomes[group];
    const isOut = (id: number): boolean => without.includes(id) || without.includes(wholeOf.get(id) ?? id);
    const out = culprits.filter(isOut).length;
    if (kind === "joint" ? out > 0 : out === culprits.length) return outcome === "fail-same";
    return out === 0 && outcome === "pass";
  });
}
