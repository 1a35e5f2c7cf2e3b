import { closedOver } from "./triage.ts";
import { keyOf, type Experiments, type Notebook, type Outcome } from "./experiments.ts";

/** How hunks depend on each other, and the runs so far. */
interface Ties {
  readonly book: Notebook;
  readonly companions: ReadonlyMap<number, readonly number[]>;
  /** All changes of the function of a hunk. */
  readonly functions: ReadonlyMap<number, readonly number[]>;
}

/** The functions with which a boundary is searched. */
export interface Probe {
  run(ids: readonly number[]): Experiments<Outcome>;
  /** Returns the hunks that must be added to these, according to the build of their tree. */
  bound(ids: readonly number[]): readonly number[];
  /** Returns the hunks that broke the build of the tree of these. */
  breaking(ids: readonly number[]): readonly number[];
  readonly goal: Outcome;
}

/** How often a tree that does not build is tried again with the hunks that its messages name. */
const MOST_BUILDS = 4;

/** The range of a pool that is known to contain a boundary. */
interface Window {
  readonly pool: ReadonlySet<number>;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the first conclusive way to revert some hunks. If the tree does not build, its own messages show which of
 * several to leave out, or what to add; names are only used if the messages do not show it.
 */
export function* takeTogether(
  ties: Ties,
  prefix: readonly number[],
  window: Window,
  probe: Probe,
): Experiments<{ outcome: Outcome; ids: readonly number[]; isTied: boolean }> {
  const { pool, high } = window;
  const most = yield* takeWhatBuilds(ties, prefix, window, probe);
  if (most !== null) return { ...most, isTied: false };
  for (const [at, way] of waysToTake(ties, prefix, pool, high).entries()) {
    let ids = way;
    for (let builds = 0; builds <= (at === 0 ? MOST_BUILDS : 0) && ids.length > 0; builds++) {
      const outcome = yield* probe.run(ids);
      if (outcome !== "cannot-apply" || ties.book.isSpent) return { outcome, ids, isTied: builds > 0 };
      const more = probe.bound(ids).filter((id) => pool.has(id) && !ids.includes(id));
      ids = more.length === 0 || ids.length + more.length >= high ? [] : [...ids, ...more];
    }
  }
  return { outcome: "cannot-apply", ids: prefix, isTied: false };
}

/** How often hunks that break the build of a tree are left out of it. */
const MOST_LEFT_OUT = 3;

/**
 * Reverts some hunks without those that break the build: a few of them must not keep the others from being told apart.
 * `null` if nothing new is left, or the messages do not name them.
 */
function* takeWhatBuilds(
  { book }: Ties,
  prefix: readonly number[],
  { low }: Window,
  probe: Probe,
): Experiments<{ outcome: Outcome; ids: readonly number[] } | null> {
  const fresh = new Set(prefix.slice(low));
  let ids = prefix;
  for (let tries = 0; tries <= MOST_LEFT_OUT && fresh.size > 1; tries++) {
    const outcome = yield* probe.run(ids);
    if (outcome !== "cannot-apply" || book.isSpent) return { outcome, ids };
    const breaking = probe.breaking(ids);
    const rest = ids.filter((id) => !breaking.includes(id));
    if (rest.length === ids.length || !rest.some((id) => fresh.has(id))) return null;
    ids = rest;
  }
  return null;
}

/**
 * Returns the ways to revert a prefix of the ranking: as it is, with all changes of its functions, with its companions,
 * and with their companions. One hunk is worth a run alone first; several probably do not build without their
 * companions.
 */
function waysToTake(
  { companions, functions }: Ties,
  prefix: readonly number[],
  pool: ReadonlySet<number>,
  high: number,
): (readonly number[])[] {
  const whole = [...new Set(prefix.flatMap((id) => functions.get(id) ?? [id]))].filter((id) => pool.has(id));
  const near = [...new Set([...prefix, ...prefix.flatMap((id) => companions.get(id) ?? [])])].filter((id) =>
    pool.has(id),
  );
  const all = closedOver(prefix, companions).filter((id) => pool.has(id));
  const ways = prefix.length === 1 ? [prefix, whole, near, all] : [near, all, whole, prefix];
  const seen = new Set<string>();
  return ways.filter((way) => {
    const key = keyOf(way);
    if (seen.has(key) || (way.length >= high && way !== prefix)) return false;
    seen.add(key);
    return true;
  });
}
