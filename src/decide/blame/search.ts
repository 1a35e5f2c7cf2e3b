import { closedOver } from "./triage.ts";
import { ask, runsOf, type BoundChanges, type Experiments, type Notebook, type Outcome } from "./experiments.ts";
import { takeTogether, type Probe } from "./take-together.ts";

/** What the search for one group of failures works with. */
export interface Search {
  readonly book: Notebook;
  readonly group: number;
  /** Hunks that may be reverted, the likeliest first. */
  readonly order: readonly number[];
  readonly shareOf: (id: number) => number;
  readonly companions: ReadonlyMap<number, readonly number[]>;
  /** All changes of the function of a hunk. */
  readonly functions: ReadonlyMap<number, readonly number[]>;
  /** The parts of a hunk, the likeliest first. */
  readonly parts: ReadonlyMap<number, readonly number[]>;
  /** Groups of hunks that follow the change of one name: they are only reverted together. */
  readonly renames: readonly (readonly number[])[];
  /** Changes that only turn to new code, with those that define it. */
  readonly uses: ReadonlyMap<number, readonly number[]>;
  /** Hunks that no failing test can reach. */
  readonly unreached: ReadonlySet<number>;
  /** Hunks in test files. */
  readonly inTests: ReadonlySet<number>;
  /** Hunks without which the tests fail differently. */
  readonly disturbing?: ReadonlySet<number>;
}

/** A hunk with at least this share is tried alone: if it is the culprit, the same run is half of the proof. */
const ALONE_FROM = 0.35;
/** How many trees in a row may be inconclusive before hunks are tried one by one. */
const MOST_UNCLEAR = 4;
const MOST_UNCLEAR_BOUND = 2;
const MOST_ONE_BY_ONE = 8;
/** Up to this many hunks, runs can show which one matters, even if the hunks belong together. */
const FEW = 4;
/** More companions than this are not a useful hint. */
const MOST_NEAR = 6;

/** How many of the likeliest hunks are tried alone, and the shares that they need for that. */
const MOST_ALONE = 4;
const LIKELIER = 2;
const LEAST_ALONE = 0.04;
const LIKELY_ALONE = 0.15;

/**
 * Tries the likeliest hunks one by one: a run without only one hunk is not disturbed by others. A hunk without which
 * the failure is gone is the cure. A hunk without which the tests fail differently would hide the effect of others, so
 * it stays until all others are told apart.
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
    // Hunks that are only reverted together are not tried alone.
    const others = [...(search.companions.get(id) ?? []), ...(boundIn(search, [id])?.kept ?? [])];
    if (outcome === "cannot-apply") for (const other of others) tied.add(other);
    if (outcome === "fail-other" || (outcome === "cannot-apply" && !hasTies(search, id, others))) disturbing.push(id);
  }
  const calm = order.filter((id) => !disturbing.includes(id));
  return { cure: null, search: { ...search, order: [...calm, ...disturbing], disturbing: new Set(disturbing) } };
}

/** Whether it is known what must be reverted with a hunk, or which parts it has. */
const hasTies = ({ functions, parts }: Search, id: number, others: readonly number[]): boolean =>
  others.length > 0 || functions.has(id) || parts.has(id);

/**
 * Finds the smallest set of hunks without which the failure is gone. Reverting a longer prefix of the ranking never
 * brings the failure back, so the shortest prefix that helps ends with a needed hunk. With that one reverted, the hunks
 * before it are searched again, until the found hunks are enough.
 */
export function* removalSet(search: Search): Experiments<Removal | null> {
  const found = yield* removalFrom(search, search.order);
  if (found !== null && (found.tiedTo !== null || (!isBound(search, found.ids) && found.ids.length <= FEW)))
    return found;
  // Hunks that no failing test can reach are excluded as one group, so that they are not part of a set that cannot be
  // split.
  const reached = search.order.filter((id) => !search.unreached.has(id));
  if (reached.length === search.order.length || reached.length === 0 || search.book.isSpent) return found;
  if (found !== null && !found.ids.some((id) => search.unreached.has(id))) return found;
  if ((yield* outcomeWithout(search, reached)) !== "pass") return found;
  return (yield* removalFrom(search, reached)) ?? found;
}

/** Hunks without which the failure is gone. */
export interface Removal {
  readonly ids: readonly number[];
  /** The hunk that requires the others to be reverted, according to the messages of the build. */
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

/** Returns which changes the build messages of a tree are about, if it ran and did not build. */
function boundIn({ book }: Search, without: readonly number[]): BoundChanges | null {
  return runsOf(book, without)[0]?.outcome.bound ?? null;
}

/** Finds the hunks that the base needs with these to fail as recorded, the likeliest first. */
export function* contextFor(search: Search, culprits: readonly number[]): Experiments<readonly number[] | null> {
  const chosen: number[] = [];
  // Hunks that share names with them come first.
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

/** Runs the iteration with these hunks reverted. */
export function* outcomeWithout(
  { book, group }: Search,
  ids: readonly number[],
  times = 1,
  purpose: "search" | "confirm" = "search",
): Experiments<Outcome> {
  return (yield* ask(book, ids, purpose, times))[group] ?? "cannot-apply";
}

/** Runs the base with only these hunks applied. */
export function* outcomeOnBase(
  search: Search,
  ids: readonly number[],
  times = 1,
  purpose: "search" | "confirm" = "search",
): Experiments<Outcome> {
  return yield* outcomeWithout(search, complement(search, ids), times, purpose);
}

/** Whether these hunks share names and are too many to distinguish, like a rename in many places. */
export function isBound(search: Search, ids: readonly number[]): boolean {
  return ids.length > FEW && belongTogether(search, ids);
}

/** Whether these hunks are connected by names that they add or remove. */
export function belongTogether({ companions }: Search, ids: readonly number[]): boolean {
  const all = new Set(closedOver(ids.slice(0, 1), companions));
  return ids.every((id) => all.has(id));
}

/** Returns all hunks that may be reverted, except these. */
export function complement({ order }: Search, ids: readonly number[]): number[] {
  const kept = new Set(ids);
  return order.filter((id) => !kept.has(id));
}

/**
 * Finds the shortest prefix of the pool that reaches the goal, by halving the likelihood. `unit` is the end of the
 * prefix, which is needed with any hunks before it. If a tree is inconclusive, hunks that belong to its hunks are
 * added; then another cut is tried, and finally single hunks.
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
    // Hunks that broke the build come after the others.
    const leftOut = prefix.filter((id) => others.includes(id));
    const end = high - low - fresh.length;
    const waiting = others.filter((id) => !leftOut.includes(id));
    const inside = end - leftOut.length;
    order = [...known, ...fresh, ...waiting.slice(0, inside), ...leftOut, ...waiting.slice(inside)];
    tried.clear();
    if (outcome === probe.goal) high = low + fresh.length;
    else low += fresh.length;
    // One hunk with what does not build without it: no cut is possible between them.
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

/** Returns the cut that best halves the likelihood between two cuts, among those not tried yet. */
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

/** Removes hunks that are not needed: in halves first, then one by one. */
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
