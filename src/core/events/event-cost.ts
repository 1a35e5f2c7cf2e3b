import { type Spent, spend } from "../stories/budget.ts";
import type { Judgement } from "../gates/gate.ts";
import type { Cost, Event } from "./event.ts";
import { isReviewed } from "../gates/gate.ts";

/** What an event used, and whether that costs money. If it does, a missing cost means unknown, not zero. */
export interface EventCost {
  readonly used: Cost;
  readonly isPaid: boolean;
}

/** Returns what an event used; `null` if it uses nothing. Every sum of money goes by this rule. */
export function eventCost(event: Event): EventCost | null {
  switch (event.type) {
    case "attempt.finished":
    case "attempt.unclear":
    case "remediation.finished":
    case "health.checked":
      return { used: event, isPaid: true };
    case "gate.judged":
      return { used: event.judgement, isPaid: isPaidJudgement(event.judgement) };
    case "finding.adjudicated":
      return { used: event, isPaid: event.by !== "engine" };
    case "work.interrupted":
      return event.overrun === undefined ? null : { used: event.overrun, isPaid: false };
    case "blame.found":
      return { used: event, isPaid: false };
    default:
      return null;
  }
}

/** Adds what an event used to what was spent before. */
export function addEventCost(spent: Spent, event: Event): Spent {
  const cost = eventCost(event);
  return cost === null ? spent : spend(spent, cost.used, cost.isPaid);
}

/** Whether a judgement cost money. `asked` lists the agents; for older judgements, the gate decides. */
export function isPaidJudgement({ gate, asked }: Judgement): boolean {
  return asked === undefined ? isReviewed(gate) : Object.keys(asked).length > 0;
}

/** What a model costs, in US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Price of input that is read from a cache; absent: the same as other input. */
  readonly cached?: number;
}

export type Prices = Readonly<Record<string, Price>>;

export interface PricedTokens {
  readonly input: number;
  readonly output: number;
  /** How many of the input tokens came from a cache. */
  readonly cached: number;
}

/**
 * Looks up the price of a model by its name as written, then without the provider's prefix and the date at the end. It
 * tries nothing else: the price of a model with a similar name would be a guess.
 */
export function priceOf(prices: Prices, model: string): Price | null {
  const bare = model.replace(/^[\w.-]+\//, "");
  const names = [model, bare, bare.replace(/-\d{4}-?\d{2}-?\d{2}$/, "")];
  const name = names.find((each) => Object.hasOwn(prices, each));
  return name === undefined ? null : prices[name]!;
}

export function costAt({ input, output, cached = input }: Price, tokens: PricedTokens): number {
  const fresh = Math.max(0, tokens.input - tokens.cached);
  const dollars = (fresh * input + tokens.cached * cached + tokens.output * output) / 1_000_000;
  // Sums of fractions have rounding errors after the tenth digit.
  return Math.round(dollars * 1e10) / 1e10;
}
