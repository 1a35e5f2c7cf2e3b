import { WARN_AT, type BudgetName, type Spent, type SpentBudget } from "../core/stories/budget.ts";
import type { Policy, SpendLimits } from "../core/events/policy.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { entries } from "../stdx/sorted-map.ts";

export interface BudgetUse {
  readonly budget: BudgetName;
  readonly used: number;
  readonly limit: number;
}

/** Returns the first used-up budget of a story. Money, tokens and time stop it before the next dispatch. */
export function overspent(state: StoryState): BudgetUse | null {
  return firstUse(state.spent, state.policy?.limits.story, state.raised, OF_STORY, isSpent);
}

export function runOverspent(run: RunState): BudgetUse | null {
  return firstUse(run.spent, run.policy?.limits.run, run.raised, OF_RUN, isSpent) ?? actionsUse(run, isSpent);
}

/** Returns how many attempts and gate runs may still begin (S4.68). */
export function actionsLeft(run: RunState): number {
  return (actionsLimit(run) ?? Infinity) - (run.actions ?? 0);
}

const actionsLimit = ({ raised, policy }: RunState): number | null =>
  raised["run-actions"] ?? policy?.limits.run.actions ?? null;

function actionsUse(run: RunState, is: BudgetTest): BudgetUse | null {
  const limit = actionsLimit(run);
  const used = run.actions ?? 0;
  return limit !== null && is(used, limit, "run-actions") ? { budget: "run-actions", used, limit } : null;
}

/** Returns a budget that is nearly used up and was not warned about yet. */
export function toWarn({ spent, policy, raised, warned }: StoryState): BudgetUse | null {
  return firstUse(spent, policy?.limits.story, raised, OF_STORY, isNews(warned));
}

export function runToWarn(run: RunState): BudgetUse | null {
  const isNew = isNews(run.warned);
  return firstUse(run.spent, run.policy?.limits.run, run.raised, OF_RUN, isNew) ?? actionsUse(run, isNew);
}

/** What is left of a budget during a step: the smaller of the story's and the run's. */
export interface RemainingBudget {
  readonly budget: SpentBudget;
  readonly left: number;
}

/**
 * Returns the time that the running step may still take; `null` without a limit. The time of running steps counts: for
 * the story since its step began, for the run since each of its steps began. `since`: when this step began, if the
 * state does not show it yet.
 */
export function timeLeft(run: RunState, state: StoryState | null, now: number, since: number): RemainingBudget | null {
  const ran = now - (state?.running?.since ?? since);
  return smaller(
    state === null
      ? null
      : leftOf("time", state.raised.time ?? rulesOf(run, state)?.limits.story.timeMs, state.spent.timeMs + ran),
    runTimeLeft(run, now, state?.running ? 0 : ran),
  );
}

/** Returns the same for the run alone. `besides`: time of work that is not a story's step. */
export function runTimeLeft(run: RunState, now: number, besides = 0): RemainingBudget | null {
  const limit = run.raised["run-time"] ?? run.policy?.limits.run.timeMs ?? null;
  if (limit === null) return null;
  let ran = besides;
  for (const [, { running, ending }] of entries(run.stories))
    if (running !== null && ending === null) ran += now - running.since;
  return leftOf("run-time", limit, run.spent.timeMs + ran);
}

export function costLeft(run: RunState, state: StoryState | null): RemainingBudget | null {
  return smaller(
    state === null
      ? null
      : leftOf("cost", state.raised.cost ?? rulesOf(run, state)?.limits.story.costUsd, state.spent.costUsd),
    leftOf("run-cost", run.raised["run-cost"] ?? run.policy?.limits.run.costUsd, run.spent.costUsd),
  );
}

export function tokensLeft(run: RunState, state: StoryState | null): RemainingBudget | null {
  return smaller(
    state === null
      ? null
      : leftOf("tokens", state.raised.tokens ?? rulesOf(run, state)?.limits.story.tokens, state.spent.tokens),
    leftOf("run-tokens", run.raised["run-tokens"] ?? run.policy?.limits.run.tokens, run.spent.tokens),
  );
}

/** A story that is about to start has no policy of its own yet. */
const rulesOf = (run: RunState, state: StoryState): Policy | null => state.policy ?? run.policy;

function leftOf(budget: SpentBudget, limit: number | null | undefined, used: number): RemainingBudget | null {
  return limit === null || limit === undefined ? null : { budget, left: limit - used };
}

function smaller(one: RemainingBudget | null, other: RemainingBudget | null): RemainingBudget | null {
  if (one === null || other === null) return one ?? other;
  return one.left <= other.left ? one : other;
}

/** Forecasts the cost of the next attempt: the mean of this story's attempts; `null` before the first. */
export function forecastUsd(state: StoryState): number | null {
  const ended = state.attempts.filter((attempt) => attempt.outcome !== "running").length;
  return ended === 0 || state.spent.costUnknown ? null : state.spent.costUsd / ended;
}

type BudgetTest = (used: number, limit: number, budget: BudgetName) => boolean;

const isSpent: BudgetTest = (used, limit) => used >= limit;

function isNews(warned: readonly BudgetName[]): BudgetTest {
  return (used, limit, budget) => used >= limit * WARN_AT && !warned.includes(budget);
}

const OF_STORY = { cost: "cost", tokens: "tokens", time: "time" } as const;
const OF_RUN = { cost: "run-cost", tokens: "run-tokens", time: "run-time" } as const;

/**
 * Returns the first budget that satisfies a test. It runs several times per event and mostly finds none, so it
 * allocates nothing before it finds one.
 */
function firstUse(
  spent: Spent,
  limits: SpendLimits | undefined,
  raised: { readonly [B in BudgetName]?: number },
  names: typeof OF_STORY | typeof OF_RUN,
  is: BudgetTest,
): BudgetUse | null {
  if (limits === undefined) return null;
  const use = (budget: BudgetName, used: number, set: number | null): BudgetUse | null => {
    const limit = raised[budget] ?? set;
    return limit !== null && is(used, limit, budget) ? { budget, used, limit } : null;
  };
  return (
    use(names.cost, spent.costUsd, limits.costUsd) ??
    use(names.tokens, spent.tokens, limits.tokens) ??
    use(names.time, spent.timeMs, limits.timeMs)
  );
}
