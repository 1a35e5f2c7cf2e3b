import { counted } from "../domain/counted.ts";
import type { StoryId } from "../domain/ids.ts";
import type { RunOutline } from "../domain/outline.ts";
import { byText, entries, lookup, type SortedMap } from "../stdx/sorted-map.ts";
import { statusOf, type StoryStatus } from "./story-status.ts";
import { spentText } from "./words.ts";

/** How many stories stand where, in the order in which people want to know. */
export interface RunCounts {
  readonly stories: number;
  readonly accepted: number;
  readonly running: number;
  readonly waiting: number;
  readonly ready: number;
  readonly needsYou: number;
  readonly failed: number;
}

export function runCounts(run: RunOutline, asked: readonly StoryId[] | null): RunCounts {
  const { accepted, failed } = (asked === null ? run.unlisted : undefined) ?? { accepted: 0, failed: 0 };
  const counts = { stories: accepted + failed, accepted, running: 0, waiting: 0, ready: 0, needsYou: 0, failed };
  for (const state of storiesOf(run, asked)) {
    counts.stories++;
    counts[bucketOf(statusOf(run, state))]++;
  }
  return counts;
}

/** The stories that were asked about, or all of them, by their ids. */
export function storiesOf<S>(run: { readonly stories: SortedMap<StoryId, S> }, asked: readonly StoryId[] | null): S[] {
  if (asked === null) return [...entries(run.stories)].map(([, state]) => state);
  return asked.flatMap((id) => lookup(run.stories, id, byText) ?? []);
}

function bucketOf({ status, actor }: StoryStatus): keyof Omit<RunCounts, "stories"> {
  switch (status) {
    case "accepted":
    case "failed":
    case "ready":
      return status;
    case "working":
    case "in-gate":
      return "running";
    case "escalated":
    case "backlog":
      return "needsYou";
    case "waiting":
      return actor === "person" ? "needsYou" : "waiting";
  }
}

/** `3 stories · 1 accepted · 1 running · 1 needs you · $1.12 of $5.00` */
export function summaryText(run: RunOutline, asked: readonly StoryId[] | null, dot: string): string {
  const counts = runCounts(run, asked);
  const some = (count: number, word: string): string[] => (count === 0 ? [] : [`${count} ${word}`]);
  return [
    counted(counts.stories, "story", "stories"),
    ...some(counts.accepted, "accepted"),
    ...some(counts.running, "running"),
    ...some(counts.waiting, "waiting"),
    ...some(counts.ready, "ready"),
    ...some(counts.needsYou, counts.needsYou === 1 ? "needs you" : "need you"),
    ...some(counts.failed, "failed"),
    ...spending(run, asked),
  ].join(` ${dot} `);
}

/** The run's own limit, or the story's where it is about one. */
function spending(run: RunOutline, asked: readonly StoryId[] | null): string[] {
  const only = asked?.length === 1 ? storiesOf(run, asked)[0] : undefined;
  const limit =
    only === undefined
      ? (run.raised["run-cost"] ?? run.policy?.limits.run.costUsd ?? null)
      : (only.raised.cost ?? only.policy?.limits.story.costUsd ?? null);
  const text = spentText(only?.spent ?? run.spent, limit);
  return text === "" ? [] : [text];
}
