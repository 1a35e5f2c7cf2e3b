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

/** A rework that changed nothing shows before any gate judges, and judging the same thing again would be a waste. */
export function stalledUnchanged(state: StoryState, policy: Policy): Stalled | null {
  const { unchanged } = state.counters;
  if (policy.stall.unchanged === 0 || unchanged < policy.stall.unchanged) return null;
  return { stall: "no-change", detail: `${countText(unchanged, "rework")} in a row left the work as it was` };
}

/** Stalls that show without knowing the cause, so that no test run is spent on finding it. */
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

/** Stalls that are told better, or only, with the cause known. */
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
 * The failed rounds of a gate in the present phase. A review of the plan says nothing of how the code gets on: they
 * judge different products, and only their failures are counted together.
 */
export function roundsOf(state: StoryState, gate: GateName): readonly Round[] {
  return gateState(state, gate).rounds.filter(
    ({ attempt }) => (state.attempts[attempt - 1]?.phase ?? state.phase) === state.phase,
  );
}

/** The first few names. */
function listTests(tests: readonly string[]): string {
  const more = tests.length - MOST_NAMED;
  return tests.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const MOST_NAMED = 3;

function wasSeenBefore(state: StoryState): boolean {
  const now = state.trees[state.trees.length - 1];
  // The tree right before is no oscillation: that is "no change", which has its own rule.
  return now !== undefined && state.trees.slice(0, -2).includes(now) && state.trees[state.trees.length - 2] !== now;
}

/** How often the newest failure has been seen, this time included. */
function sameFailures(rounds: readonly Round[]): number {
  const now = rounds[rounds.length - 1];
  return now === undefined || now.failure === null ? 0 : rounds.filter((round) => round.failure === now.failure).length;
}

/*
 * Rounds are compared by what fails in them, by identity, and never by how much: a syntax error is one failure that
 * hides a hundred, and a test that was asked for is one failure more.
 */

/** A round in which every test ran that could: only such rounds say what passed. */
type ComparableRound = Round & { readonly identities: TestIdentities };

/** What did not load is unknown: such a round is no better and no worse than another. */
const isLoaded = ({ identities }: Round): boolean => identities === undefined || identities.notLoaded.length === 0;

const isComparable = (round: Round): round is ComparableRound => round.identities !== undefined && isLoaded(round);

/** What is to be fixed, by identity: the failing tests and faults of a run, or else a reviewer's blocking findings. */
function openIn({ identities, findings }: Round): ReadonlySet<string> {
  return new Set(identities === undefined ? (findings ?? []) : identities.failing);
}

/**
 * The failed round that is nearest to a pass: most of the base's passing tests still pass, then most of what failed at
 * the base is fixed, then fewest findings block; of equals the earliest. `null` where no round loaded.
 */
export function bestRound(rounds: readonly Round[], failedAtBase: readonly string[]): Round | null {
  let best: ComparableRound | null = null;
  for (const round of rounds.filter(isComparable))
    if (best === null || distance(round, best, failedAtBase) < 0) best = round;
  return best;
}

/** Below 0: `a` is nearer to a pass than `b`. */
function distance(a: ComparableRound, b: ComparableRound, failedAtBase: readonly string[]): number {
  const countLost = ({ identities }: ComparableRound): number => identities.passedAtBase.length + identities.unlisted;
  const countMet = ({ identities }: ComparableRound): number =>
    failedAtBase.filter((name) => isFixed(identities, name)).length;
  return countLost(a) - countLost(b) || countMet(b) - countMet(a) || a.blocking - b.blocking;
}

function isFixed({ failing, unlisted, passing }: TestIdentities, name: string): boolean {
  return passing.includes(name) || (unlisted === 0 && !failing.includes(name));
}

/** The rounds since the gate last passed the work: what failed before that was fixed, and is no tree to go back to. */
export function sincePass(rounds: readonly Round[]): readonly Round[] {
  return rounds.slice(
    Math.max(
      0,
      rounds.findLastIndex((round) => round.afterPass === true),
    ),
  );
}

/**
 * What the newest round broke: it fails now, did not in the best round since this gate last passed, and is known to have
 * been there. A test that may be new is not counted, because the rework may have been asked for it.
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

/** How many rounds up to now, in a row, fixed nothing that had not been fixed before. Rounds that did not load are passed over. */
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

/** How many tests or findings are open in the newest round. */
export const openCount = (rounds: readonly Round[]): number => (rounds.length === 0 ? 0 : openIn(rounds.at(-1)!).size);

/** Did each round fix something, and bring back or break nothing that was known to be well? Then one more may be worth it. */
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
