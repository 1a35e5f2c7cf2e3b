import type { StoryLine } from "../../../src/views/story/story-lines.ts";
import { durationText } from "../../../src/views/text/words.ts";
import { now } from "../clock.ts";
import { clockTime } from "../time.ts";

interface GanttBar {
  readonly position: number;
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly result: string;
}

/** Bars for steps that have started and not ended, up to the current time. */
function runningBars(lines: readonly StoryLine[]): readonly GanttBar[] {
  const last = lines.findLast(({ bar, start }) => bar !== null || start !== null);
  if (last?.start == null) return [];
  return [{ from: last.at, to: now.value, label: last.start.label, result: "running", position: last.position }];
}

const WORDS: Readonly<Record<string, string>> = {
  good: "passed",
  bad: "failed",
  unclear: "unclear",
  plain: "ended",
  running: "running",
};
/** More bars than this are hard to read. */
const MOST = 14;

/** Who was busy when, colored by result. The summary of events has the same as text. */
export function Gantt({ lines, isRunning }: { readonly lines: readonly StoryLine[]; readonly isRunning: boolean }) {
  const ended = lines.flatMap(({ at, bar, position }) => (bar === null ? [] : [{ ...bar, to: at, position }]));
  const all: readonly GanttBar[] = [...ended, ...(isRunning ? runningBars(lines) : [])];
  const bars = all.slice(-MOST);
  if (bars.length === 0) return null;
  const from = Math.min(...bars.map((bar) => bar.from));
  const to = Math.max(...bars.map((bar) => bar.to));
  const span = Math.max(1, to - from);
  return (
    <section aria-labelledby="gantt">
      <h2 class="label" id="gantt">
        Time line{" "}
        <span class="hint muted">
          {clockTime(from)} to {clockTime(to)}, {durationText(span)}
          {all.length > bars.length && `, without ${all.length - bars.length} earlier steps`}
        </span>
      </h2>
      <ul class="bars">
        {bars.map((bar) => (
          <li key={bar.position}>
            <span class="bar-label">{bar.label}</span>
            <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
              <rect
                class={`bar-${bar.result}`}
                x={((bar.from - from) / span) * 1000}
                width={Math.max(3, ((bar.to - bar.from) / span) * 1000)}
                height="10"
                rx="2"
              />
            </svg>
            <span class="muted number">
              <span class="unseen">{WORDS[bar.result]}, </span>
              {durationText(bar.to - bar.from)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
