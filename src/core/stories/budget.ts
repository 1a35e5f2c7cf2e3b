import type { budgetNameSchema } from "../schemas/escalation.ts";
import type { Stored } from "../schemas/scalars.ts";
import { countText } from "../../stdx/plain-text.ts";

/** A limit with a counter. The word before the colon names the counter. */
export type BudgetName = Stored<typeof budgetNameSchema>;

/** Budgets of money, tokens and time, of a story and of the whole run. They can be used up in the middle of a step. */
export const SPENT_BUDGETS = ["cost", "tokens", "time", "run-cost", "run-tokens", "run-time"] as const;
export type SpentBudget = (typeof SPENT_BUDGETS)[number];

/** The highest number of failed judgements of one gate that a setting may allow. */
export const FAILURE_CEILING = 10;
/** How often the engine may die in the same step of a story, without progress in between, before a person is asked. */
export const ENGINE_DEATHS = 3;
export const WARN_AT = 0.8;

export interface Spent {
  readonly costUsd: number;
  readonly tokens: number;
  readonly timeMs: number;
  /** Some agent did not report its cost: the sum is a minimum, and is shown as one. */
  readonly costUnknown: boolean;
}

export const NOTHING_SPENT: Spent = { costUsd: 0, tokens: 0, timeMs: 0, costUnknown: false };

/**
 * The only place where money is added. Binary fractions leave a remainder (`0.1 + 0.2`), which is rounded off here: a
 * billionth of a dollar is less than any provider's price of one token.
 */
export function addUsd(a: number, b: number): number {
  return Math.round((a + b) * NANO_PER_USD) / NANO_PER_USD;
}

const NANO_PER_USD = 1e9;

export function spend(
  spent: Spent,
  more: { readonly costUsd?: number | undefined; readonly tokens?: number | undefined; readonly durationMs: number },
  paid: boolean,
): Spent {
  return {
    costUsd: addUsd(spent.costUsd, more.costUsd ?? 0),
    tokens: spent.tokens + (more.tokens ?? 0),
    timeMs: spent.timeMs + more.durationMs,
    costUnknown: spent.costUnknown || (paid && more.costUsd === undefined),
  };
}

/** Formats failures with reworks, to prevent off-by-one misreadings: the first failure is not of a rework. */
export function countedBothWays(failures: number, limit: number): string {
  return `failure ${failures} of ${limit}, rework ${Math.max(0, failures - 1)} of ${limit - 1}`;
}

/**
 * Formats the counts for work that is sent back: which rework this is, and which failure led to it. If a person sent it
 * back, no failure did, and the count starts over.
 */
export function countedGoingBack(failures: number, limit: number): string {
  if (failures === 0) return `sent back by a person; the failure count starts over, ${limit} at most`;
  return `rework ${Math.min(failures, limit - 1)} of ${limit - 1}, after failure ${failures} of ${limit}`;
}

/** Formats a limit with its unit, as in "the $3.00 budget" or "the 30-minute budget". */
export function limitText(budget: BudgetName, limit: number): string {
  const unit = unitOf(budget);
  return unit === "$" ? `$${limit.toFixed(2)}` : `${amountIn(unit, limit)}-${unit}`;
}

export function spentText(budget: BudgetName, used: number, limit: number): string {
  const unit = unitOf(budget);
  if (unit === "$") return `$${used.toFixed(2)} of $${limit.toFixed(2)} spent`;
  return `${amountIn(unit, used)} of ${countText(amountIn(unit, limit), unit)} used`;
}

function unitOf(budget: BudgetName): string {
  const kind = budget.replace(/^run-/, "");
  if (kind === "cost") return "$";
  if (kind === "time") return "minute";
  if (kind === "tokens") return "token";
  if (kind === "actions") return "action";
  return kind === "iterations" ? "iteration" : "attempt";
}

/** Times are counted in milliseconds. */
const amountIn = (unit: string, amount: number): number =>
  unit === "minute" ? Math.round(amount / 6000) / 10 : amount;
