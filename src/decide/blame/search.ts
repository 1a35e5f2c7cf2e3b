import { closedOver } from "./triage.ts";
import { ask, runsOf, type BoundChanges, type Experiments, type Notebook, type Outcome } from "./experiments.ts";
import { takeTogether, type Probe } from "./take-together.ts";

/** What the search for one group of failures works on. */
export interface Search {
  readonly book: Notebook;
  readonly group: number;
  /** Hunks that may be taken back, the likeliest first. */
  readonly order: readonly number[];
  readonly shareOf: (id: number) => number;
  readonly companions: ReadonlyMap<number, readonly number[]>;
  /** All changes of the function that a hunk is in. */
  readonly functions: ReadonlyMap<number, readonly number[]>;
  /** What is below a hunk, the likeliest part first. */
  readonly parts: ReadonlyMap<number, readonly number[]>;
  /** Hunks that follow one name that changed: none of them goes without the others. */
  readonly renames: readonly (readonly number[])[];
  /** Hunks that no failing test can reach. */
  readonly unreached: ReadonlySet<number>;
  /** Hunks in files of tests. */
  readonly inTests: ReadonlySet<number>;
  /** Hunks without which the tests fail in another way. */
  readonly disturbing?: ReadonlySet<number>;
}

/** A hunk this likely is tried by itself: if it is the one, the same run is half of the proof. */
const ALONE_FROM = 0.35;
/** Trees in a row of which nothing can be said, before hunks are tried one by one. */
const MOST_UNCLEAR = 4;
const MOST_UNCLEAR_BOUND = 2;
const MOST_ONE_BY_ONE = 8;
/** So many can be told apart by runs even if they belong together. */
const FEW = 4;
/** Companions beyond this are no hint any more. */
const MOST_NEAR = 6;

/** So many of the likeliest are tried one by one, each of them as much likelier than one drawn by lot, and this likely. */
const MOST_ALONE = 4;
const LIKELIER = 2;
const LEAST_ALONE = 0.04;
const LIKELY_ALONE = 0.15;

/**
 * The likeliest hunks one by one: a run without one is not disturbed by what else is out. One without which the failure
 * is gone is the cure. One without which the tests fail in another way would hide what others do: it stays in until all
 * others are told apart.
 */
export function* tryLikeliest(search: Search): Experiments<{ cure: number | null; search: Search }> {
  const { order } = search;
  const disturbing: number[] = [];
  const least = Math.min(LIKELY_ALONE, Math.max(LEAST_ALONE, LIKELIER / order.length));
  const tied = new Set<number>();
  for (const id of order.slice(0, MOST_ALONE)) {
    if (search.book.isSpent || search.shareOf(id) < least) break;
    if (tied.has(id)) continue;
    const outcome = yield* outcomeWithout(search, [id]);
    if (outcome === "pass") return { cure: id, search };
    if (outcome === "flaky") break;
    // What goes only with others is no use alone, and neither are those others.
    const others = [...(search.companions.get(id) ?? []), ...(boundIn(search, [id])?.kept ?? [])];
    if (outcome === "cannot-apply") for (const other of others) tied.add(other);
    if (outcome === "fail-other" || (outcome === "cannot-apply" && !hasTies(search, id, others))) disturbing.push(id);
  }
  const calm = order.filter((id) => !disturbing.includes(id));
  return { cure: null, search: { ...search, order: [...calm, ...disturbing], disturbing: new Set(disturbing) } };
}

/** Does something say what has to go along with a hunk, or what is below it? */
const hasTies = ({ functions, parts }: Search, id: number, others: readonly number[]): boolean =>
  others.length > 0 || functions.has(id) || parts.has(id);

/**
 * The smallest set of hunks without which the failure is gone, found along the ranking. Taking back a longer part of the
 * ranking never brings the failure back, so the shortest part that helps ends in a hunk that is needed; with that one
 * out, what stands before it is searched again, until what was found is enough by itself.
 */
export function* removalSet(search: Search): Experiments<Removal | null> {
  const found = yield* removalFrom(search, search.order);
  if (found !== null && (found.tiedTo !== null || (!isBound(search, found.ids) && found.ids.length <= FEW)))
    return found;
  // What no failing test can reach is put aside as one group, so that it is not among what cannot be taken apart.
  const reached = search.order.filter((id) => !search.unreached.has(id));
  if (reached.length === search.order.length || reached.length === 0 || search.book.isSpent) return found;
  if (found !== null && !found.ids.some((id) => search.unreached.has(id))) return found;
  if ((yield* outcomeWithout(search, reached)) !== "pass") return found;
  return (yield* removalFrom(search, reached)) ?? found;
}

/** Hunks without which the failure is gone. */
export interface Removal {
  readonly ids: readonly number[];
  /** The one for which the others have to go, as the messages of the build say. */
  readonly tiedTo: number | null;
}

function* removalFrom(search: Search, order: readonly number[]): Experiments<Removal | null> {
  const chosen: number[] = [];
  let pool = [...order];
  while (pool.length > 0 && !search.book.isSpent) {
    const found = yield* boundary(search, pool, {
      run: (ids) => outcomeWithout(search, [...chosen, ...ids]),
      bound: (ids) => boundIn(search, [...chosen, ...ids])?.kept ?? [],
      breaking: (ids) => boundIn(search, [...chosen, ...ids])?.taken ?? [],
      goal: "pass",
    });
    if (found === null) return null;
    chosen.push(...found.unit);
    if ((yield* outcomeWithout(search, chosen)) === "pass") {
      if (found.tiedTo !== null && chosen.length === found.unit.length) return { ids: chosen, tiedTo: found.tiedTo };
      return { ids: isBound(search, chosen) ? chosen : yield* shrunk(search, chosen), tiedTo: null };
    }
    pool = found.before;
  }
  return null;
}

/** What the build of a tree said, where it was run and did not build. */
function boundIn({ book }: Search, without: readonly number[]): BoundChanges | null {
  return runsOf(book, without)[0]?.outcome.bound ?? null;
}

/** What has to come to these hunks on the base, so that the failure is there as it was recorded; the likeliest first. */
export function* contextFor(search: Search, culprits: readonly number[]): Experiments<readonly number[] | null> {
  const chosen: number[] = [];
  // What belongs to them by its names comes first.
  const near = new Set(
    culprits
      .flatMap((id) => search.companions.get(id) ?? [])
      .filter((id) => !culprits.includes(id) && search.order.includes(id)),
  );
  const rest = search.order.filter((id) => !culprits.includes(id));
  let pool = [...rest.filter((id) => near.has(id)), ...rest.filter((id) => !near.has(id))];
  if (near.size > 0 && near.size <= MOST_NEAR) {
    if ((yield* outcomeOnBase(search, [...culprits, ...near])) === "fail-same") pool = pool.slice(0, near.size);
  }
  while (pool.length > 0 && !search.book.isSpent) {
    const found = yield* boundary(search, pool, {
      run: (ids) => outcomeOnBase(search, [...culprits, ...chosen, ...ids]),
      bound: (ids) => boundIn(search, complement(search, [...culprits, ...chosen, ...ids]))?.taken ?? [],
      breaking: (ids) => boundIn(search, complement(search, [...culprits, ...chosen, ...ids]))?.kept ?? [],
      goal: "fail-same",
    });
    if (found === null) return null;
    chosen.push(...found.unit);
    if ((yield* outcomeOnBase(search, [...culprits, ...chosen])) === "fail-same") return chosen;
    pool = found.before;
  }
  return null;
}

/** The iteration with these hunks taken back. */
export function* outcomeWithout(
  { book, group }: Search,
  ids: readonly number[],
  times = 1,
  purpose: "search" | "confirm" = "search",
): Experiments<Outcome> {
  return (yield* ask(book, ids, purpose, times))[group] ?? "cannot-apply";
}

/** The base with nothing but these hunks on it. */
export function* outcomeOnBase(
  search: Search,
  ids: readonly number[],
  times = 1,
  purpose: "search" | "confirm" = "search",
): Experiments<Outcome> {
  return yield* outcomeWithout(search, complement(search, ids), times, purpose);
}

/** Do all of these belong together by their names, and are too many to be told apart? A rename with many places is. */
export function isBound(search: Search, ids: readonly number[]): boolean {
  return ids.length > FEW && belongTogether(search, ids);
}

/** Do all of these hang together by names that came or went with them? */
export function belongTogether({ companions }: Search, ids: readonly number[]): boolean {
  const all = new Set(closedOver(ids.slice(0, 1), companions));
  return ids.every((id) => all.has(id));
}

/** Everything that may be taken back, but these. */
export function complement({ order }: Search, ids: readonly number[]): number[] {
  const kept = new Set(ids);
  return order.filter((id) => !kept.has(id));
}

/**
 * The shortest part of the pool that reaches the goal, by halving what is likely: `unit` is its end, what is needed
 * whatever stands before it. Where nothing can be said of a tree, what belongs to its hunks is taken along; then
 * another cut is tried, and at last single hunks.
 */
function* boundary(
  search: Search,
  pool: readonly number[],
  probe: Probe,
): Experiments<{ unit: readonly number[]; before: number[]; tiedTo: number | null } | null> {
  let order = [...pool];
  let low = 0;
  let high = order.length;
  let unclear = 0;
  const tried = new Set<number>();
  while (high - low > 1 && !search.book.isSpent) {
    if (unclear >= (isBound(search, order.slice(low, high)) ? MOST_UNCLEAR_BOUND : MOST_UNCLEAR)) break;
    const cut = cutOf(search, order, low, high, tried);
    if (cut === null) break;
    const prefix = order.slice(0, cut);
    const { outcome, ids, isTied } = yield* takeTogether(search, prefix, { pool: new Set(order), low, high }, probe);
    if (outcome === "flaky") return null;
    if (outcome === "cannot-apply") {
      unclear++;
      tried.add(cut);
      continue;
    }
    const known = order.slice(0, low);
    const fresh = ids.filter((id) => !known.includes(id));
    const others = order.slice(low).filter((id) => !fresh.includes(id));
    // What broke the build waits until the others are told apart.
    const leftOut = prefix.filter((id) => others.includes(id));
    const end = high - low - fresh.length;
    const waiting = others.filter((id) => !leftOut.includes(id));
    const inside = end - leftOut.length;
    order = [...known, ...fresh, ...waiting.slice(0, inside), ...leftOut, ...waiting.slice(inside)];
    tried.clear();
    if (outcome === probe.goal) high = low + fresh.length;
    else low += fresh.length;
    // One hunk with what does not build without it: there is nothing between them to cut at.
    if (isTied && outcome === probe.goal && prefix.length === low + 1)
      return { unit: order.slice(low, high), before: order.slice(0, low), tiedTo: prefix.at(-1)! };
  }
  if (high - low > 1 && !search.book.isSpent && !isBound(search, order.slice(low, high))) {
    const single = yield* oneByOne(order.slice(low, high), probe);
    if (single !== null) return { unit: [single], before: [], tiedTo: null };
  }
  if (search.book.isSpent && high - low > 1) return null;
  return { unit: order.slice(low, high), before: order.slice(0, low), tiedTo: null };
}

function* oneByOne(ids: readonly number[], { run, goal }: Probe): Experiments<number | null> {
  for (const id of ids.slice(0, MOST_ONE_BY_ONE)) if ((yield* run([id])) === goal) return id;
  return null;
}

/** Where the likelihood between two cuts is halved best, of those that were not tried. */
function cutOf(
  search: Search,
  order: readonly number[],
  low: number,
  high: number,
  tried: ReadonlySet<number>,
): number | null {
  const isLast = (id: number): boolean => search.disturbing?.has(id) === true;
  const shareOf = (id: number): number => (isLast(id) ? 0 : search.shareOf(id)) + 1e-6;
  const shares = order.slice(low, high).map(shareOf);
  const all = shares.reduce((sum, share) => sum + share, 0);
  if (shares[0]! / all >= ALONE_FROM && !tried.has(low + 1)) return low + 1;
  let best: number | null = null;
  let nearest = Infinity;
  let sum = 0;
  for (let cut = low + 1; cut < high; cut++) {
    sum += shares[cut - low - 1]!;
    const far = Math.abs(sum / all - 0.5);
    if (far < nearest && !tried.has(cut)) [best, nearest] = [cut, far];
  }
  return best;
}

/** Of several hunks, those that are not needed are left out: in halves first, then one by one. */
function* shrunk(search: Search, chosen: readonly number[]): Experiments<readonly number[]> {
  let kept = [...chosen];
  for (
    let size = Math.ceil(chosen.length / 2);
    size >= 1 && kept.length > 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < kept.length && kept.length > 1 && !search.book.isSpent;) {
      const rest = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (rest.length > 0 && (yield* outcomeWithout(search, rest)) === "pass") kept = rest;
      else at += size;
    }
  }
  return kept;
}
