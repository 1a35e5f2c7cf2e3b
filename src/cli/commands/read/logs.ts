import { RemandError } from "../../../core/events/error.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import type { OutputLine, OutputPosition } from "../../../core/events/output-line.ts";
import type { OutputReader } from "../../../ports/evidence.ts";
import { coloredText, padText, plainText, textWidth } from "../../../stdx/plain-text.ts";
import { entries } from "../../../stdx/sorted-map.ts";
import { type PrintedFilter, type PrintedLine, attemptStarts, printedLines } from "../../../views/run/printed-lines.ts";
import { zonedTime } from "../../../views/run/event-text.ts";
import { type CliCommand, EXIT, type ExitCode, type World } from "../../../app/command.ts";
import { parseNumber } from "../../../app/option-values.ts";
import { collectLines, nothingYet, storiesTyped, warnOfJournal, withStories } from "../../../app/with-journal.ts";
import { JSON_OPTION, fieldsHelp, pickFields, pickedFields } from "../../json-fields.ts";
import { paintFor } from "../../terminal-kind.ts";

interface Options {
  readonly follow?: boolean;
  readonly agent?: boolean;
  readonly check?: boolean;
  readonly attempt?: string;
  readonly tail?: string;
  readonly json?: boolean | string;
}

const EXAMPLES = `Examples:
  remand logs checkout-retry                what its agents and checks printed last
  remand logs checkout-retry -f             and what they print, until Ctrl-C
  remand logs -f                            of every story that is under way
  remand logs checkout-retry --check --attempt 2 | grep -i error
  remand logs checkout-retry --json         one JSON document a line

The newest part is kept, up to 1 MB a story. What an attempt or a gate printed in all is evidence: remand show --json
names it, remand evidence prints it. Only colors of what was printed reach the terminal.

Exit code: 0 printed, also where there is nothing yet; 2 there is no such story, or none is under way.
`;

export const command: CliCommand = {
  name: "logs",
  register(command, world, done) {
    command
      .usage("[story…] [options]")
      .argument("[story...]", "the stories (default: those in progress)")
      .option("-f, --follow", "keep printing, until Ctrl-C")
      .option("--agent", "only what agents print: developers and reviewers")
      .option("--check", "only what checks and other commands print")
      .option("--attempt <number>", "only this attempt, and the gates after it")
      .option("--tail <number>", "only this many last lines of each story")
      .option(JSON_OPTION, "one document of the schema remand.output-line/1 on each line, or these fields of it")
      .addHelpText("before", EXAMPLES)
      .addHelpText("after", fieldsHelp("logs"))
      .action(async (stories: string[], options: Options) => done(await logs(world, stories, options)));
  },
};

async function logs(world: World, typed: readonly string[], options: Options): Promise<ExitCode> {
  const fields = pickedFields("logs", options.json);
  const tail = options.tail === undefined ? null : parseNumber("--tail", options.tail, 0, 1_000_000);
  const filter: PrintedFilter = {
    attempt: options.attempt === undefined ? null : parseNumber("--attempt", options.attempt, 1, 100_000),
    agent: options.agent === true,
    check: options.check === true,
  };
  await warnOfJournal(world);
  const output = await keptOutput(world);
  const stories = typed.length === 0 ? await storiesUnderWay(world) : await storiesTyped(world, typed);
  const width = stories.length > 1 ? Math.max(...stories.map((id) => textWidth(id))) : 0;
  const print = (lines: readonly PrintedLine[]): void =>
    world.out(lines.map((line) => (fields === false ? textLine(world, line, width) : jsonLine(line, fields))).join(""));
  const next = reader(world, output, stories, filter);
  const first = await next();
  print(tail === null ? first : stories.flatMap((id) => lastOf(first, id, tail)).toSorted((a, b) => a.at - b.at));
  if (first.length === 0 && options.follow !== true)
    world.err(`remand: nothing was printed for ${stories.join(", ")}\n`);
  if (options.follow === true) await follow(world, async () => print(await next()));
  return EXIT.ok;
}

async function keptOutput(world: World): Promise<OutputReader> {
  const output = await world.host.output(world.cwd);
  if (output === null)
    throw new RemandError(
      "usage",
      "the output of a fleet is kept by its workers",
      "Run it in the checkout of one, without --db.",
    );
  return output;
}

/** Returns a function that reads the lines printed for a story since its previous call. */
export async function createOutputLines(world: World, story: StoryId): Promise<() => Promise<readonly string[]>> {
  const next = reader(world, await keptOutput(world), [story], { attempt: null, agent: false, check: false });
  return async () => (await next()).map((line) => textLine(world, line, 0).trimEnd());
}

const lastOf = (lines: readonly PrintedLine[], story: StoryId, count: number): readonly PrintedLine[] =>
  count === 0 ? [] : lines.filter((line) => line.story === story).slice(-count);

async function storiesUnderWay(world: World): Promise<StoryId[]> {
  const run = await world.host.readOutline(world.cwd, "open");
  if (run === null) throw nothingYet();
  const busy = [...entries(run.stories)].flatMap(([id, { running, ending }]) =>
    running !== null && ending === null ? [id] : [],
  );
  if (busy.length > 0) return busy;
  throw new RemandError("usage", "no story is in progress", "Name one: remand logs <story>. remand status lists them.");
}

/** Returns a function that reads what was printed since its previous call, for all stories in order of time. */
function reader(
  world: World,
  output: OutputReader,
  stories: readonly StoryId[],
  filter: PrintedFilter,
): () => Promise<PrintedLine[]> {
  const places = new Map<StoryId, OutputPosition>();
  const newLines = async (story: StoryId): Promise<OutputLine[]> => {
    const lines: OutputLine[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await output.read(story, places.get(story) ?? null);
      places.set(story, page.place);
      lines.push(...page.lines);
      ({ hasMore } = page);
    }
    return lines;
  };
  return async () => {
    const found: PrintedLine[] = [];
    for (const story of stories) {
      const lines = await newLines(story);
      if (lines.length === 0) continue;
      const starts = await withStories(world, [story], async (view) =>
        attemptStarts(await collectLines(view.lines(story))),
      );
      found.push(...printedLines(story, lines, starts, filter));
    }
    return found.sort((a, b) => a.at - b.at);
  };
}

const LOOK_EVERY_MS = 200;

/** Prints new output until the first Ctrl-C. */
async function follow(world: World, printNew: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const unhook = world.onInterrupt(() => over.abort());
  try {
    while (!over.signal.aborted) {
      await new Promise<void>((done) => {
        const end = (): void => {
          clearTimeout(timer);
          over.signal.removeEventListener("abort", end);
          done();
        };
        const timer = setTimeout(end, LOOK_EVERY_MS);
        over.signal.addEventListener("abort", end);
      });
      await printNew();
    }
  } finally {
    unhook();
  }
}

const jsonLine = (line: PrintedLine, fields: readonly string[] | null): string =>
  `${JSON.stringify({ schema: "remand.output-line/1", ...pickFields({ ...line, text: plainText(line.text) }, fields) })}\n`;

function textLine(world: World, { at, story, step, text }: PrintedLine, width: number): string {
  const paint = paintFor(world.color);
  const { time } = zonedTime(at, world.zone);
  const name = width === 0 ? "" : `${paint.strong(padText(story, width))}  `;
  const head = `${paint.dim(time.slice(TIME_OF_DAY))}  ${name}${paint.dim(padText(step, STEP_WIDTH))}  `;
  return `${head}${shownText(world, text)}\n`;
}

const TIME_OF_DAY = 11;
const STEP_WIDTH = 11;

/** Removes colors if anything else has to be removed: color codes could split a secret in two. */
function shownText(world: World, text: string): string {
  const plain = plainText(text);
  return world.color && world.host.clean(plain) === plain ? coloredText(text) : plain;
}
