import type { StoryId } from "../domain/ids.ts";
import type { RunOutline } from "../domain/outline.ts";
import { boardRows } from "../views/board.ts";
import { forecastOf } from "../views/forecast.ts";
import { runCounts } from "../views/run-summary.ts";
import { exitCodeOf } from "./exit.ts";

/** How a run stands, for programs. */
export function runDocument(run: RunOutline, asked: readonly StoryId[] | null, schema = "remand.run/1"): object {
  return {
    schema,
    exit: exitCodeOf(run, asked),
    counts: runCounts(run, asked),
    spent: run.spent,
    forecast: forecastOf(run, asked),
    question: run.escalation,
    stories: boardRows(run, asked),
  };
}
