import { RemandError } from "../../domain/error.ts";
import { diffRange } from "../../views/diff-range.ts";
import { EXIT, type CliCommand, type World } from "../command.ts";
import { linesOf, looking, storyOf } from "../looking.ts";
import { numberOf } from "../option-values.ts";

interface Options {
  readonly attempt?: string;
  readonly since?: string;
  readonly blame?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand diff checkout-retry                       everything the story has changed
  remand diff checkout-retry --attempt 2           what attempt 2 changed
  remand diff checkout-retry --since 1             what was changed after attempt 1
`;

export const command: CliCommand = {
  name: "diff",
  summary: "show what a story, or one of its attempts, has changed",
  register(command, world, done) {
    command
      .usage("<story> [options]")
      .argument("<story>", "the story's id")
      .option("--attempt <number>", "what this attempt changed (with --since: up to this attempt)")
      .option("--since <number>", "only what was changed after this attempt")
      .option("--blame", "say which attempt wrote each line (comes in a later version)")
      .option("--json", "print a document of the schema remand.diff/1")
      .addHelpText("before", EXAMPLES)
      .action(async (story: string, options: Options) => {
        await diff(world, story, options);
        done(EXIT.ok);
      });
  },
};

async function diff(world: World, typed: string, options: Options): Promise<void> {
  if (options.blame === true)
    throw new RemandError(
      "usage",
      "--blame is not there yet",
      "remand diff --attempt n shows what each attempt wrote.",
    );
  const attempt = options.attempt === undefined ? null : numberOf("--attempt", options.attempt, 1, 100_000);
  const since = options.since === undefined ? null : numberOf("--since", options.since, 1, 100_000);
  await looking(world, async (look) => {
    const { id } = storyOf(look.state, typed).story;
    const range = diffRange(id, await linesOf(look, id), attempt, since);
    const workspace = await look.workspace();
    const text = await workspace.diff(id, range.from, range.to);
    if (options.json !== true) return world.out(text === "" || text.endsWith("\n") ? text : `${text}\n`);
    const files = await workspace.changed(id, range.from, range.to);
    world.out(`${JSON.stringify({ schema: "remand.diff/1", story: id, ...range, files, diff: text }, null, 2)}\n`);
  });
}
