import { WARN_AT, type BudgetName, type Spent } from "../domain/budget.ts";
import type { SpendLimits } from "../domain/policy.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";

export interface BudgetUse {
  readonly budget: BudgetName;
  readonly used: number;
  readonly limit: number;
}

/** The first budget of a story that is used up; money, tokens and time stop it before the next dispatch. */
export function overspent(state: StoryState): BudgetUse | null {
  return firstUse(state.spent, state.policy?.limits.story, state.raised, OF_STORY, isSpent);
}

export function runOverspent(run: RunState): BudgetUse | null {
  return firstUse(run.spent, run.policy?.limits.run, run.raised, OF_RUN, isSpent);
}

/** A budget that is nearly used up and that nobody was told of yet. */
export function toWarn({ spent, policy, raised, warned }: StoryState): BudgetUse | null {
  return firstUse(spent, policy?.limits.story, raised, OF_STORY, isNews(warned));
}

export function runToWarn({ spent, policy, raised, warned }: RunState): BudgetUse | null {
  return firstUse(spent, policy?.limits.run, raised, OF_RUN, isNews(warned));
}

/** What the next attempt will likely cost: the mean of this story's own; unknown before the first. */
export function forecastUsd(state: StoryState): number | null {
  const ended = state.attempts.filter((attempt) => attempt.outcome !== "running").length;
  return ended === 0 || state.spent.costUnknown ? null : state.spent.costUsd / ended;
}

type Is = (used: number, limit: number, budget: BudgetName) => boolean;

const isSpent: Is = (used, limit) => used >= limit;

function isNews(warned: readonly BudgetName[]): Is {
  return (used, limit, budget) => used >= limit * WARN_AT && !warned.includes(budget);
}

const OF_STORY = { cost: "cost", tokens: "tokens", time: "time" } as const;
const OF_RUN = { cost: "run-cost", tokens: "run-tokens", time: "run-time" } as const;

/** Asked several times at every event, mostly to hear that there is none: so nothing is made before one is found. */
function firstUse(
  spent: Spent,
  limits: SpendLimits | undefined,
  raised: { readonly [B in BudgetName]?: number },
  names: typeof OF_STORY | typeof OF_RUN,
  is: Is,
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
