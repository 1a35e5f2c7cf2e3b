import type { Recorded } from "../../core/events/event.ts";
import type { RunState, RunOutline, StoryOutline } from "../../core/stories/run-state.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { entries } from "../../stdx/sorted-map.ts";
import { countText } from "../../stdx/plain-text.ts";
import type { StoryId } from "../../core/events/ids.ts";
import { storiesOf } from "../run/run-summary.ts";
import { moneyText } from "../text/words.ts";
import { COST_VIEWS, type CostRow, type CostView, costRows, costTotal, dailyMetrics } from "./cost.ts";

/** The costs, their causes, and a forecast. */
export interface SpendingReport {
  readonly total: Omit<CostRow, "name">;
  readonly limitUsd: number | null;
  readonly rows: { readonly [V in CostView]: readonly CostRow[] };
  /** How many rows of each grouping were left out. */
  readonly more: { readonly [V in CostView]: number };
  readonly days: readonly LedgerDay[];
  readonly accepted: AcceptedCost;
  readonly forecast: Forecast;
  readonly troubleSpots: readonly TroubleSpot[];
}

/** The cost of accepted work. */
export interface AcceptedCost {
  readonly stories: number;
  /** All costs, including those of other stories, per accepted story; `null` if there is none. */
  readonly usdPerStory: number | null;
  /** Stories that were accepted after one attempt. */
  readonly firstPass: number;
}

export interface LedgerDay {
  readonly date: string;
  readonly costUsd: number;
  readonly costUnknown: boolean;
  readonly attempts: number;
  readonly sentBack: number;
  readonly accepted: number;
}

/** A code location that was reworked repeatedly without a pass. */
export interface TroubleSpot {
  readonly story: string;
  readonly place: string;
  readonly attempts: number;
  readonly sincePass: number;
  readonly costUsd: number;
}

export function ledgerOf(
  lines: readonly Recorded[],
  run: RunState,
  mostRows: number,
  dayOf?: (at: number) => string,
): SpendingReport {
  const all = COST_VIEWS.map((view) => [view, costRows(lines, run, view)] as const);
  const stories = all.find(([view]) => view === "story")![1];
  return {
    total: costTotal(stories),
    limitUsd: run.raised["run-cost"] ?? run.policy?.limits.run.costUsd ?? null,
    rows: byView(all.map(([view, rows]) => [view, rows.slice(0, mostRows)])),
    more: byView(all.map(([view, rows]) => [view, Math.max(0, rows.length - mostRows)])),
    days: dailyMetrics(lines, dayOf)
      .slice(-MOST_DAYS)
      .map(({ date, costUsd, costUnknown, attempts, sentBack, accepted }) => ({
        date,
        costUsd,
        costUnknown,
        attempts,
        sentBack,
        accepted,
      })),
    accepted: acceptedCost(run, costTotal(stories).costUsd),
    forecast: forecastOf(run, null),
    troubleSpots: troubleSpots(run),
  };
}

function acceptedCost(run: RunState, totalUsd: number): AcceptedCost {
  const accepted = states(run).filter(({ ending }) => ending?.how === "accepted");
  return {
    stories: accepted.length,
    usdPerStory: accepted.length === 0 ? null : totalUsd / accepted.length,
    firstPass: accepted.filter(({ attempts }) => attempts.length === 1).length,
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
 * A line without the fields that this report ignores; `null` for lines without costs. A dashboard keeps these lines of
 * the whole journal in memory.
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

/** The likely future costs. Unknown is not zero: unknown amounts are counted separately. */
export interface Forecast {
  /** The number of stories in progress. */
  readonly stories: number;
  /** One more attempt of each of these stories, as far as the cost of their attempts is known. */
  readonly nextUsd: number;
  /** The number of stories in progress with unknown cost. */
  readonly unknown: number;
  /** The mean cost of accepted stories; `null` where none has a known cost. */
  readonly storyUsd: number | null;
  /** The number of stories in that mean. */
  readonly ofStories: number;
}

export function forecastOf(run: RunOutline, asked: readonly StoryId[] | null): Forecast {
  const open = storiesOf(run, asked).filter(({ policy, ending }) => policy !== null && ending === null);
  const known = open.flatMap((state) => nextAttemptUsd(state) ?? []);
  const paid = storiesOf(run, null).filter(
    ({ ending, spent, counters }) => ending?.how === "accepted" && counters.attempts > 0 && !spent.costUnknown,
  );
  const total = paid.reduce((sum, { spent }) => sum + spent.costUsd, 0);
  return {
    stories: open.length,
    nextUsd: known.reduce((sum, usd) => sum + usd, 0),
    unknown: open.length - known.length,
    storyUsd: paid.length === 0 ? null : total / paid.length,
    ofStories: paid.length,
  };
}

/**
 * The mean cost of the story's own attempts with their gates, as in the prices of answers; `null` before the first
 * attempt has ended, or if a cost is unknown.
 */
function nextAttemptUsd({ spent, attempts, running }: StoryOutline): number | null {
  const ended = attempts.length - (running?.type === "attempt" ? 1 : 0);
  return ended === 0 || spent.costUnknown ? null : spent.costUsd / ended;
}

/** The forecast as text; empty if no cost is known. */
export function forecastLines({ stories, nextUsd, unknown, storyUsd, ofStories }: Forecast): string[] {
  const known = stories - unknown;
  const lines: string[] = [];
  if (known > 0 && nextUsd > 0) {
    const rest = unknown === 0 ? "" : `; unknown for ${unknown} more`;
    lines.push(`about ${moneyText(nextUsd)} for the next attempt of ${countText(known, "story", "stories")}${rest}`);
  }
  if (storyUsd !== null && storyUsd > 0)
    lines.push(
      `about ${moneyText(storyUsd)} for a new story, as ${countText(ofStories, "accepted one")} cost on average`,
    );
  return lines;
}
