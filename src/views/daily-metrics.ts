import { addUsd } from "../domain/budget.ts";
import { costOf } from "../domain/event-cost.ts";
import type { Recorded } from "../domain/event.ts";
import type { GateName } from "../domain/gate.ts";
import type { Result } from "../domain/result.ts";

/** What happened on one day, UTC. */
export interface DayMetrics {
  readonly date: string;
  attempts: number;
  reworks: number;
  sentBack: number;
  accepted: number;
  failed: number;
  escalations: number;
  answers: number;
  /** A floor where some agent did not say what it cost. */
  costUsd: number;
  costUnknown: boolean;
  agentMs: number;
  readonly judgements: { [G in GateName]?: { [R in Result]?: number } };
}

export function dailyMetrics(lines: readonly Recorded[]): DayMetrics[] {
  const days = new Map<string, DayMetrics>();
  for (const line of lines) {
    const date = new Date(line.at).toISOString().slice(0, 10);
    const day = days.get(date) ?? emptyDay(date);
    days.set(date, day);
    count(day, line);
  }
  return [...days.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
}

function emptyDay(date: string): DayMetrics {
  const none = { attempts: 0, reworks: 0, sentBack: 0, accepted: 0, failed: 0, escalations: 0, answers: 0 };
  return { date, ...none, costUsd: 0, costUnknown: false, agentMs: 0, judgements: {} };
}

function count(day: DayMetrics, { event }: Recorded): void {
  const cost = costOf(event);
  day.costUsd = addUsd(day.costUsd, cost?.used.costUsd ?? 0);
  day.costUnknown ||= cost?.isPaid === true && cost.used.costUsd === undefined;
  switch (event.type) {
    case "attempt.started":
      day.attempts++;
      if (event.reworkOf !== null) day.reworks++;
      return;
    case "attempt.finished":
      day.agentMs += event.durationMs;
      return;
    case "gate.judged": {
      const { gate, result } = event.judgement;
      const results = (day.judgements[gate] ??= {});
      results[result] = (results[result] ?? 0) + 1;
      return;
    }
    case "work.sent-back":
      day.sentBack++;
      return;
    case "story.accepted":
      day.accepted++;
      return;
    case "story.failed":
      day.failed++;
      return;
    case "escalation.raised":
      day.escalations++;
      return;
    case "person.answered":
      day.answers++;
      if (event.answer.verb === "force-complete") day.accepted++;
      if (event.answer.verb === "abandon") day.failed++;
      return;
    default:
  }
}
