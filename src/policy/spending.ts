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
  return uses(state.spent, state.policy?.limits.story, state.raised, "").find((use) => use.used >= use.limit) ?? null;
}

export function runOverspent(run: RunState): BudgetUse | null {
  return uses(run.spent, run.policy?.limits.run, run.raised, "run-").find((use) => use.used >= use.limit) ?? null;
}

/** A budget that is nearly used up and that nobody was told of yet. */
export function toWarn(state: StoryState): BudgetUse | null {
  return nearlySpent(uses(state.spent, state.policy?.limits.story, state.raised, ""), state.warned);
}

export function runToWarn(run: RunState): BudgetUse | null {
  return nearlySpent(uses(run.spent, run.policy?.limits.run, run.raised, "run-"), run.warned);
}

/** What the next attempt will likely cost: the mean of this story's own; unknown before the first. */
export function forecastUsd(state: StoryState): number | null {
  const ended = state.attempts.filter((attempt) => attempt.outcome !== "running").length;
  return ended === 0 || state.spent.costUnknown ? null : state.spent.costUsd / ended;
}

function nearlySpent(all: readonly BudgetUse[], warned: readonly BudgetName[]): BudgetUse | null {
  return all.find((use) => use.used >= use.limit * WARN_AT && !warned.includes(use.budget)) ?? null;
}

function uses(
  spent: Spent,
  limits: SpendLimits | undefined,
  raised: { readonly [B in BudgetName]?: number },
  prefix: "" | "run-",
): BudgetUse[] {
  if (limits === undefined) return [];
  const all = [
    { budget: `${prefix}cost`, used: spent.costUsd, set: limits.costUsd },
    { budget: `${prefix}tokens`, used: spent.tokens, set: limits.tokens },
    { budget: `${prefix}time`, used: spent.timeMs, set: limits.timeMs },
  ] as const;
  return all.flatMap(({ budget, used, set }) => {
    const limit = raised[budget] ?? set;
    return limit === null ? [] : [{ budget, used, limit }];
  });
}
