import type { Command } from "../../core/stories/command.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { storiesOf, summaryText } from "../../views/run/run-summary.ts";
import { type Glyphs, durationText, shortLine } from "../../views/text/words.ts";
import { canRedraw, glyphsFor, paintFor } from "../terminal-kind.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { columnWidth, createListener, lineText } from "./listener.ts";
import type { Reporter, ReporterSetting } from "./reporter.ts";

/**
 * Prints permanent lines and, on a terminal, a footer of at most three lines that is redrawn in place. Never uses the
 * alternate screen, so that printed lines can be scrolled to and copied. Without a footer, a message says from time to
 * time what is running.
 */
export function createDefaultReporter({ world, asked }: ReporterSetting): Reporter {
  const glyphs = glyphsFor(world.env);
  const paint = paintFor(world.color);
  const listen = createListener(glyphs);
  const width = columnWidth(asked);
  const hasFooter = canRedraw(world.env, world.terminal);
  const beganAt = world.now();
  let state: RunState | null = null;
  let output = "";
  let drawn = 0;

  const eraseFooter = (): string => (drawn === 0 ? "" : `\r\u001b[${drawn}A\u001b[J`);
  const draw = (lines: string): void => {
    const footer =
      state === null
        ? []
        : footerLines({ state, asked, output, beganAt, now: world.now(), columns: world.columns(), glyphs });
    world.out(`${eraseFooter()}${lines}${footer.map((line) => `${paint.dim(line)}\n`).join("")}`);
    drawn = footer.length;
  };
  // The elapsed time advances even when nothing happens, so that people see that the run is alive.
  const silence = createSilence({ world, asked });
  const ticking = setInterval(() => (hasFooter ? draw("") : silence.end(state)), TICK_MS);
  ticking.unref();

  return {
    onLines(lines, after) {
      state = after;
      if (lines.some(({ event }) => event.type.endsWith(".started"))) output = "";
      const text = listen(lines, after)
        // On a terminal, the footer shows what starts.
        .filter(({ line }) => !hasFooter || line.mark !== "started")
        .map(({ line }) => lineText(line, width, glyphs, paint))
        .join("");
      if (hasFooter) draw(text);
      else if (text !== "") {
        world.out(text);
        silence.begin();
      }
    },
    onOutput(command: Command, line: string) {
      output = shortLine(`${command.story ?? "run"}: ${line}`, LONGEST_OUTPUT);
    },
    note(text) {
      // The footer is erased first: a message below it would be erased with it.
      if (drawn > 0) world.out(eraseFooter());
      drawn = 0;
      world.err(text);
    },
    end(after) {
      clearInterval(ticking);
      world.out(`${eraseFooter()}${summaryText(after, asked, glyphs.dot)}\n`);
      drawn = 0;
      return Promise.resolve();
    },
  };
}

/** Prints what is running if nothing was printed for a while. */
function createSilence({ world, asked }: ReporterSetting): { begin(): void; end(state: RunState | null): void } {
  let [since, pauseMs] = [world.now(), FIRST_PAUSE_MS];
  return {
    begin: () => void ([since, pauseMs] = [world.now(), FIRST_PAUSE_MS]),
    end(state) {
      if (state === null || world.now() - since < pauseMs) return;
      [since, pauseMs] = [world.now(), Math.min(2 * pauseMs, LONGEST_PAUSE_MS)];
      const running = runningNow(state, asked, world.now());
      if (running.length > 0) world.err(`remand: still running: ${running.join(` ${glyphsFor(world.env).dot} `)}\n`);
    },
  };
}

const TICK_MS = 1000;
/** Pauses between messages grow, so that the log of a night stays short. */
const FIRST_PAUSE_MS = 4000;
const LONGEST_PAUSE_MS = 60_000;
const LONGEST_OUTPUT = 400;

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

/** At most three lines: what is running, the newest output, and the status. None is wider than the terminal. */
export function footerLines({ state, asked, output, beganAt, now, columns, glyphs }: FooterView): string[] {
  // Before the first story is in the journal there is nothing to show.
  if (storiesOf(state, asked).length === 0) return [];
  const shown = runningNow(state, asked, now);
  const elapsed = durationText(Math.max(0, now - beganAt));
  const lines = [
    ...(shown.length === 0 ? [] : [`${glyphs.marks.started} ${shown.join(` ${glyphs.dot} `)}`]),
    ...(output === "" || shown.length === 0 ? [] : [`  ${output}`]),
    `${summaryText(state, asked, glyphs.dot)} ${glyphs.dot} ${elapsed}`,
  ];
  // One column less, because a terminal may start a new line when the last column is filled.
  return lines.map((line) => fitLine(line, Math.max(8, columns - 1)));
}

/** Cuts a line to the width. A wrapped line would take two rows, and redrawing the footer would leave one behind. */
function fitLine(line: string, columns: number): string {
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

function runningNow(state: RunState, asked: readonly StoryId[], now: number): string[] {
  const running = storiesOf(state, asked).flatMap((story) => runningText(story, now) ?? []);
  const shown = running.slice(0, MOST_SHOWN);
  return running.length > shown.length ? [...shown, `and ${running.length - shown.length} more`] : shown;
}

function runningText({ story, running }: StoryState, now: number): string | null {
  if (running === null) return null;
  const what =
    running.type === "attempt"
      ? `attempt ${running.attempt}, ${running.role} works`
      : running.type === "gate"
        ? `the ${running.gate} gate runs`
        : running.step;
  return `${story.id} ${what} ${durationText(Math.max(0, now - running.since))}`;
}
