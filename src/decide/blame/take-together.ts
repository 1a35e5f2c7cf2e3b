import { closedOver } from "./triage.ts";
import { keyOf, type Experiments, type Notebook, type Outcome } from "./experiments.ts";

/** How hunks hang together, and what was seen of them. */
interface Ties {
  readonly book: Notebook;
  readonly companions: ReadonlyMap<number, readonly number[]>;
  /** All changes of the function that a hunk is in. */
  readonly functions: ReadonlyMap<number, readonly number[]>;
}

/** What a boundary is looked for with. */
export interface Probe {
  run(ids: readonly number[]): Experiments<Outcome>;
  /** What has to come along with these, as the build of their tree said. */
  bound(ids: readonly number[]): readonly number[];
  /** Which of these the build of their tree broke for. */
  breaking(ids: readonly number[]): readonly number[];
  readonly goal: Outcome;
}

/** So often a tree that does not build is tried again with what its messages are about. */
const MOST_BUILDS = 4;

/** The part of a pool within which a boundary is known to be. */
interface Window {
  readonly pool: ReadonlySet<number>;
  readonly low: number;
  readonly high: number;
}

/**
 * The first of the ways to take some hunks of which something can be said. Where the tree does not build, its own
 * messages say which of several to leave out, or what has to come along; names are asked only where they do not.
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

/** So often hunks for which a tree does not build are left out of it. */
const MOST_LEFT_OUT = 3;

/**
 * Some hunks without those for which the tree does not build: a few of them must not keep the others from being told
 * apart. `null` where nothing new is left, or the messages do not say which they are.
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
 * A part of the ranking as it stands, with all changes of its functions, with what belongs to it, and with what belongs
 * to that. One hunk is worth a run by itself first; of several, some are likely not to build without their companions.
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
