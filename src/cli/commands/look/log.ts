import type { StoredEvent } from "../../../ports/journal.ts";
import { eventWords, timeText } from "../../../views/run/event-text.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../../../app/command.ts";
import type { JournalView } from "../../../app/host.ts";
import { fieldsHelp, JSON_OPTION, pickFields, pickedFields } from "../../json-fields.ts";
import { withJournal, storyOf } from "../../../app/with-journal.ts";
import { JOURNAL_LINE } from "../../reporters/jsonl.ts";
import { paintFor, type Paint } from "../../terminal-kind.ts";

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
  summary: "print the journal",
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
    const paint = paintFor(world.color);
    let after = 0;
    const printNew = async (): Promise<void> => {
      for await (const line of view.lines(after)) {
        after = line.position;
        if (story === null || line.story === story)
          world.out(fields === false ? textLine(line, paint) : jsonLine(line, fields));
      }
    };
    await printNew();
    if (options.follow === true) await followLog(world, view, printNew);
    return EXIT.ok;
  });
}

/** Prints until the first Ctrl-C. One print after the other: two at once would print lines twice. */
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
    // What was written between the first print and the watch.
    next();
  });
}

const jsonLine = (line: StoredEvent, fields: readonly string[] | null): string =>
  `${JSON.stringify({ schema: JOURNAL_LINE, ...pickFields(line, fields) })}\n`;

function textLine({ position, at, story, event }: StoredEvent, paint: Paint): string {
  const words = eventWords(event);
  const head = `${paint.dim(`${String(position).padStart(5)}  ${timeText(at)}`)}  ${paint.strong(story ?? "the run")}  ${event.type}`;
  return words === "" ? `${head}\n` : `${head}  ${words}\n`;
}
