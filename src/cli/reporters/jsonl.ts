import { runDocument } from "../json-fields.ts";
import type { Reporter, ReporterSetting } from "./reporter.ts";

/** Each line of the journal as one line of JSON, and at the end one document about how it stands. For programs. */
export function createJsonlReporter({ world, asked }: ReporterSetting): Reporter {
  return {
    onLines(lines) {
      for (const line of lines) world.out(`${JSON.stringify({ schema: JOURNAL_LINE, ...line })}\n`);
    },
    onOutput() {
      // What agents and checks print is kept as evidence; the stream is the journal's alone.
    },
    note: (text) => world.err(text),
    end(state) {
      world.out(`${JSON.stringify(runDocument(state, asked))}\n`);
      return Promise.resolve();
    },
  };
}

export const JOURNAL_LINE = "remand.journal-line/1";
