import type { Recorded } from "../domain/event.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import { entries } from "../stdx/sorted-map.ts";
import { COST_VIEWS, costRows, costTotal, type CostRow, type CostView } from "./cost.ts";
import { dailyMetrics } from "./daily-metrics.ts";
import { forecastOf, type Forecast } from "./forecast.ts";

/** What was spent, on what, and what is likely to come. */
export interface Ledger {
  readonly total: Omit<CostRow, "name">;
  readonly limitUsd: number | null;
  readonly rows: { readonly [V in CostView]: readonly CostRow[] };
  /** How many rows of each view were left out. */
  readonly more: { readonly [V in CostView]: number };
  readonly days: readonly LedgerDay[];
  readonly forecast: Forecast;
  readonly troubleSpots: readonly TroubleSpot[];
}

export interface LedgerDay {
  readonly date: string;
  readonly costUsd: number;
  readonly costUnknown: boolean;
  readonly attempts: number;
  readonly sentBack: number;
  readonly accepted: number;
}

/** A place that was reworked again and again without a pass. */
export interface TroubleSpot {
  readonly story: string;
  readonly place: string;
  readonly attempts: number;
  readonly sincePass: number;
  readonly costUsd: number;
}

export function ledgerOf(lines: readonly Recorded[], run: RunState, mostRows: number): Ledger {
  const all = COST_VIEWS.map((view) => [view, costRows(lines, run, view)] as const);
  const stories = all.find(([view]) => view === "story")![1];
  return {
    total: costTotal(stories),
    limitUsd: run.raised["run-cost"] ?? run.policy?.limits.run.costUsd ?? null,
    rows: byView(all.map(([view, rows]) => [view, rows.slice(0, mostRows)])),
    more: byView(all.map(([view, rows]) => [view, Math.max(0, rows.length - mostRows)])),
    days: dailyMetrics(lines)
      .slice(-MOST_DAYS)
      .map(({ date, costUsd, costUnknown, attempts, sentBack, accepted }) => ({
        date,
        costUsd,
        costUnknown,
        attempts,
        sentBack,
        accepted,
      })),
    forecast: forecastOf(run, null),
    troubleSpots: troubleSpots(run),
  };
}

const MOST_DAYS = 30;
const MOST_SPOTS = 20;

const byView = <T>(pairs: readonly (readonly [CostView, T])[]): { readonly [V in CostView]: T } =>
  Object.fromEntries(pairs) as { [V in CostView]: T };

function troubleSpots(run: RunState): readonly TroubleSpot[] {
  return states(run)
    .flatMap(({ story, locations }) =>
      Object.entries(locations).map(([place, { attempts, sincePass, totalCostUsd }]) => ({
        story: story.id,
        place,
        attempts,
        sincePass,
        costUsd: totalCostUsd,
      })),
    )
    .sort((a, b) => b.sincePass - a.sincePass || b.attempts - a.attempts)
    .slice(0, MOST_SPOTS);
}

const states = (run: RunState): StoryState[] => [...entries(run.stories)].map(([, state]) => state);

/**
 * A line without what the ledger does not look at. A dashboard keeps these of the whole journal in its memory, and
 * `null` of what costs nothing.
 */
export function slimLine(line: Recorded): Recorded | null {
  const { v, at, story, event } = line;
  switch (event.type) {
    case "attempt.finished":
      return { v, at, story, event: { ...event, changed: [], summary: "" } };
    case "gate.judged": {
      const { gate, result, tree, costUsd, tokens, durationMs, asked } = event.judgement;
      const paid = {
        ...(costUsd === undefined ? {} : { costUsd }),
        ...(tokens === undefined ? {} : { tokens }),
        ...(asked === undefined ? {} : { asked }),
      };
      const judgement = {
        gate,
        result,
        tree,
        durationMs,
        ...paid,
        findings: [],
        blocking: [],
        summary: "",
        evidence: [],
      };
      return { v, at, story, event: { type: "gate.judged", judgement } };
    }
    case "escalation.raised":
    case "story.added":
    case "story.changed":
    case "policy.set":
    case "policy.applied":
      return null;
    default:
      return { v, at, story, event };
  }
}
