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

/** More than these, and no smaller set could be found: that is no answer. */
const MOST_TOGETHER = 4;
/** So many are named then. */
const MOST_NAMED = 5;
/** So many hunks are looked into where none could be taken back, and so many of their parts are tried. */
const MOST_OPENED = 4;
const MOST_PARTS = 8;

/** Searches for the cause of one group of failures, and proves it both ways. */
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
    // Those may be culprits too, unless the tests pass with them in, without a part of the culprit.
    const part = yield* causeInParts(search, culprits, MOST_EARLY_PARTS);
    return part?.proven === true ? part : yield* shownByRemoval(search, kind, culprits, taken);
  }
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

/** Hunks that have to go together, and of which no run tells which did it. */
function inseparable(search: Search, removal: readonly number[]): Cause {
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

/** So many of what goes only together are tried alone on the base. */
const MOST_ALONE = 3;

/**
 * Of hunks that have to go because the tree does not build with one of them out, one is the cause if it fails alone on
 * the base as recorded, while the others pass there, or stay in without a part of it. If none does, it is below the hunk.
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
    // What does not build without it may be a culprit too, unless the tests pass with that in.
    const part = yield* causeInParts(search, [id], MOST_EARLY_PARTS);
    return part?.proven === true ? part : yield* shownByRemoval(search, "culprit", [id], taken);
  }
  const inside = yield* causeInParts(search, likeliest.slice(0, MOST_OPENED));
  return inside ?? likeliestOf(search, removal);
}

/** Tests that came with what is taken back ask for it: they go along, if the whole run passes then. */
function* withTests(search: Search, removal: readonly number[]): Experiments<readonly number[]> {
  const isGreen = (ids: readonly number[]): boolean =>
    runsOf(search.book, ids).some(({ outcome }) => outcome.isGreen === true);
  const more = search.order.filter((id) => search.inTests.has(id) && !removal.includes(id));
  if (more.length === 0 || isGreen(removal)) return removal;
  const all = [...removal, ...more];
  return (yield* outcomeWithout(search, all)) === "pass" ? all : removal;
}

/**
 * Below the hunk: hunks that cannot be taken back by themselves are taken apart into statements and lines, and each of
 * the likeliest is tried alone. If several cure the failure, the one that also causes it on the base is the cause;
 * else the one without which the whole run passes.
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
    // A part may not stand alone on the base where its hunk does.
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

/** So many parts of the likeliest hunks are tried before others are taken along with them, and of so many hunks. */
const MOST_EARLY_PARTS = 4;
const MOST_EARLY_HUNKS = 2;

/** Where the likeliest hunk cannot go alone, a part of it often can: that takes fewer runs than all that hangs on it. */
function* causeInLikeliest(search: Search): Experiments<Cause | null> {
  const likeliest = search.order.slice(0, MOST_EARLY_HUNKS).filter((id) => search.shareOf(id) >= LIKELY);
  const [first] = likeliest;
  if (first === undefined || (yield* outcomeWithout(search, [first])) !== "cannot-apply") return null;
  return yield* causeInParts(search, likeliest, MOST_EARLY_PARTS);
}

/** A hunk this likely is looked into early. */
const LIKELY = 0.25;

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
  return { culprits, taken: [...taken, ...unclear], isSure, hasUnclear: unclear.length > 0 };
}

interface Split {
  readonly culprits: readonly number[];
  readonly taken: readonly number[];
  /** Does each of them have a part in the failure as it was recorded? */
  readonly isSure: boolean;
  /** One that has to go along was never seen without the culprits: it may be a culprit too. */
  readonly hasUnclear: boolean;
}

/** Does a hunk fail in one way, with the other suspects out of the iteration and alone on the base? */
function failsAlike(search: Search, others: readonly number[], id: number): boolean {
  const [within, alone] = [signatureOf(search, others), signatureOf(search, complement(search, [id]))];
  return within !== null && within === alone;
}

function signatureOf({ book, group }: Search, without: readonly number[]): string | null {
  return runsOf(book, without)[0]?.outcome.signatures?.[group] ?? null;
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
