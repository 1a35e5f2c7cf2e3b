import type { StoredEvent } from "../../../ports/journal.ts";
import { eventWords, timeText } from "../../../views/run/event-text.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";
import type { JournalView } from "../../../app/host.ts";
import { fieldsHelp, JSON_OPTION, pickFields, pickedFields } from "../../json-fields.ts";
import { withJournal, storyOf } from "../../../app/with-journal.ts";
import { JOURNAL_LINE } from "../../reporters/reporter.ts";
import { entries } from "../../../stdx/sorted-map.ts";
import { padText, textWidth } from "../../../stdx/plain-text.ts";
import { labeledLines } from "../../table.ts";
import { paintFor } from "../../terminal-kind.ts";

interface Options {
  readonly follow?: boolean;
  readonly story?: string;
  readonly json?: boolean | string;
}

const EXAMPLES = `Examples:
  remand log                              every event, oldest first
  remand log --story checkout-retry       of this story
  remand log --follow --json              as they happen, one JSON document a line
  remand log --json at,story,event        only these fields
`;

export const command: CliCommand = {
  name: "log",
  register(command, world, done) {
    command
      .option("--follow", "keep printing new events, until Ctrl-C")
      .option("--story <story>", "only this story's events")
      .option(JSON_OPTION, "one document of the schema remand.journal-line/1 on each line, or these fields of it")
      .addHelpText("before", EXAMPLES)
      .addHelpText("after", fieldsHelp("log"))
      .action(async (options: Options) => done(await log(world, options)));
  },
};

async function log(world: World, options: Options): Promise<ExitCode> {
  const fields = pickedFields("log", options.json);
  return withJournal(world, async (view) => {
    const story = options.story === undefined ? null : storyOf(view.state, options.story).story.id;
    const ids = [...entries(view.state.stories)].map(([id]) => textWidth(id));
    const width = story === null ? Math.max(textWidth(THE_RUN), ...ids) : textWidth(story);
    let after = 0;
    const printNew = async (): Promise<void> => {
      for await (const line of view.lines(after)) {
        after = line.position;
        if (story === null || line.story === story)
          world.out(fields === false ? textLine(world, line, width) : jsonLine(line, fields));
      }
    };
    await printNew();
    if (options.follow === true) await followLog(world, view, printNew);
    return EXIT.ok;
  });
}

/** Prints new lines until the first Ctrl-C. The prints run one after the other: two at once would repeat lines. */
async function followLog(world: World, view: JournalView, printNew: () => Promise<void>): Promise<void> {
  let turn: Promise<void> = Promise.resolve();
  await new Promise<void>((over, broken) => {
    const next = (): void => {
      turn = turn.then(printNew);
      turn.catch(broken);
    };
    const unwatch = view.journal.watch(next);
    const unhook = world.onInterrupt(() => {
      unwatch();
      unhook();
      turn.then(over, broken);
    });
    // Prints lines that were written between the first print and the start of the watch.
    next();
  });
}

const jsonLine = (line: StoredEvent, fields: readonly string[] | null): string =>
  `${JSON.stringify({ schema: JOURNAL_LINE, ...pickFields(line, fields) })}\n`;

/** Formats lines that arrive one by one: the columns' widths are fixed in advance, and long texts wrap. */
function textLine(world: World, { position, at, story, event }: StoredEvent, width: number): string {
  const paint = paintFor(world.color);
  const number = String(position).padStart(5);
  const head = `${number}  ${timeText(at, world.zone)}  ${padText(story ?? THE_RUN, width)}  `;
  const painted = `${paint.dim(`${number}  ${timeText(at, world.zone)}`)}  ${paint.strong(padText(story ?? THE_RUN, width))}  `;
  const words = eventWords(event);
  // On a narrow terminal, half of the line is reserved for the text.
  const text = labeledLines(world, head, `${event.type}${words === "" ? "" : `  ${words}`}`);
  return `${[painted + text[0]!.slice(head.length), ...text.slice(1)].join("\n")}\n`;
}

const THE_RUN = "the run";
