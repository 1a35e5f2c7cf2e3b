import { RemandError } from "../../../core/events/error.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import type { RunOutline } from "../../../core/stories/run-state.ts";
import { countText, fitText, wrapText, withoutBackticks } from "../../../stdx/plain-text.ts";
import { entries } from "../../../stdx/sorted-map.ts";
import { type BoardRow, attemptCount, boardRows, byUrgency, stripText, whoText } from "../../../views/board/board.ts";
import { zonedTime } from "../../../views/run/event-text.ts";
import { nextStep, summaryText } from "../../../views/run/run-summary.ts";
import { durationText, moneyText, shortLine } from "../../../views/text/words.ts";
import { type CliCommand, EXIT, type ExitCode, INTERRUPTED, type Keyboard, type World } from "../../../app/command.ts";
import { personOf } from "../../../app/option-values.ts";
import { nothingYet, warnOfJournal } from "../../../app/with-journal.ts";
import { JSON_OPTION, fieldsHelp, pickFields, pickedFields, runDocument } from "../../json-fields.ts";
import {
  ENTER_SCREEN,
  LEAVE_SCREEN,
  type ScrolledText,
  fullScreen,
  scrollText,
  scrolledLines,
  stepOf,
} from "../../picker.ts";
import { type Column, stateCell, tableLines } from "../../table.ts";
import { glyphsFor, paintFor } from "../../terminal-kind.ts";
import { answerByPicker } from "../work/answer.ts";
import { diff } from "./diff.ts";
import { createOutputLines } from "./logs.ts";
import { show } from "./show.ts";
import { moneyOf, whyText } from "./status.ts";

const EXAMPLES = `Examples:
  remand top                          every story, live: who must act, attempt, spend, time, gates
  remand top --no-input               one table, as in a pipe
  remand top --json                   the same once, as a document for programs
  remand top --json id,status,since   only these fields of each story

Keys: j and k (or the arrows) move, a answers the story's question, l follows what its agent or check prints,
d shows what it changed, enter its history, p pauses or resumes it, q leaves. In a text j, k, page up, page down,
g and G scroll, and q goes back.

Exit code: 0. remand status has the exit code of the run.
`;

export const command: CliCommand = {
  name: "top",
  register(command, world, done) {
    command
      .usage("[options]")
      .option(JSON_OPTION, "print a document of the schema remand.top/1 once, or these fields of its stories")
      .addHelpText("before", EXAMPLES)
      .addHelpText("after", fieldsHelp("top"))
      .action(async (options: { readonly json?: boolean | string }) =>
        done(await top(world, pickedFields("top", options.json))),
      );
  },
};

async function top(world: World, fields: readonly string[] | null | false): Promise<ExitCode> {
  await warnOfJournal(world);
  const run = await world.host.readOutline(world.cwd, "open");
  if (run === null) throw nothingYet();
  const rows = byUrgency(boardRows(run, null));
  if (fields !== false) {
    const whole = fields === null ? runDocument(run, null, "remand.top/1") : { schema: "remand.top/1" };
    world.out(`${JSON.stringify({ ...whole, stories: rows.map((row) => pickFields(row, fields)) }, null, 2)}\n`);
    return EXIT.ok;
  }
  if (world.keyboard !== null) return watchStories(world, world.keyboard, run);
  world.out(`${[...storyTable(world, rows, null), summaryText(run, null, glyphsFor(world.env).dot)].join("\n")}\n`);
  world.err("remand: printed once; run it in a terminal for live updates\n");
  return EXIT.ok;
}

const COLUMNS: readonly Column[] = [
  { title: "STORY", least: 18 },
  { title: "STATE" },
  { title: "WHO", extra: 2 },
  { title: "ATTEMPT", extra: 3 },
  { title: "SPENT", align: "right", extra: 1 },
  { title: "LIMIT", align: "right", extra: 4 },
  { title: "TIME", align: "right" },
  { title: "WHAT", least: 12 },
  { title: "GATES", extra: 5 },
];

/** `selected`: the row that keys act on; `null`: no row is marked. */
function storyTable(world: World, rows: readonly BoardRow[], selected: StoryId | null): string[] {
  const glyphs = glyphsFor(world.env);
  const cells = rows.map((row) => [
    selected === null
      ? row.id
      : row.id === selected
        ? { text: `> ${row.id}`, paint: "strong" as const }
        : `  ${row.id}`,
    stateCell(row, glyphs),
    whoText(row),
    attemptCount(row),
    moneyOf({ ...row, costLimitUsd: null }),
    row.costLimitUsd === null ? "" : moneyText(row.costLimitUsd),
    timeText(row, world.now()),
    whyText({ ...row, since: null }, world.now()),
    stripText(row.gates, glyphs),
  ]);
  return tableLines(world, COLUMNS, cells);
}

/** How long the current step has been running; if none runs, how long agents and checks took in total. */
const timeText = ({ since, timeMs }: BoardRow, now: number): string =>
  since === null && timeMs === 0 ? "" : durationText(since === null ? timeMs : Math.max(0, now - since));

interface Screen {
  run: RunOutline;
  rows: readonly BoardRow[];
  selected: StoryId | null;
  /** The newest line that was printed for the selected story. */
  printed: string;
  message: string;
  /** A text that is shown instead of the list. */
  text: ScrolledText | null;
}

const LOOK_EVERY_MS = 1000;

/** Draws the stories until the person quits. Keys and reads of the journal are handled one after the other. */
async function watchStories(world: World, keyboard: Keyboard, first: RunOutline): Promise<ExitCode> {
  const rows = byUrgency(boardRows(first, null));
  const selected = rows[0]?.id ?? null;
  const screen: Screen = { run: first, rows, selected, printed: "", message: "", text: null };
  const left = new AbortController();
  let exit: ExitCode = EXIT.ok;
  let queue: Promise<void> = Promise.resolve();
  let queued = 0;
  let unlisten = (): void => undefined;
  const draw = (): void => {
    if (left.signal.aborted) return;
    const { text } = screen;
    const lines = text === null ? listLines(world, keyboard, screen) : scrolledLines(world, keyboard, text);
    world.out(fullScreen(lines, keyboard.rows()));
  };
  const handle = async (before: Promise<void>, work: () => Promise<void>): Promise<void> => {
    await before;
    queued--;
    if (left.signal.aborted) return;
    // An error (a refused answer, a missing journal) is shown on the screen and does not end it.
    await work().catch((error: unknown) => (screen.message = errorText(error)));
    draw();
  };
  const enqueue = (work: () => Promise<void>): void => {
    queued++;
    queue = handle(queue, work);
  };
  const press = async (key: string): Promise<void> => {
    screen.message = "";
    if (key === "ctrl-c" || (key === "q" && screen.text === null)) left.abort();
    else if (key === "a" && screen.text === null) await leaveFor(async () => answerSelected(world, screen));
    else if (screen.text === null) await actOnStory(world, keyboard, screen, key);
    else screen.text = key === "q" || key === "escape" ? null : scrollText(screen.text, key, keyboard);
  };
  const listen = (): void => {
    world.out(ENTER_SCREEN);
    unlisten = keyboard.listen((key) => enqueue(() => press(key)), draw);
  };
  const leaveFor = async (work: () => Promise<void>): Promise<void> => {
    unlisten();
    world.out(LEAVE_SCREEN);
    await work().finally(listen);
  };
  const unhook = world.onInterrupt((signal) => {
    exit = INTERRUPTED[signal];
    left.abort();
  });
  const timer = setInterval(() => queued === 0 && enqueue(() => look(world, screen)), LOOK_EVERY_MS);
  enqueue(() => look(world, screen));
  listen();
  await new Promise((resolve) => left.signal.addEventListener("abort", resolve));
  clearInterval(timer);
  unhook();
  unlisten();
  world.out(LEAVE_SCREEN);
  return exit;
}

const errorText = (error: unknown): string =>
  error instanceof RemandError ? `${error.message}. ${error.hint}` : String(error);

const MOST_LINES = 5000;

async function look(world: World, screen: Screen): Promise<void> {
  const run = await world.host.readOutline(world.cwd, "open");
  if (run === null) throw nothingYet();
  const at = Math.max(0, placeOf(screen));
  screen.run = run;
  screen.rows = byUrgency(boardRows(run, null));
  if (placeOf(screen) === -1) screen.selected = screen.rows[Math.min(at, screen.rows.length - 1)]?.id ?? null;
  const { text, selected } = screen;
  if (text?.next != null) screen.text = { ...text, lines: [...text.lines, ...(await text.next())].slice(-MOST_LINES) };
  else if (selected !== null) {
    const output = await world.host.output(world.cwd);
    screen.printed = (await output?.lastLine(selected))?.text ?? "";
  }
}

const placeOf = ({ rows, selected }: Screen): number => rows.findIndex(({ id }) => id === selected);

async function actOnStory(world: World, keyboard: Keyboard, screen: Screen, key: string): Promise<void> {
  const { rows } = screen;
  const at = placeOf(screen);
  const step = stepOf(key, pageRows(keyboard));
  if (step !== 0) screen.selected = rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.id ?? null;
  const row = rows[at];
  if (row === undefined) return;
  const { id } = row;
  if (key === "p") screen.message = await pauseOrResume(world, row);
  if (step !== 0 || key === "p") await look(world, screen);
  if (key === "d") screen.text = await printedText(world, `What ${id} changed`, (there) => diff(there, id, {}));
  if (key === "enter") screen.text = await printedText(world, id, (there) => show(there, id, false));
  if (key === "l") {
    const next = await createOutputLines(world, id);
    screen.text = { title: `What is printed for ${id}`, lines: await next(), from: null, next };
  }
}

async function pauseOrResume(world: World, { id, isPaused, status }: BoardRow): Promise<string> {
  if (status === "accepted" || status === "failed" || status === "dismissed") return `${id} has ended: ${status}`;
  const by = await personOf(world, undefined);
  await world.host.appendEvents(world.cwd, id, [{ type: isPaused ? "story.released" : "story.held", by }]);
  return isPaused ? `${id}: resumed by ${by}` : `${id}: paused by ${by}; what runs for it comes to its end`;
}

/** Asks on the normal screen, where the dialog can still be read afterwards. */
async function answerSelected(world: World, screen: Screen): Promise<void> {
  const { selected, run } = screen;
  const row = screen.rows[placeOf(screen)];
  if (selected === null || row === undefined || (row.escalation === null && run.escalation === null)) {
    screen.message = `${selected ?? "The run"} asks nothing. remand rework sends work back unasked.`;
    return;
  }
  let said = "";
  const out = (text: string): void => {
    said = text;
    world.out(text);
  };
  await answerByPicker({ ...world, out }, selected);
  // The last printed line is the confirmation, unless the person left the picker.
  screen.message = said.startsWith(selected) ? said : "";
  await look(world, screen);
}

/** Captures the output of another command as a text that can be scrolled. */
async function printedText(world: World, title: string, print: (there: World) => Promise<void>): Promise<ScrolledText> {
  let printed = "";
  await print({ ...world, color: false, out: (text) => void (printed += text) });
  return { title, lines: printed.replace(/\n$/, "").split("\n"), from: 0, next: null };
}

/** Lines of the screen that show neither rows nor the summary. */
const FRAME_ROWS = 4;
const pageRows = (keyboard: Keyboard, summary: readonly string[] = [""]): number =>
  Math.max(1, keyboard.rows() - FRAME_ROWS - summary.length);

const KEYS = "j/k move  a answer  l log  d diff  enter history  p pause/resume  q quit";
const TIME_OF_DAY = 11;

function listLines(world: World, keyboard: Keyboard, screen: Screen): string[] {
  const { run, rows, selected } = screen;
  const paint = paintFor(world.color);
  const { dot } = glyphsFor(world.env);
  // One column less, because a terminal may start a new line when the last column is filled.
  const width = Math.max(20, world.columns() - 1);
  const summary = wrapText(summaryText(run, null, dot), width);
  const page = pageRows(keyboard, summary);
  const at = Math.max(0, placeOf(screen));
  const from = Math.max(0, Math.min(at - Math.floor(page / 2), rows.length - page));
  const shown = rows.slice(from, from + page);
  const { time, offset } = zonedTime(world.now(), world.zone);
  const table = storyTable({ ...world, columns: () => width }, shown, selected);
  return [
    paint.strong(fitText(`remand top ${dot} ${engineText(run)} ${dot} ${time.slice(TIME_OF_DAY)} ${offset}`, width)),
    ...summary,
    ...(table.length === 0 ? ["(no story is open)"] : table),
    ...Array.from({ length: Math.max(0, page - shown.length) }, () => ""),
    fitText(shortLine(screen.message || aboutSelected(screen), 400), width),
    paint.dim(fitText(`${rows.length > page ? `${at + 1} of ${rows.length}  ` : ""}${KEYS}`, width)),
  ];
}

/** The last printed line of a story that is being worked on; for any other story, what it waits for. */
function aboutSelected({ rows, selected, printed, run }: Screen): string {
  const row = rows.find(({ id }) => id === selected);
  if (row === undefined) return nextStep(run, null).join(" ");
  return row.since !== null && printed !== "" ? printed : withoutBackticks(row.why);
}

function engineText({ engine, stories }: RunOutline): string {
  if (engine === "gone") return "the engine is gone: remand run continues its work";
  if (engine === "stopped") return "no engine runs";
  const busy = [...entries(stories)].filter(([, { running, ending }]) => running !== null && ending === null);
  return `engine running, ${countText(busy.length, "story", "stories")} under way`;
}
