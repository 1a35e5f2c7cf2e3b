import { addUsd } from "../domain/budget.ts";
import type { Escalation } from "../domain/escalation.ts";
import type { Recorded } from "../domain/event.ts";
import type { StoryId } from "../domain/ids.ts";
import type { FailedTask, TrackedLocation, ReworkRecord } from "../domain/rework-log.ts";
import type { RunState } from "../domain/run-state.ts";
import { entries } from "../stdx/sorted-map.ts";
import { dailyMetrics, type DayMetrics } from "./daily-metrics.ts";
import { reworkRecords } from "./rework-records.ts";

/** What the trail tells, before anybody writes it down. Made from the journal alone, so that it can be made again. */
export interface Trail {
  readonly reworks: readonly { readonly story: StoryId; readonly records: readonly ReworkRecord[] }[];
  readonly escalations: readonly {
    readonly story: StoryId | null;
    readonly at: number;
    readonly escalation: Escalation;
  }[];
  readonly failed: readonly FailedTask[];
  readonly locations: readonly TrackedLocation[];
  readonly days: readonly DayMetrics[];
}

export function trailOf(lines: readonly Recorded[], run: RunState): Trail {
  const byStory = new Map<StoryId, Recorded[]>();
  for (const line of lines) {
    if (line.story === null) continue;
    const known = byStory.get(line.story);
    if (known === undefined) byStory.set(line.story, [line]);
    else known.push(line);
  }
  const states = [...entries(run.stories)].map(([, state]) => state);
  return {
    reworks: states
      .filter((state) => state.policy !== null)
      .map((state) => ({ story: state.story.id, records: reworkRecords(byStory.get(state.story.id) ?? [], state) })),
    escalations: lines.flatMap(({ event, story, at }) =>
      event.type === "escalation.raised" ? [{ story, at, escalation: event.escalation }] : [],
    ),
    failed: failedTasks(run),
    locations: locationsOf(run),
    days: dailyMetrics(lines),
  };
}

/** S0's list: what was given up, in the order that happened. */
function failedTasks(run: RunState): FailedTask[] {
  const ended = [...entries(run.stories)].flatMap(([, state]) =>
    state.ending === null || state.ending.how === "accepted" ? [] : [{ state, ending: state.ending }],
  );
  return ended
    .sort((a, b) => a.ending.at - b.ending.at || a.state.arrival - b.state.arrival)
    .map(({ state, ending }) => ({
      taskId: state.story.id,
      reason: ending.reason,
      reviewAttempts: state.gates.review?.failuresEver ?? 0,
      auditAttempts: state.gates.audit?.failuresEver ?? 0,
    }));
}

/** S3's tracking, over all stories: the same place may have been reworked for several of them. */
function locationsOf(run: RunState): TrackedLocation[] {
  const places = new Map<string, TrackedLocation>();
  for (const [, state] of entries(run.stories)) {
    for (const [place, { attempts, lastAttemptAt, outcomes, totalCostUsd }] of Object.entries(state.locations)) {
      const [file, symbol] = splitPlace(place);
      const before = places.get(place);
      const cost = state.spent.costUnknown ? null : totalCostUsd;
      places.set(place, {
        file,
        ...(symbol === undefined ? {} : { symbol }),
        attempts: (before?.attempts ?? 0) + attempts,
        lastAttemptAt: Math.max(before?.lastAttemptAt ?? 0, lastAttemptAt),
        outcomes: [...(before?.outcomes ?? []), ...outcomes],
        totalCostUsd:
          before === undefined
            ? cost
            : before.totalCostUsd === null || cost === null
              ? null
              : addUsd(before.totalCostUsd, cost),
      });
    }
  }
  return [...places.values()];
}

function splitPlace(place: string): readonly [file: string, symbol?: string] {
  const at = place.lastIndexOf("#");
  return at === -1 ? [place] : [place.slice(0, at), place.slice(at + 1)];
}
