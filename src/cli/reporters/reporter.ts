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
  /** A message about the run itself, beside its lines. */
  note(text: string): void;
  /** The run is over, or was told to stop. */
  end(state: RunState): Promise<void>;
}

/** What a reporter may use of the world, and what it is about. */
export interface ReporterSetting {
  readonly world: Pick<World, "out" | "err" | "env" | "color" | "terminal" | "columns" | "now" | "files" | "host">;
  /** The stories that were asked for. */
  readonly asked: readonly StoryId[];
}

export const REPORTERS = ["default", "minimal", "jsonl", "github"] as const;
export type ReporterName = (typeof REPORTERS)[number];

/** What was typed, else `REMAND_REPORTER`, else what fits the caller: an agent and a CI service want few lines. */
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

/** Each reporter is loaded alone. */
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

/** One line for each decision, and the totals. For agents, CI services and logs. */
function createMinimalReporter({ world, asked }: ReporterSetting): Reporter {
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

/** Each line of the journal as one line of JSON, and at the end one document about how it stands. For programs. */
function createJsonlReporter({ world, asked }: ReporterSetting): Reporter {
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
