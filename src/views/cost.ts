import type { Recorded } from "../domain/event.ts";
import type { RunState } from "../domain/run-state.ts";
import { byText, entries } from "../stdx/sorted-map.ts";

/** How spending can be looked at: whose story, who worked, which gate judged, which place was reworked, what for. */
export const COST_VIEWS = ["story", "agent", "gate", "location", "cause"] as const;
export type CostView = (typeof COST_VIEWS)[number];

export interface CostRow {
  readonly name: string;
  /** A floor where somebody did not say what it cost. */
  readonly costUsd: number;
  readonly costUnknown: boolean;
  readonly tokens: number;
  readonly timeMs: number;
  /** Dispatches of an agent, or judgements of a gate. */
  readonly times: number;
  /** What was spent on attempts that were sent back. */
  readonly wastedUsd: number;
}

/** What was spent, by one view of it, the dearest first. */
export function costRows(lines: readonly Recorded[], run: RunState, by: CostView): readonly CostRow[] {
  if (by === "location") return locationRows(run);
  const rows = new Map<string, CostRow>();
  for (const { story, role, gate, cause, ...spent } of spendings(lines)) {
    const name = { story: story ?? "the run", agent: role, gate, cause }[by];
    // Work on the code is no gate's, and a judgement is made for no cause but its own.
    if (name !== null) rows.set(name, added(rows.get(name) ?? { ...NOTHING, name }, spent));
  }
  return sorted([...rows.values()]);
}

type Spent = Omit<CostRow, "name">;
const NOTHING: Spent = { costUsd: 0, costUnknown: false, tokens: 0, timeMs: 0, times: 0, wastedUsd: 0 };

export function costTotal(rows: readonly CostRow[]): Spent {
  return rows.reduce<Spent>(added, NOTHING);
}

function added<R extends Spent>(row: R, more: Spent): R {
  return {
    ...row,
    costUsd: row.costUsd + more.costUsd,
    costUnknown: row.costUnknown || more.costUnknown,
    tokens: row.tokens + more.tokens,
    timeMs: row.timeMs + more.timeMs,
    times: row.times + more.times,
    wastedUsd: row.wastedUsd + more.wastedUsd,
  };
}

interface Spending extends Spent {
  readonly story: string | null;
  readonly role: string | null;
  readonly gate: string | null;
  readonly cause: string | null;
}

/** Each attempt and each judgement. An attempt that was sent back is known as one by what follows it. */
function spendings(lines: readonly Recorded[]): readonly Spending[] {
  const all: Spending[] = [];
  const started = new Map<string | null, { role: string; cause: string }>();
  const last = new Map<string | null, number>();
  for (const { story, event } of lines) {
    if (event.type === "attempt.started") started.set(story, { role: event.role, cause: causeOf(event.reworkOf) });
    if (event.type === "attempt.finished") {
      const { role = null, cause = null } = started.get(story) ?? {};
      last.set(story, all.length);
      all.push({ story, role, cause, gate: null, ...spentOn(event.costUsd, event.tokens, event.durationMs, true) });
    }
    if (event.type === "gate.judged") {
      const { gate, costUsd, tokens, durationMs, asked } = event.judgement;
      // Commands cost time; only where somebody was asked is money unknown when it is not said.
      const isAsked = Object.keys(asked ?? {}).length > 0;
      const role = isAsked ? Object.keys(asked!).sort(byText).join(", ") : null;
      all.push({ story, role, cause: null, gate, ...spentOn(costUsd, tokens, durationMs, isAsked) });
    }
    const at = last.get(story);
    if (event.type === "work.sent-back" && at !== undefined) all[at] = { ...all[at]!, wastedUsd: all[at]!.costUsd };
  }
  return all;
}

const causeOf = (reworkOf: string | null): string =>
  reworkOf === null ? "first attempts" : `rework after ${reworkOf}`;

function spentOn(costUsd: number | undefined, tokens: number | undefined, durationMs: number, isPaid: boolean): Spent {
  return {
    costUsd: costUsd ?? 0,
    costUnknown: isPaid && costUsd === undefined,
    tokens: tokens ?? 0,
    timeMs: durationMs,
    times: 1,
    wastedUsd: 0,
  };
}

/** Places that were reworked, over all stories. */
function locationRows(run: RunState): readonly CostRow[] {
  const rows = new Map<string, CostRow>();
  for (const [, { locations }] of entries(run.stories)) {
    for (const [name, { attempts, totalCostUsd }] of Object.entries(locations)) {
      const spent = { ...NOTHING, costUsd: totalCostUsd, times: attempts };
      rows.set(name, added(rows.get(name) ?? { ...NOTHING, name }, spent));
    }
  }
  return sorted([...rows.values()]);
}

const sorted = (rows: readonly CostRow[]): readonly CostRow[] =>
  rows.toSorted((a, b) => b.costUsd - a.costUsd || b.timeMs - a.timeMs || byText(a.name, b.name));
