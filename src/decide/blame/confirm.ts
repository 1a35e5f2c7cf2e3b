import { countText } from "../../stdx/plain-text.ts";
import { confirmClaim, rankedCause, shownByRemoval, type Cause } from "./cause.ts";
import { runsOf, type Experiments } from "./experiments.ts";
import {
  belongTogether,
  complement,
  contextFor,
  isBound,
  outcomeOnBase,
  outcomeWithout,
  removalSet,
  tryLikeliest,
  type Search,
} from "./search.ts";

/** If no set of at most this many was found, the answer is too broad. */
const MOST_TOGETHER = 4;
/** The number of hunks named in a too-broad answer. */
const MOST_NAMED = 5;
/** How many hunks are split if none can be reverted, and how many of their parts are tried. */
const MOST_OPENED = 4;
const MOST_PARTS = 8;

/** Searches for the cause of one group of failures, and proves it in both directions. */
export function* provenCause(given: Search): Experiments<Cause> {
  const { book } = given;
  const { cure, search } = yield* tryLikeliest(given);
  const early = cure === null ? yield* causeInLikeliest(given) : null;
  if (early?.proven === true || early?.isShown === true || early?.isEntangled === true) return early;
  const found = cure === null ? yield* removalSet(search) : { ids: [cure], tiedTo: null };
  if (found === null) {
    if (early !== null) return early;
    if (book.seen.some(({ outcome }) => outcome.outcomes[search.group] === "flaky"))
      return rankedCause("flaky", "the same tree ended in different ways");
    if (book.isSpent) return rankedCause("unknown", "no runs were left for the search");
    const inside = yield* causeInParts(search, search.order.slice(0, MOST_OPENED));
    return inside ?? rankedCause("too-broad", "what changed could not be taken apart");
  }
  const removal = found.ids;
  const tied = found.tiedTo === null || removal.length === 1 ? null : yield* tiedCause(search, removal, found.tiedTo);
  if (tied !== null) return tied.proven ? tied : (early ?? tied);
  const split = isBound(search, removal) ? null : yield* findCulprits(search, removal);
  const inside = split === null ? yield* causeInParts(search, removal) : null;
  if (inside !== null) return inside;
  const isOneName = (ids: readonly number[]): boolean =>
    ids.length > 1 && search.renames.some((hunks) => ids.every((id) => hunks.includes(id)));
  if (isOneName(split?.culprits ?? removal)) return likeliestOf(search, removal);
  if (split === null && belongTogether(search, removal)) return likeliestOf(search, removal);
  if (split === null) return inseparable(search, removal);
  const { culprits, taken } = split;
  const kind = culprits.length > 1 ? "multi" : "culprit";
  if (!split.isSure)
    return rankedCause(
      kind,
      "the tests pass only without all of them, but some fail by themselves in another way",
      culprits,
    );
  if (split.hasUnclear) {
    // Unclear hunks may be culprits too, unless the tests pass with them and without a part of the culprit.
    const part = yield* causeInParts(search, culprits, MOST_EARLY_PARTS);
    return part?.proven === true ? part : yield* shownByRemoval(search, kind, culprits, taken);
  }
  const alone = yield* outcomeOnBase(search, culprits);
  if (alone === "fail-same") return yield* confirmClaim(search, { kind, culprits, taken, surroundings: [] });
  const context = yield* contextFor(search, culprits);
  const sorted = context === null ? null : yield* sortedContext(search, context);
  if (sorted === null)
    return calledCause(search, culprits, context ?? []) ?? (yield* shownByRemoval(search, kind, culprits, taken));
  const { partners, surroundings } = sorted;
  return yield* confirmClaim(search, {
    kind: partners.length > 0 ? "joint" : kind,
    culprits: [...culprits, ...partners],
    taken,
    surroundings,
  });
}

/**
 * A change that only turns to new code cannot be there without it, and that code has other users. The mistake is rather in
 * what it calls, which no run can take back alone. `null` if it is not like that.
 */
function calledCause({ uses }: Search, culprits: readonly number[], context: readonly number[]): Cause | null {
  const called = context.filter((id) => culprits.some((user) => uses.get(user)?.includes(id) === true));
  if (culprits.length !== 1 || called.length !== 1) return null;
  const because =
    "the tests pass without one of its users, which changed in nothing else; it cannot be taken back alone";
  return { ...rankedCause("culprit", because, called), isEntangled: true };
}

/** Reports hunks that can only be reverted together, of which no run shows the cause. */
function inseparable(search: Search, removal: readonly number[]): Cause {
  if (removal.length <= MOST_TOGETHER)
    return rankedCause(
      "multi",
      "the tests pass only without all of them; they could not be taken apart further",
      removal,
    );
  // A list of everything is not an answer: name the likeliest of them.
  const likeliest = [...removal].sort((a, b) => search.shareOf(b) - search.shareOf(a)).slice(0, MOST_NAMED);
  const because = `the tests pass only without ${removal.length} changes, which could not be taken apart further`;
  return rankedCause("too-broad", because, likeliest);
}

/** How many hunks that can only be reverted together are tried alone on the base. */
const MOST_ALONE = 3;

/**
 * Finds the cause among hunks that must be reverted together, because the tree does not build without only one of them.
 * One is the cause if it alone fails on the base as recorded, while the others pass there, or while the tests pass with
 * them and without a part of it. If none is, the cause is searched in parts of the hunks.
 */
function* tiedCause(search: Search, removal: readonly number[], tiedTo: number): Experiments<Cause | null> {
  const whole = yield* withTests(search, removal);
  const byShare = [...removal].sort((a, b) => search.shareOf(b) - search.shareOf(a));
  const likeliest = [tiedTo, ...byShare.filter((id) => id !== tiedTo)];
  for (const id of likeliest.slice(0, MOST_ALONE)) {
    if (search.book.isSpent) break;
    if ((yield* outcomeOnBase(search, [id])) !== "fail-same") continue;
    const taken = whole.filter((each) => each !== id);
    if ((yield* outcomeOnBase(search, taken)) === "pass")
      return yield* confirmClaim(search, { kind: "culprit", culprits: [id], taken, surroundings: [] });
    // Hunks that do not build without it may be culprits too, unless the tests pass with them.
    const part = yield* causeInParts(search, [id], MOST_EARLY_PARTS);
    return part?.proven === true ? part : yield* shownByRemoval(search, "culprit", [id], taken);
  }
  const inside = yield* causeInParts(search, likeliest.slice(0, MOST_OPENED));
  return inside ?? likeliestOf(search, removal);
}

/** Adds tests that came with the reverted code and need it, if the whole run then passes. */
function* withTests(search: Search, removal: readonly number[]): Experiments<readonly number[]> {
  const isGreen = (ids: readonly number[]): boolean =>
    runsOf(search.book, ids).some(({ outcome }) => outcome.isGreen === true);
  const more = search.order.filter((id) => search.inTests.has(id) && !removal.includes(id));
  if (more.length === 0 || isGreen(removal)) return removal;
  const all = [...removal, ...more];
  return (yield* outcomeWithout(search, all)) === "pass" ? all : removal;
}

/**
 * Searches below the hunk: hunks that cannot be reverted alone are split into statements and lines, and each of the
 * likeliest is tried alone. If reverting any of several cures the failure, the cause is the one that also fails on the
 * base, or else the one without which the whole run passes.
 */
function* causeInParts(search: Search, hunks: readonly number[], most = MOST_PARTS): Experiments<Cause | null> {
  const opened = hunks.flatMap((id) => search.parts.get(id) ?? [id]);
  if (opened.length === hunks.length) return null;
  const parts = opened
    .filter((id) => search.shareOf(id) > 0)
    .sort((a, b) => search.shareOf(b) - search.shareOf(a))
    .slice(0, most);
  const inner: Search = { ...search, order: [...opened, ...complement(search, hunks)] };
  const cures: number[] = [];
  for (const id of parts) {
    if (search.book.isSpent) break;
    if ((yield* outcomeWithout(inner, [id])) !== "pass") continue;
    const claim = { kind: "culprit", taken: [], surroundings: [] } as const;
    // A part may not work alone on the base when its hunk does.
    const whole = hunks.find((hunk) => search.parts.get(hunk)?.includes(id) === true);
    const isWholeFirst = whole !== undefined && isGreenWithout(search, id);
    if (isWholeFirst && (yield* outcomeOnBase(search, [whole])) === "fail-same")
      return yield* confirmClaim(search, { ...claim, culprits: [whole], part: id });
    if ((yield* outcomeOnBase(inner, [id])) === "fail-same")
      return yield* confirmClaim(inner, { ...claim, culprits: [id] });
    if (whole !== undefined && !isWholeFirst && (yield* outcomeOnBase(search, [whole])) === "fail-same")
      return { ...rankedCause("culprit", NEEDED_PART, [id]), isEntangled: true };
    cures.push(id);
  }
  const best = cures.find((id) => isGreenWithout(search, id)) ?? cures[0];
  if (best === undefined) return null;
  const cause = yield* shownByRemoval(inner, "culprit", [best], []);
  const isGreen = isGreenWithout(search, best);
  if (cures.length === 1) return { ...cause, isShown: cause.isShown === true && isGreen };
  const others = countText(cures.length - 1, "other part", "other parts");
  return { ...cause, isShown: false, because: `${cause.because}; without ${others} the tests pass too` };
}

const NEEDED_PART =
  "without it this failure is gone, and its change alone on the base fails in the same way; but other tests need it";

const isGreenWithout = ({ book }: Search, id: number): boolean =>
  runsOf(book, [id]).some(({ outcome }) => outcome.isGreen === true);

/** How many parts of the likeliest hunks, and of how many hunks, are tried before others are reverted with them. */
const MOST_EARLY_PARTS = 4;
const MOST_EARLY_HUNKS = 2;

/** Tries parts of the likeliest hunk if it cannot be reverted alone, which takes fewer runs than the search. */
function* causeInLikeliest(search: Search): Experiments<Cause | null> {
  const likeliest = search.order.slice(0, MOST_EARLY_HUNKS).filter((id) => search.shareOf(id) >= LIKELY);
  const [first] = likeliest;
  if (first === undefined || (yield* outcomeWithout(search, [first])) !== "cannot-apply") return null;
  return yield* causeInParts(search, likeliest, MOST_EARLY_PARTS);
}

/** A hunk with at least this share is split early. */
const LIKELY = 0.25;

/**
 * Names the likeliest of hunks that share names and can only be reverted together: usually one of them holds the cause.
 */
function likeliestOf(search: Search, removal: readonly number[]): Cause {
  const [likeliest] = [...removal].sort((a, b) => search.shareOf(b) - search.shareOf(a));
  const others = `${countText(removal.length - 1, "other that shares", "others that share")} its names`;
  const because = `it can be taken back only with ${others}, and is the likeliest of them`;
  return { ...rankedCause("culprit", because, [likeliest!]), isEntangled: true };
}

/**
 * Finds the culprits among several hunks that must be reverted. A hunk is a culprit if the tests fail as recorded with
 * it and without the others, or with it alone on the base, or if both fail in the same other way. A hunk that passes
 * alone on the base, or that cannot run there while others fail by themselves, only needs to be reverted with them.
 * `null`: no run can tell.
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
  // If some hunks explain the failure alone, a hunk that fails differently may be half of a change and not a cause.
  const isSure = strangers.length === 0 || strangers.length === culprits.length;
  return { culprits, taken: [...taken, ...unclear], isSure, hasUnclear: unclear.length > 0 };
}

interface Split {
  readonly culprits: readonly number[];
  readonly taken: readonly number[];
  /** Whether each culprit contributes to the failure as it was recorded. */
  readonly isSure: boolean;
  /** A hunk that must be reverted with the culprits was never seen without them: it may be a culprit too. */
  readonly hasUnclear: boolean;
}

/** Whether a hunk fails in the same way without the other suspects and alone on the base. */
function failsAlike(search: Search, others: readonly number[], id: number): boolean {
  const [within, alone] = [signatureOf(search, others), signatureOf(search, complement(search, [id]))];
  return within !== null && within === alone;
}

function signatureOf({ book, group }: Search, without: readonly number[]): string | null {
  return runsOf(book, without)[0]?.outcome.signatures?.[group] ?? null;
}

/** Sorts what the culprits need on the base: partners, without which the failure is gone, and innocent hunks. */
function* sortedContext(
  search: Search,
  context: readonly number[],
): Experiments<{ partners: number[]; surroundings: number[] } | null> {
  const partners: number[] = [];
  const surroundings: number[] = [];
  // They must be innocent: on the base, without the culprits, they pass.
  if (context.length > MOST_TOGETHER || (yield* outcomeOnBase(search, context)) !== "pass") return null;
  for (const id of context) {
    const outcome = yield* outcomeWithout(search, [id]);
    if (outcome === "pass") partners.push(id);
    else if (outcome === "fail-same") surroundings.push(id);
    else return null;
  }
  return { partners, surroundings };
}
