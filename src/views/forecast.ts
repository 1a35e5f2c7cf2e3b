import { counted } from "../domain/counted.ts";
import type { StoryId } from "../domain/ids.ts";
import type { RunOutline, StoryOutline } from "../domain/outline.ts";
import { storiesOf } from "./run-summary.ts";
import { moneyText } from "./words.ts";

/** What is likely to be spent next. Unknown is not nothing: what nobody can say is counted beside it. */
export interface Forecast {
  /** Stories that are under way. */
  readonly stories: number;
  /** One more attempt of each of them, as far as it is known what theirs cost. */
  readonly nextUsd: number;
  /** Stories under way of which nobody knows it. */
  readonly unknown: number;
  /** A whole story, as the mean of those that were accepted here; `null` where none has a price. */
  readonly storyUsd: number | null;
  /** How many stories that is the mean of. */
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

/** The mean of the story's own attempts, with their share of the gates; `null` before the first, or where it is unsaid. */
function nextAttemptUsd({ spent, counters }: StoryOutline): number | null {
  return counters.attempts === 0 || spent.costUnknown ? null : spent.costUsd / counters.attempts;
}

/** In words, as far as there is anything to say about money here. */
export function forecastLines({ stories, nextUsd, unknown, storyUsd, ofStories }: Forecast): string[] {
  const known = stories - unknown;
  const lines: string[] = [];
  if (known > 0 && nextUsd > 0) {
    const rest = unknown === 0 ? "" : `; unknown for ${unknown} more`;
    lines.push(`about ${moneyText(nextUsd)} for the next attempt of ${counted(known, "story", "stories")}${rest}`);
  }
  if (storyUsd !== null && storyUsd > 0)
    lines.push(
      `about ${moneyText(storyUsd)} for a new story, as ${counted(ofStories, "accepted one")} cost on average`,
    );
  return lines;
}
