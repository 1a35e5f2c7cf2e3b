import { summaryText } from "../../views/run/run-summary.ts";
import { glyphsFor, paintFor } from "../terminal-kind.ts";
import { createListener, lineText } from "./listener.ts";
import type { Reporter, ReporterSetting } from "./reporter.ts";

/** One line for each decision, and the totals. For agents, CI services and logs. */
export function createMinimalReporter({ world, asked }: ReporterSetting): Reporter {
  const glyphs = glyphsFor(world.env);
  const listen = createListener(glyphs);
  const paint = paintFor(world.color);
  return {
    onLines(lines, state) {
      for (const { line } of listen(lines, state)) if (line.isSettled) world.out(lineText(line, 0, glyphs, paint));
    },
    onOutput() {
      // What agents and checks print is not for this reader.
    },
    note: (text) => world.err(text),
    end(state) {
      world.out(`${summaryText(state, asked, glyphs.dot)}\n`);
      return Promise.resolve();
    },
  };
}
