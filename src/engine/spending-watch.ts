import type { Command } from "../core/stories/command.ts";
import type { SpentBudget } from "../core/stories/budget.ts";
import type { WorkInterrupted } from "../core/events/event.ts";
import { costLeft, timeLeft, tokensLeft, type RemainingBudget } from "../decide/spending.ts";
import type { AgentUse } from "../ports/agent.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import type { Ledger } from "./ledger.ts";
import type { EngineWorld } from "./world.ts";

/** Ends a step when a budget of money, tokens or time is used up while it runs. */
export interface SpendingWatch {
  /** Aborted when a budget is used up. */
  readonly signal: AbortSignal;
  /** The budget that is used up; `null` if none is. */
  exceeded(): SpentBudget | null;
  /** For one dispatch of an agent: what it may cost (`null`: no limit), and a callback for what it has used so far. */
  meter(): { readonly maxCostUsd: number | null; onUse(used: AgentUse): void };
  /** What the dispatches of this step have used, as far as they reported it. */
  used(): AgentUse;
  stop(): void;
}

/** For bookkeeping, which runs nothing. */
export const UNWATCHED: SpendingWatch = {
  signal: new AbortController().signal,
  exceeded: () => null,
  meter: () => ({ maxCostUsd: null, onUse: () => undefined }),
  used: () => ({ costUsd: null, tokens: null }),
  stop: () => undefined,
};

/**
 * Watches a step's spending; without a limit it does nothing. A step that starts when its story's budget is used up is
 * not stopped for that budget: finished work is delivered even if it was expensive.
 */
export function watchSpending(command: Command, ledger: Ledger, { clock }: EngineWorld): SpendingWatch {
  const reached = new AbortController();
  const over = new AbortController();
  const meters = new Set<{ costUsd: number | null; tokens: number | null }>();
  let budget: SpentBudget | null = null;
  const exceed = (which: SpentBudget): void => {
    budget ??= which;
    reached.abort();
  };
  const storyNow = () =>
    command.story === null ? null : (lookup(ledger.state().stories, command.story, byText) ?? null);
  const beganAt = clock.now();
  const totalUse = (): AgentUse => ({ costUsd: sum(meters, "costUsd"), tokens: sum(meters, "tokens") });
  const left = { cost: costLeft(ledger.state(), storyNow()), tokens: tokensLeft(ledger.state(), storyNow()) };
  const isUsedUp = (of: RemainingBudget | null, by: number | null): of is RemainingBudget =>
    of !== null && of.left > 0 && (by ?? 0) >= of.left;
  const watchTime = async (): Promise<void> => {
    let first = true;
    while (!over.signal.aborted) {
      const time = timeLeft(ledger.state(), storyNow(), clock.now(), beganAt);
      if (time === null || (first && time.left <= 0)) return;
      if (time.left <= 0) return exceed(time.budget);
      first = false;
      await clock.sleep(Math.min(time.left, LOOK_AGAIN_MS), over.signal);
    }
  };
  void watchTime();
  return {
    signal: reached.signal,
    exceeded: () => budget,
    meter: () => {
      const { cost } = left;
      const maxCostUsd = cost === null || cost.left <= 0 ? null : Math.max(0, cost.left - (totalUse().costUsd ?? 0));
      const own: { costUsd: number | null; tokens: number | null } = { costUsd: null, tokens: null };
      meters.add(own);
      return {
        maxCostUsd,
        onUse(so) {
          own.costUsd = so.costUsd ?? own.costUsd;
          own.tokens = so.tokens ?? own.tokens;
          if (isUsedUp(left.cost, totalUse().costUsd)) exceed(left.cost.budget);
          if (isUsedUp(left.tokens, totalUse().tokens)) exceed(left.tokens.budget);
        },
      };
    },
    used: totalUse,
    stop: () => over.abort("over"),
  };
}

/** How often limits are read again: they can be raised, and other stories use up the run's time meanwhile. */
const LOOK_AGAIN_MS = 1000;

function sum(meters: ReadonlySet<AgentUse>, what: keyof AgentUse): number | null {
  let total: number | null = null;
  for (const meter of meters) if (meter[what] !== null) total = (total ?? 0) + meter[what];
  return total;
}

/** Describes what a step used that a budget ended: the time since its start, and what its agents reported. */
export function overrunOf(
  budget: SpentBudget,
  durationMs: number,
  used: AgentUse,
): NonNullable<WorkInterrupted["overrun"]> {
  return {
    budget,
    durationMs,
    ...(used.costUsd === null ? {} : { costUsd: used.costUsd }),
    ...(used.tokens === null ? {} : { tokens: used.tokens }),
  };
}

/**
 * Returns the larger of what an agent reported at its end and while it worked: an agent that is stopped reports nothing
 * at its end.
 */
export function mostUsed(end: AgentUse, during: AgentUse): AgentUse {
  const larger = (a: number | null, b: number | null): number | null =>
    a === null || b === null ? (a ?? b) : Math.max(a, b);
  return { costUsd: larger(end.costUsd, during.costUsd), tokens: larger(end.tokens, during.tokens) };
}
