import { countText, plural, withoutBackticks } from "../../../stdx/plain-text.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import type { RunOutline } from "../../../core/stories/run-state.ts";
import { type BoardRow, attemptCount, boardRows, byUrgency, stripText, whoText } from "../../../views/board/board.ts";
import { forecastLines, forecastOf } from "../../../views/board/ledger.ts";
import { type Glyphs, durationText, shortLine, spentText } from "../../../views/text/words.ts";
import { nextStep, summaryText } from "../../../views/run/run-summary.ts";
import { type CliCommand, EXIT, type ExitCode, type World, exitCodeOf } from "../../../app/command.ts";
import { JSON_FIELDS, JSON_OPTION, fieldsHelp, pickFields, pickedFields, runDocument } from "../../json-fields.ts";
import { outlineTyped, warnOfJournal } from "../../../app/with-journal.ts";
import { type Column, labeledLines, stateCell, tableLines } from "../../table.ts";
import { glyphsFor } from "../../terminal-kind.ts";

const EXAMPLES = `Examples:
  remand status                       one line per story: where it is, who must act, what was spent
  remand status checkout-retry        of this one
  remand status --short               only what needs a person or is under way: the same as remand alone
  remand status --json                as a document for programs
  remand status --json id,status      only these fields of each story

Exit code: 0 all accepted, 8 still going on, 4 a person must act, 5 a money or time budget, 3 rejected.
`;

export const command: CliCommand = {
  name: "status",
  register(command, world, done) {
    command
      .usage("[story…] [options]")
      .argument("[story...]", "the stories to show (default: all)")
      .option(JSON_OPTION, "print a document of the schema remand.status/1, or these fields of its stories")
      .option("--short", "only what needs a person or is in progress, and the next step")
      .addHelpText("before", EXAMPLES)
      .addHelpText("after", fieldsHelp("status"))
      .action(async (stories: string[], options: { readonly json?: boolean | string; readonly short?: boolean }) =>
        done(await status(world, stories, pickedFields("status", options.json), options.short === true)),
      );
  },
};

async function status(
  world: World,
  typed: readonly string[],
  fields: readonly string[] | null | false,
  isShort: boolean,
): Promise<ExitCode> {
  await warnOfJournal(world);
  // The JSON document lists every story; the text leaves out ended ones, of which there may be thousands.
  const { ids: asked, run } = await (typed.length > 0
    ? outlineTyped(world, typed, fields === null ? JSON_FIELDS.status : [])
    : everyStory(world, fields === false));
  if (run === null) {
    if (fields !== false) world.out(`${JSON.stringify({ schema: "remand.status/1", stories: [] }, null, 2)}\n`);
    else
      world.err(
        "remand: nothing has run here yet\n  remand run works on the stories; remand doctor checks the set-up first.\n",
      );
    return EXIT.ok;
  }
  if (fields === null) world.out(`${JSON.stringify(runDocument(run, asked, "remand.status/1"), null, 2)}\n`);
  else if (fields !== false) {
    const stories = boardRows(run, asked).map((row) => pickFields(row, fields));
    world.out(`${JSON.stringify({ schema: "remand.status/1", stories }, null, 2)}\n`);
  } else {
    const glyphs = glyphsFor(world.env);
    const rows = boardRows(run, asked);
    const listed = isShort
      ? byUrgency(rows)
          .filter(({ status }) => OF_INTEREST.has(status))
          .slice(0, MOST_SHORT)
      : rows;
    const lines = [
      ...table(world, listed, glyphs),
      ...unlistedLine(run),
      ...(rows.length > listed.length
        ? [`(${countText(rows.length - listed.length, "more story", "more stories")}: remand status)`]
        : []),
      ...labeledLines(world, "", summaryText(run, asked, glyphs.dot)),
      ...forecastText(run, asked),
      ...nextStep(run, asked),
    ];
    // One write: with thousands of lines, the number of writes dominates the cost.
    world.out(`${lines.join("\n")}\n`);
  }
  return exitCodeOf(run, asked);
}

async function everyStory(world: World, isOpenOnly: boolean): Promise<{ ids: null; run: RunOutline | null }> {
  return {
    ids: null,
    run: await (isOpenOnly ? world.host.readOutline(world.cwd, "open") : world.host.readOutline(world.cwd)),
  };
}

function unlistedLine({ unlisted }: RunOutline): string[] {
  if (unlisted === undefined) return [];
  const ended = unlisted.accepted + unlisted.failed + (unlisted.dismissed ?? 0);
  const what = `${ended.toLocaleString("en")} ${plural(ended, "story that has ended is", "stories that have ended are")}`;
  return [`(${what} not listed: name one to see it, or use --json)`];
}

/** The states that the short form shows: stories that need a person or are in progress. */
const OF_INTEREST: ReadonlySet<BoardRow["status"]> = new Set(["escalated", "failed", "working", "in-gate", "waiting"]);
const MOST_SHORT = 10;

/** The likely cost of the next attempts; empty where it is unknown, or where no story is in progress. */
function forecastText(run: RunOutline, asked: readonly StoryId[] | null): string[] {
  const forecast = forecastOf(run, asked);
  return forecast.stories === 0
    ? []
    : forecastLines({ ...forecast, storyUsd: null }).map((line) => `Forecast: ${line}`);
}

const COLUMNS: readonly Column[] = [
  { title: "STORY", least: 14 },
  { title: "STATE" },
  { title: "ATTEMPT" },
  { title: "SPENT" },
  { title: "WHO", extra: 3 },
  { title: "WHAT", least: 44 },
  { title: "GATES", extra: 4 },
  { title: "QUESTION", extra: 2 },
];

function table(world: World, rows: readonly BoardRow[], glyphs: Glyphs): string[] {
  const cells = byUrgency(rows).map((row) => [
    { text: row.id, paint: "strong" as const },
    stateCell(row, glyphs),
    attemptCount(row),
    moneyOf(row),
    whoText(row),
    whyText(row, world.now()),
    stripText(row.gates, glyphs),
    row.escalation ?? "",
  ]);
  return tableLines(world, COLUMNS, cells);
}

export function moneyOf({ costUsd, costUnknown, costLimitUsd }: BoardRow): string {
  return spentText({ costUsd, costUnknown, tokens: 0, timeMs: 0 }, costLimitUsd);
}

export function whyText(row: BoardRow, now: number): string {
  const elapsed = row.since === null ? "" : `, ${durationText(Math.max(0, now - row.since))}`;
  return `${withoutBackticks(shortLine(row.why, LONGEST_WHY))}${elapsed}`;
}

const LONGEST_WHY = 160;
