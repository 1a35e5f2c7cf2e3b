import type { Event } from "../../../core/events/event.ts";
import { entries } from "../../../stdx/sorted-map.ts";
import { storiesOf } from "../../../views/run/run-summary.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";
import { withJournal } from "../../../app/with-journal.ts";
import { resolveIds, personOf } from "../../../app/option-values.ts";

interface Options {
  readonly now?: boolean;
  readonly by?: string;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand stop                         nothing new starts; what runs ends
  remand stop checkout-retry          only for this story
  remand stop --now                   what runs is ended, too
  remand resume checkout-retry        resume it

A paused story stays paused, also at the next remand run.
`;

export const command: CliCommand = {
  name: "stop",
  register(command, world, done) {
    command
      .usage("[story…] [options]")
      .argument("[story...]", "the stories to pause (default: all that have not ended)")
      .option("--now", "end running work at once instead of letting it finish")
      .option("--by <name>", "who says so (default: you)")
      .option("--json", "print a document of the schema remand.stop/1")
      .addHelpText("before", EXAMPLES)
      .action(async (stories: string[], options: Options) => {
        await stop(world, stories, options);
        done(EXIT.ok);
      });
  },
};

async function stop(world: World, typed: readonly string[], options: Options): Promise<void> {
  const by = await personOf(world, options.by);
  const { states, engine } = await namedStories(world, typed);
  const open = states.filter(({ ending, held }) => ending === null && !held);
  const now = options.now === true ? { now: true } : {};
  const event: Event = { type: "story.held", by, ...now };
  if (open.length > 0)
    await world.host.appendEach(
      world.cwd,
      open.map(({ story }) => ({ stream: story.id, events: [event] })),
    );
  // If the engine is gone, the work that it had started does not run any more.
  const busy = open.filter(({ running }) => running !== null && engine !== "gone").map(({ story }) => story.id);
  const held = open.map(({ story }) => story.id);
  if (options.json === true)
    world.out(
      `${JSON.stringify({ schema: "remand.stop/1", held, stillRunning: options.now === true ? [] : busy }, null, 2)}\n`,
    );
  else if (held.length === 0) world.out("nothing to pause: every story has ended or is paused already\n");
  else
    world.out(
      `paused: ${held.join(", ")}${busy.length === 0 ? "" : `; ${options.now === true ? "ended" : "still running to its end"}: ${busy.join(", ")}`}\n`,
    );
}

const RESUME_EXAMPLES = `Examples:
  remand resume                       every paused story
  remand resume checkout-retry        only this one

A running engine continues at once; otherwise remand run does. remand stop pauses a story.
`;

/** `remand resume`: the counterpart of `remand stop`. */
export const resumeCommand: CliCommand = {
  name: "resume",
  register(command, world, done) {
    command
      .usage("[story…] [options]")
      .argument("[story...]", "the stories to resume (default: all that are paused)")
      .option("--by <name>", "who says so (default: you)")
      .option("--json", "print a document of the schema remand.resume/1")
      .addHelpText("before", RESUME_EXAMPLES)
      .action(async (stories: string[], options: Options) => {
        await resume(world, stories, options);
        done(EXIT.ok);
      });
  },
};

async function resume(world: World, typed: readonly string[], options: Options): Promise<void> {
  const by = await personOf(world, options.by);
  const { states, engine } = await namedStories(world, typed);
  const paused = states.filter(({ ending, held }) => ending === null && held).map(({ story }) => story.id);
  const event: Event = { type: "story.released", by };
  if (paused.length > 0)
    await world.host.appendEach(
      world.cwd,
      paused.map((stream) => ({ stream, events: [event] })),
    );
  const next = engine === undefined ? "" : "; no engine runs: remand run continues";
  if (options.json === true) world.out(`${JSON.stringify({ schema: "remand.resume/1", resumed: paused }, null, 2)}\n`);
  else if (paused.length === 0) world.out("nothing to resume: no story here is paused\n");
  else world.out(`resumed: ${paused.join(", ")}${next}\n`);
}

/** The stories that were typed, or all of them; and whether an engine runs. */
async function namedStories(world: World, typed: readonly string[]) {
  return withJournal(world, ({ state }) => {
    const known = [...entries(state.stories)].map(([id]) => id);
    const states = storiesOf(state, typed.length === 0 ? null : resolveIds(typed, known));
    return Promise.resolve({ states, engine: state.engine });
  });
}
