import { countText } from "../stdx/plain-text.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Stall } from "../core/stories/stop-rules.ts";
import type { Round, StoryState } from "../core/stories/story-state.ts";
import { gateState } from "./charge.ts";
import { brokenTests, openCount, roundsWithoutFix } from "./compare-rounds.ts";
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
  if (spot !== null)
    return {
      stall: "trouble-spot",
      detail: `${countText(state.locations[spot]?.sincePass ?? 0, "failure")} without a pass at ${spot}`,
    };
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
