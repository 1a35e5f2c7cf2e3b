import { countText } from "../stdx/plain-text.ts";
import type { GateName, TestIdentities } from "../core/gates/gate.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Stall } from "../core/stories/stop-rules.ts";
import type { Round, StoryState } from "../core/stories/story-state.ts";
import { gateState } from "./charge.ts";
import { troubleSpot } from "./locations.ts";

export interface Stalled {
  readonly stall: Stall;
  readonly detail: string;
}

/**
 * Finds reworks that changed nothing. This shows before any gate runs, and running gates on the same tree again would
 * be a waste.
 */
export function stalledUnchanged(state: StoryState, policy: Policy): Stalled | null {
  const { unchanged } = state.counters;
  if (policy.stall.unchanged === 0 || unchanged < policy.stall.unchanged) return null;
  return { stall: "no-change", detail: `${countText(unchanged, "rework")} in a row left the work as it was` };
}

/** Finds stalls that show without the cause, so that no test run is spent on finding it. */
export function stalledAtOnce(state: StoryState, policy: Policy, gate: GateName): Stalled | null {
  const rules = policy.stall;
  const rounds = roundsOf(state, gate);
  if (rules.oscillation && wasSeenBefore(state))
    return { stall: "oscillation", detail: "the work is back at a tree that was judged before" };
  const broken = rules.cascade ? brokenTests(rounds, state.preExisting) : [];
  if (broken.length > 0)
    return {
      stall: "regression-cascade",
      detail: `the rework broke ${countText(broken.length, "test that passed", "tests that passed")} before: ${listTests(broken)}`,
    };
  return null;
}

/** Finds stalls that need the known cause, or are described better with it. */
export function stalledByCause(state: StoryState, policy: Policy, gate: GateName): Stalled | null {
  const rules = policy.stall;
  const rounds = roundsOf(state, gate);
  const spot = troubleSpot(state, policy.limits.perLocation);
  if (spot !== null) {
    const failures = state.locations[spot]?.sincePass ?? 0;
    const reworks = countText(Math.max(0, failures - 1), "rework");
    return {
      stall: "trouble-spot",
      detail: `${reworks} without a pass at ${spot} (${countText(failures, "failure")})`,
    };
  }
  const repeats = sameFailures(rounds);
  if (rules.sameFailure > 0 && repeats >= rules.sameFailure)
    return { stall: "same-failure", detail: `the same failure ${countText(repeats, "time")}` };
  const flat = roundsWithoutFix(rounds);
  if (rules.plateau > 0 && flat >= rules.plateau)
    return {
      stall: "plateau",
      detail: `${countText(flat, "round")} in a row fixed nothing, ${openCount(rounds)} still open`,
    };
  return null;
}

/**
 * Returns the failed rounds of a gate in the current phase. Rounds of different phases judge different products, so
 * only their failures are counted together.
 */
export function roundsOf(state: StoryState, gate: GateName): readonly Round[] {
  return gateState(state, gate).rounds.filter(
    ({ attempt }) => (state.attempts[attempt - 1]?.phase ?? state.phase) === state.phase,
  );
}

/** Lists the first few names. */
function listTests(tests: readonly string[]): string {
  const more = tests.length - MOST_NAMED;
  return tests.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const MOST_NAMED = 3;

function wasSeenBefore(state: StoryState): boolean {
  const now = state.trees[state.trees.length - 1];
  // A return to the tree right before is not oscillation but "no change", which has its own rule.
  return now !== undefined && state.trees.slice(0, -2).includes(now) && state.trees[state.trees.length - 2] !== now;
}

/** Returns how often the newest failure occurred, including now. */
function sameFailures(rounds: readonly Round[]): number {
  const now = rounds[rounds.length - 1];
  return now === undefined || now.failure === null ? 0 : rounds.filter((round) => round.failure === now.failure).length;
}

/*
 * Rounds are compared by the identities of what fails in them, never by the number: a syntax error is one failure that
 * hides a hundred, and a test that was asked for adds a failure.
 */

/** A round in which everything loaded: only such rounds show what passed. */
type ComparableRound = Round & { readonly identities: TestIdentities };

/** Whether everything loaded. A round in which something did not load is neither better nor worse than another. */
const isLoaded = ({ identities }: Round): boolean => identities === undefined || identities.notLoaded.length === 0;

const isComparable = (round: Round): round is ComparableRound => round.identities !== undefined && isLoaded(round);

/** Returns what must be fixed, by identity: the failures of a run, or a reviewer's blocking findings. */
function openIn({ identities, findings }: Round): ReadonlySet<string> {
  return new Set(identities === undefined ? (findings ?? []) : identities.failing);
}

/**
 * Returns the failed round that is nearest to a pass: it keeps most of the base's passing tests, then fixes most of
 * what failed at the base, then has the fewest blocking findings. Of equal rounds, the earliest. `null` if every round
 * failed to load.
 */
export function bestRound(rounds: readonly Round[], failedAtBase: readonly string[]): Round | null {
  let best: ComparableRound | null = null;
  for (const round of rounds.filter(isComparable))
    if (best === null || distance(round, best, failedAtBase) < 0) best = round;
  return best;
}

/** Compares two rounds: below 0, `a` is nearer to a pass than `b`. */
function distance(a: ComparableRound, b: ComparableRound, failedAtBase: readonly string[]): number {
  const countLost = ({ identities }: ComparableRound): number => identities.passedAtBase.length + identities.unlisted;
  const countMet = ({ identities }: ComparableRound): number =>
    failedAtBase.filter((name) => isFixed(identities, name)).length;
  return countLost(a) - countLost(b) || countMet(b) - countMet(a) || a.blocking - b.blocking;
}

function isFixed({ failing, unlisted, passing }: TestIdentities, name: string): boolean {
  return passing.includes(name) || (unlisted === 0 && !failing.includes(name));
}

/**
 * Returns the rounds since the gate last passed the work. Earlier failures were fixed, so their trees are not worth
 * restoring.
 */
export function sincePass(rounds: readonly Round[]): readonly Round[] {
  return rounds.slice(
    Math.max(
      0,
      rounds.findLastIndex((round) => round.afterPass === true),
    ),
  );
}

/**
 * Returns what the newest round broke: tests that fail now, did not fail in the best round since the gate's last pass,
 * and are known to have existed then. A test that may be new is not counted, because the rework may have added it on
 * request.
 */
export function brokenTests(rounds: readonly Round[], failedAtBase: readonly string[]): readonly string[] {
  const now = rounds.at(-1);
  if (now === undefined || !isComparable(now)) return [];
  const earlier = sincePass(rounds).slice(0, -1);
  const best = bestRound(earlier, failedAtBase);
  if (best?.identities === undefined || best.identities.unlisted > 0) return [];
  const at = earlier.indexOf(best);
  const known = new Set([
    ...now.identities.passedAtBase,
    ...earlier.slice(0, at).flatMap((round) => round.identities?.failing ?? []),
    ...(at === earlier.length - 1 ? now.identities.passedLast : []),
  ]);
  const failedThen = new Set(best.identities.failing);
  return now.identities.failing.filter((name) => known.has(name) && !failedThen.has(name));
}

/** Counts the newest rounds in a row that fixed nothing new. Rounds that did not load are skipped. */
function roundsWithoutFix(rounds: readonly Round[]): number {
  const everFixed = new Set<string>();
  let open = new Set<string>();
  let flat = 0;
  for (const [at, round] of rounds.entries()) {
    const now = openIn(round);
    if (!isLoaded(round)) {
      for (const name of now) open.add(name);
      continue;
    }
    const fixed = [...open].filter((name) => !now.has(name) && !everFixed.has(name));
    flat = at === 0 || fixed.length > 0 ? 0 : flat + 1;
    for (const name of fixed) everFixed.add(name);
    open = new Set(now);
  }
  return flat;
}

/** Returns how many tests or findings are open in the newest round. */
export const openCount = (rounds: readonly Round[]): number => (rounds.length === 0 ? 0 : openIn(rounds.at(-1)!).size);

/**
 * Whether every round fixed something, and broke nothing that was known to work. Then one more round may be worth its
 * cost.
 */
export function isStrictlyImproving(rounds: readonly Round[], failedAtBase: readonly string[]): boolean {
  return (
    rounds.length >= 2 &&
    rounds.every((round, at) => at === 0 || isImprovement(rounds.slice(0, at + 1), round, failedAtBase))
  );
}

function isImprovement(upTo: readonly Round[], now: Round, failedAtBase: readonly string[]): boolean {
  if (!isLoaded(now) || brokenTests(upTo, failedAtBase).length > 0) return false;
  const [open, before] = [openIn(now), openIn(upTo.at(-2)!)];
  const earlier = new Set(upTo.slice(0, -2).flatMap((round) => [...openIn(round)]));
  const returned = [...open].some((name) => earlier.has(name) && !before.has(name));
  return !returned && [...before].some((name) => !open.has(name));
}
