import type { StoryId } from "../../domain/ids.ts";
import type { RunState } from "../../domain/run-state.ts";
import type { StoryState } from "../../domain/story-state.ts";
import type { Glyphs } from "../../views/glyphs.ts";
import { storiesOf, summaryText } from "../../views/run-summary.ts";
import { durationText } from "../../views/words.ts";

export interface FooterView {
  readonly state: RunState;
  readonly asked: readonly StoryId[];
  /** The newest line that an agent or a check printed. */
  readonly output: string;
  readonly beganAt: number;
  readonly now: number;
  readonly columns: number;
  readonly glyphs: Glyphs;
}

/** At most three lines: what runs now, the newest output, and how it stands. None is wider than the terminal. */
export function footerLines({ state, asked, output, beganAt, now, columns, glyphs }: FooterView): string[] {
  // Before the first story is in the journal there is nothing to say.
  if (storiesOf(state, asked).length === 0) return [];
  const running = storiesOf(state, asked).flatMap((story) => runningText(story, now) ?? []);
  const shown = running.slice(0, MOST_SHOWN);
  if (running.length > shown.length) shown.push(`and ${running.length - shown.length} more`);
  const elapsed = durationText(Math.max(0, now - beganAt));
  const lines = [
    ...(shown.length === 0 ? [] : [`${glyphs.marks.started} ${shown.join(` ${glyphs.dot} `)}`]),
    ...(output === "" || shown.length === 0 ? [] : [`  ${output}`]),
    `${summaryText(state, asked, glyphs.dot)} ${glyphs.dot} ${elapsed}`,
  ];
  // One column less: a terminal that is filled to its edge may begin a new line by itself.
  return lines.map((line) => fitted(line, Math.max(8, columns - 1)));
}

/** A line that wraps would be two, and drawing the footer again would leave one of them behind. */
function fitted(line: string, columns: number): string {
  let used = 0;
  let kept = "";
  for (const char of line) {
    used += WIDE.test(char) ? 2 : 1;
    if (used > columns) return kept;
    kept += char;
  }
  return kept;
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\uff01-\uff60]/u;

const MOST_SHOWN = 3;

function runningText({ story, running }: StoryState, now: number): string | null {
  if (running === null) return null;
  const what =
    running.type === "attempt"
      ? `attempt ${running.attempt}, ${running.role} works`
      : running.type === "gate"
        ? `the ${running.gate} gate judges`
        : running.step;
  return `${story.id} ${what} ${durationText(Math.max(0, now - running.since))}`;
}
