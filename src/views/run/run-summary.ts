import { countText } from "../../stdx/plain-text.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { RunOutline, StoryOutline } from "../../core/stories/run-state.ts";
import { byText, entries, lookup, type SortedMap } from "../../stdx/sorted-map.ts";
import { questionCount } from "../answers/inbox.ts";
import { statusOf, type StoryStatus } from "../story/story-status.ts";
import { spentText } from "../text/words.ts";

/** The number of stories in each state, in the order in which people want to know them. */
export interface RunCounts {
  readonly stories: number;
  readonly accepted: number;
  readonly running: number;
  readonly waiting: number;
  readonly ready: number;
  /** Stories in the backlog, and stories that a person paused: they raise no question. */
  readonly backlog: number;
  readonly stopped: number;
  /** Questions that wait for a person: as many as in the inbox. */
  readonly needsYou: number;
  /** Questions that a person deferred to the next run. */
  readonly deferred: number;
  readonly dismissed: number;
  readonly failed: number;
}

export const NO_COUNTS: RunCounts = {
  stories: 0,
  accepted: 0,
  running: 0,
  waiting: 0,
  ready: 0,
  backlog: 0,
  stopped: 0,
  needsYou: 0,
  deferred: 0,
  dismissed: 0,
  failed: 0,
};

export function runCounts(run: RunOutline, asked: readonly StoryId[] | null): RunCounts {
  const { accepted, failed, dismissed = 0 } = (asked === null ? run.unlisted : undefined) ?? NO_COUNTS;
  const counts = { ...NO_COUNTS, stories: accepted + failed + dismissed, accepted, failed, dismissed };
  for (const state of storiesOf(run, asked)) {
    counts.stories++;
    const bucket = bucketOf(statusOf(run, state), state);
    if (bucket !== null) counts[bucket]++;
  }
  return { ...counts, needsYou: questionCount(run, asked) };
}

/** The stories that were asked for, or all of them, by their ids. */
export function storiesOf<S>(run: { readonly stories: SortedMap<StoryId, S> }, asked: readonly StoryId[] | null): S[] {
  if (asked === null) return [...entries(run.stories)].map(([, state]) => state);
  return asked.flatMap((id) => lookup(run.stories, id, byText) ?? []);
}

/** The count that a story belongs to. `null`: it has an open question, which is counted separately. */
function bucketOf(
  { status }: StoryStatus,
  { held, deferred }: StoryOutline,
): keyof Omit<RunCounts, "stories" | "needsYou"> | null {
  switch (status) {
    case "accepted":
    case "failed":
    case "dismissed":
    case "ready":
    case "backlog":
      return status;
    case "working":
    case "in-gate":
      return "running";
    case "escalated":
      return deferred === undefined ? null : "deferred";
    case "waiting":
      return held ? "stopped" : "waiting";
  }
}

/** `3 stories · 1 accepted · 1 running · 1 needs you · $1.12 of $5.00` */
export function summaryText(run: RunOutline, asked: readonly StoryId[] | null, dot: string): string {
  const counts = runCounts(run, asked);
  const some = (count: number, word: string): string[] => (count === 0 ? [] : [`${count} ${word}`]);
  return [
    countText(counts.stories, "story", "stories"),
    ...some(counts.accepted, "accepted"),
    ...some(counts.running, "running"),
    ...some(counts.waiting, "waiting"),
    ...some(counts.ready, "ready"),
    ...some(counts.backlog, "in the backlog"),
    ...some(counts.stopped, "stopped"),
    ...some(counts.needsYou, counts.needsYou === 1 ? "needs you" : "need you"),
    ...some(counts.deferred, "deferred"),
    ...some(counts.dismissed, "dismissed"),
    ...some(counts.failed, "failed"),
    ...spending(run, asked),
  ].join(` ${dot} `);
}

/** What a person can do now, with the command for it. */
export function nextStep(run: RunOutline, asked: readonly StoryId[] | null): string[] {
  const { needsYou, running, ready, waiting, stopped, stories, accepted } = runCounts(run, asked);
  if (run.engine === "gone") return ["Next: remand run  (the engine is gone: it continues what was under way)"];
  if (needsYou > 0)
    return [`Next: remand inbox  (${needsYou === 1 ? "one question waits" : `${needsYou} questions wait`} for you)`];
  if (run.engine === "stopped" && ready + waiting > 0) return ["Next: remand run  (no engine runs)"];
  if (running > 0) return ["Next: nothing to do; remand logs -f shows the work as it goes on"];
  if (stopped > 0)
    return [`Next: remand resume  (${stopped === 1 ? "one story is" : `${stopped} stories are`} paused)`];
  if (stories > 0 && accepted === stories) return ["Next: nothing; every story is accepted"];
  return [];
}

/** The run's own limit, or that of the single story. */
function spending(run: RunOutline, asked: readonly StoryId[] | null): string[] {
  const only = asked?.length === 1 ? storiesOf(run, asked)[0] : undefined;
  const limit =
    only === undefined
      ? (run.raised["run-cost"] ?? run.policy?.limits.run.costUsd ?? null)
      : (only.raised.cost ?? only.policy?.limits.story.costUsd ?? null);
  const text = spentText(only?.spent ?? run.spent, limit);
  return text === "" ? [] : [text];
}
