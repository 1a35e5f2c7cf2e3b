import { addUsd } from "../../core/stories/budget.ts";
import { eventCost } from "../../core/events/event-cost.ts";
import type { Cost, Event, Recorded } from "../../core/events/event.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { byText, entries } from "../../stdx/sorted-map.ts";
import type { GateName } from "../../core/gates/gate.ts";
import type { Result } from "../../core/events/error.ts";

/** The groupings of costs: by story, agent, model, gate, reworked code location, or cause. */
export const COST_VIEWS = ["story", "agent", "model", "gate", "location", "cause"] as const;
export type CostView = (typeof COST_VIEWS)[number];

export interface CostRow {
  readonly name: string;
  /** A lower bound if a cost is unknown. */
  readonly costUsd: number;
  readonly costUnknown: boolean;
  readonly tokens: number;
  readonly timeMs: number;
  /** The number of agent runs, or of a gate's judgements. */
  readonly times: number;
  /** What was spent on attempts without a result: sent back, ended without work, or of a story that failed. */
  readonly wastedUsd: number;
  /** Whether the cost of at least one such attempt is unknown. */
  readonly wastedUnknown: boolean;
}

/** The costs in one grouping, most expensive first. */
export function costRows(lines: readonly Recorded[], run: RunState, by: CostView): readonly CostRow[] {
  if (by === "location") return locationRows(run);
  const rows = new Map<string, CostRow>();
  for (const { story, role, model, gate, cause, ...spent } of spendings(lines)) {
    const name = { story: story ?? "the run", agent: role, model, gate, cause }[by];
    // Attempts belong to no gate, and judgements have no cause but their own.
    if (name !== null) rows.set(name, addSpending(rows.get(name) ?? { ...NOTHING, name }, spent));
  }
  return sortRows([...rows.values()]);
}

type CostSums = Omit<CostRow, "name">;
const NOTHING: CostSums = {
  costUsd: 0,
  costUnknown: false,
  tokens: 0,
  timeMs: 0,
  times: 0,
  wastedUsd: 0,
  wastedUnknown: false,
};

export function costTotal(rows: readonly CostRow[]): CostSums {
  return rows.reduce<CostSums>(addSpending, NOTHING);
}

function addSpending<R extends CostSums>(row: R, more: CostSums): R {
  return {
    ...row,
    costUsd: addUsd(row.costUsd, more.costUsd),
    costUnknown: row.costUnknown || more.costUnknown,
    tokens: row.tokens + more.tokens,
    timeMs: row.timeMs + more.timeMs,
    times: row.times + more.times,
    wastedUsd: addUsd(row.wastedUsd, more.wastedUsd),
    wastedUnknown: row.wastedUnknown || more.wastedUnknown,
  };
}

interface Spending extends CostSums {
  readonly story: string | null;
  readonly role: string | null;
  /** The requested model; `null` where no model was used. */
  readonly model: string | null;
  readonly gate: string | null;
  readonly cause: string | null;
}

/** Everything that was paid for. Only later events show that an attempt had no result. */
function spendings(lines: readonly Recorded[]): readonly Spending[] {
  const all: Spending[] = [];
  const started = new Map<string | null, { role: string; model: string; cause: string }>();
  /** The indexes of the spendings on a story's attempts: of the newest attempt, and of all. */
  const newest = new Map<string | null, number[]>();
  const attempts = new Map<string | null, number[]>();
  const waste = (places: readonly number[] | undefined): void => {
    for (const at of places ?? []) {
      const { costUsd, costUnknown } = all[at]!;
      all[at] = { ...all[at]!, wastedUsd: costUsd, wastedUnknown: costUnknown };
    }
  };
  for (const { story, event } of lines) {
    if (event.type === "attempt.started") {
      const { role, model = CLIENT_DEFAULT } = event;
      started.set(story, { role, model, cause: causeOf(event.reworkOf) });
      newest.set(story, []);
    }
    if (event.type === "attempt.unclear" || event.type === "attempt.finished") {
      const { role = null, model = null, cause = null } = started.get(story) ?? {};
      const places = newest.get(story) ?? [];
      newest.set(story, [...places, all.length]);
      attempts.set(story, [...(attempts.get(story) ?? []), all.length]);
      const times = event.type === "attempt.finished" ? 1 : 0;
      all.push({ story, role, model, cause, gate: null, ...spentOn(event), times });
    }
    const besides = besidesAttempts(story, event);
    if (besides !== null) all.push(besides);
    const isSentBack = event.type === "work.sent-back";
    if (isSentBack || (event.type === "attempt.finished" && event.outcome.type !== "ready")) waste(newest.get(story));
    if (isAbandoned(event)) waste(attempts.get(story));
  }
  return all;
}

/** Whether the story has ended without its work being accepted. */
const isAbandoned = (event: Event): boolean =>
  event.type === "story.failed" || (event.type === "person.answered" && event.answer.verb === "abandon");

/** Other costs: gates, blame, rulings on disputed findings, and repairs of infrastructure. */
function besidesAttempts(story: string | null, event: Event): Spending | null {
  switch (event.type) {
    case "gate.judged": {
      const { gate, asked } = event.judgement;
      const roles = Object.keys(asked ?? {}).sort(byText);
      const role = roles.length > 0 ? roles.join(", ") : null;
      // No event records which model a reviewer used.
      const model = role === null ? null : "reviewers";
      return { story, role, model, cause: "gates", gate, ...spentOn(event) };
    }
    case "work.interrupted": {
      if (event.overrun === undefined) return null;
      return { story, role: null, model: null, cause: "cut short by a budget", gate: null, ...spentOn(event) };
    }
    case "blame.found":
      return { story, role: null, model: null, cause: "blame", gate: event.gate, ...spentOn(event) };
    case "finding.adjudicated":
      return {
        story,
        role: event.by === "engine" ? null : event.by,
        model: event.by === "engine" ? null : "reviewers",
        cause: "disputes",
        gate: null,
        ...spentOn(event),
      };
    case "remediation.finished":
    case "health.checked":
      return { story, role: null, model: null, cause: "repairing the infrastructure", gate: null, ...spentOn(event) };
    default:
      return null;
  }
}

/** No model was requested: the client used its default. */
const CLIENT_DEFAULT = "the client's default";

const causeOf = (reworkOf: string | null): string =>
  reworkOf === null ? "first attempts" : `rework after ${reworkOf}`;

function spentOn(event: Event): CostSums {
  const { used, isPaid } = eventCost(event) ?? { used: { durationMs: 0 }, isPaid: false };
  const { costUsd, tokens = 0, durationMs }: Cost = used;
  const costUnknown = isPaid && costUsd === undefined;
  return { ...NOTHING, costUsd: costUsd ?? 0, costUnknown, tokens, timeMs: durationMs, times: 1 };
}

/** Costs of reworked code locations, over all stories. */
function locationRows(run: RunState): readonly CostRow[] {
  const rows = new Map<string, CostRow>();
  for (const [, { locations, spent: of }] of entries(run.stories)) {
    for (const [name, { attempts, totalCostUsd }] of Object.entries(locations)) {
      const spent = { ...NOTHING, costUsd: totalCostUsd, costUnknown: of.costUnknown, times: attempts };
      rows.set(name, addSpending(rows.get(name) ?? { ...NOTHING, name }, spent));
    }
  }
  return sortRows([...rows.values()]);
}

const sortRows = (rows: readonly CostRow[]): readonly CostRow[] =>
  rows.toSorted((a, b) => b.costUsd - a.costUsd || b.timeMs - a.timeMs || byText(a.name, b.name));

/** The events of one day. */
export interface DayMetrics {
  readonly date: string;
  attempts: number;
  reworks: number;
  sentBack: number;
  accepted: number;
  failed: number;
  escalations: number;
  answers: number;
  /** A lower bound if an agent did not report its cost. */
  costUsd: number;
  costUnknown: boolean;
  agentMs: number;
  readonly judgements: { [G in GateName]?: { [R in Result]?: number } };
}

/** Metrics per day; days are in UTC unless `dayOf` says otherwise. */
export function dailyMetrics(lines: readonly Recorded[], dayOf: (at: number) => string = utcDay): DayMetrics[] {
  const days = new Map<string, DayMetrics>();
  for (const line of lines) {
    const date = dayOf(line.at);
    const day = days.get(date) ?? emptyDay(date);
    days.set(date, day);
    count(day, line);
  }
  return [...days.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
}

const utcDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

function emptyDay(date: string): DayMetrics {
  const none = { attempts: 0, reworks: 0, sentBack: 0, accepted: 0, failed: 0, escalations: 0, answers: 0 };
  return { date, ...none, costUsd: 0, costUnknown: false, agentMs: 0, judgements: {} };
}

function count(day: DayMetrics, { event }: Recorded): void {
  const cost = eventCost(event);
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
