import { RemandError } from "../../core/events/error.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { Watcher } from "../../ports/journal.ts";
import type { World } from "../../app/command.ts";
import { glyphsFor, isCalledByAgent, isCi, paintFor } from "../terminal-kind.ts";
import { runDocument } from "../json-fields.ts";
import { summaryText } from "../../views/run/run-summary.ts";
import { createListener, lineText } from "./listener.ts";

/** Reports the progress of a run. It only watches and changes nothing. */
export interface Reporter extends Watcher {
  /** Prints a message about the run itself, separate from its lines. */
  note(text: string): void;
  /** The run has ended or was asked to stop. */
  end(state: RunState): Promise<void>;
}

/** What a reporter may use, and the stories it reports. */
export interface ReporterSetting {
  readonly world: Pick<World, "out" | "err" | "env" | "color" | "terminal" | "columns" | "now" | "files" | "host">;
  /** The stories that were asked for. */
  readonly asked: readonly StoryId[];
}

export const REPORTERS = ["default", "minimal", "jsonl", "github"] as const;
export type ReporterName = (typeof REPORTERS)[number];

/**
 * The reporter that was typed, else `REMAND_REPORTER`, else one for the caller: agents and CI services want few lines.
 */
export function reporterName(typed: string | undefined, env: World["env"]): ReporterName {
  const named = typed ?? (env["REMAND_REPORTER"] || undefined);
  if (named !== undefined) {
    const known = REPORTERS.find((name) => name === named);
    if (known !== undefined) return known;
    throw new RemandError("usage", `there is no reporter "${named}"`, `Choose one of ${REPORTERS.join(", ")}.`);
  }
  if (env["GITHUB_ACTIONS"] === "true") return "github";
  return isCalledByAgent(env) || isCi(env) ? "minimal" : "default";
}

/** Loads and creates a reporter, without loading the others. */
export async function createReporter(name: ReporterName, setting: ReporterSetting): Promise<Reporter> {
  switch (name) {
    case "default":
      return (await import("./default.ts")).createDefaultReporter(setting);
    case "minimal":
      return createMinimalReporter(setting);
    case "jsonl":
      return createJsonlReporter(setting);
    case "github":
      return (await import("./github.ts")).createGithubReporter(setting);
  }
}

/** Prints one line per decision, and the totals. For agents, CI services and logs. */
function createMinimalReporter({ world, asked }: ReporterSetting): Reporter {
  const glyphs = glyphsFor(world.env);
  const listen = createListener(glyphs);
  const paint = paintFor(world.color);
  return {
    onLines(lines, state) {
      for (const { line } of listen(lines, state)) if (line.isSettled) world.out(lineText(line, 0, glyphs, paint));
    },
    onOutput() {
      // Readers of this report do not want the output of agents and checks.
    },
    note: (text) => world.err(text),
    end(state) {
      world.out(`${summaryText(state, asked, glyphs.dot)}\n`);
      return Promise.resolve();
    },
  };
}

/** Prints each journal line as a line of JSON, and a document about the final state at the end. For programs. */
function createJsonlReporter({ world, asked }: ReporterSetting): Reporter {
  return {
    onLines(lines) {
      for (const line of lines) world.out(`${JSON.stringify({ schema: JOURNAL_LINE, ...line })}\n`);
    },
    onOutput() {
      // Output of agents and checks is stored as evidence; the stream has only journal lines.
    },
    note: (text) => world.err(text),
    end(state) {
      world.out(`${JSON.stringify(runDocument(state, asked))}\n`);
      return Promise.resolve();
    },
  };
}

export const JOURNAL_LINE = "remand.journal-line/1";
