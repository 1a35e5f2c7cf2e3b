import type { Command } from "../../domain/command.ts";
import type { RunState } from "../../domain/run-state.ts";
import { summaryText } from "../../views/run-summary.ts";
import { shortLine } from "../../views/words.ts";
import { canRedraw, glyphsFor, paintFor } from "../terminal-kind.ts";
import { footerLines } from "./footer.ts";
import { columnWidth, lineText } from "./line-text.ts";
import { createListener } from "./listener.ts";
import type { Reporter, ReporterSetting } from "./reporter.ts";

/**
 * Lines that stay, and on a terminal a footer of at most three lines that is drawn again in its place. Never the
 * alternate screen: what was printed can be scrolled to and copied.
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

  const erased = (): string => (drawn === 0 ? "" : `\r\u001b[${drawn}A\u001b[J`);
  const draw = (lines: string): void => {
    const footer =
      state === null
        ? []
        : footerLines({ state, asked, output, beganAt, now: world.now(), columns: world.columns(), glyphs });
    world.out(`${erased()}${lines}${footer.map((line) => `${paint.dim(line)}\n`).join("")}`);
    drawn = footer.length;
  };
  // The elapsed time moves on even when nothing happens: people should see that it is alive.
  const ticking = hasFooter ? setInterval(() => draw(""), TICK_MS) : null;
  ticking?.unref();

  return {
    onLines(lines, after) {
      state = after;
      if (lines.some(({ event }) => event.type.endsWith(".started"))) output = "";
      const heard = listen(lines, after)
        // On a terminal the footer says what begins.
        .filter(({ line }) => !hasFooter || line.mark !== "started")
        .map(({ line }) => lineText(line, width, glyphs, paint))
        .join("");
      if (hasFooter) draw(heard);
      else if (heard !== "") world.out(heard);
    },
    onOutput(command: Command, line: string) {
      output = shortLine(`${command.story ?? "run"}: ${line}`, LONGEST_OUTPUT);
    },
    note(text) {
      // The footer is taken away first: a message below it would be erased in its place.
      if (drawn > 0) world.out(erased());
      drawn = 0;
      world.err(text);
    },
    end(after) {
      if (ticking !== null) clearInterval(ticking);
      world.out(`${erased()}${summaryText(after, asked, glyphs.dot)}\n`);
      drawn = 0;
      return Promise.resolve();
    },
  };
}

const TICK_MS = 1000;
const LONGEST_OUTPUT = 400;
