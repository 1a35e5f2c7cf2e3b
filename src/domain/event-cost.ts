import { spend, type Spent } from "./budget.ts";
import type { Cost, Event } from "./event.ts";
import type { Judgement } from "./gate.ts";

/** What an event says was used, and whether money was: then a cost that nobody named is unknown, and not nothing. */
export interface EventCost {
  readonly used: Cost;
  readonly isPaid: boolean;
}

/** The one rule for every sum of money. `null` for what uses nothing. */
export function costOf(event: Event): EventCost | null {
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

/** What was spent so far, with what an event used. */
export function spendOn(spent: Spent, event: Event): Spent {
  const cost = costOf(event);
  return cost === null ? spent : spend(spent, cost.used, cost.isPaid);
}

/** Commands cost time. Who was asked is in the judgement; in older ones it is known by the gate. */
export function isPaidJudgement({ gate, asked }: Judgement): boolean {
  return asked === undefined ? gate === "review" || gate === "audit" : Object.keys(asked).length > 0;
}
