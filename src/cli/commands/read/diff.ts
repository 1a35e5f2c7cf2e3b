import { readGitDiff } from "../../../parse/code/git-output.ts";
import { diffRange } from "../../../views/story/diff-range.ts";
import { readDiff } from "../../../views/story/diff-document.ts";
import { EXIT, type CliCommand, type World } from "../../../app/command.ts";
import { diffBlameText } from "../../blame-text.ts";
import { linesOf, withJournal, storyOf } from "../../../app/with-journal.ts";
import { parseNumber } from "../../../app/option-values.ts";
import { paintFor } from "../../terminal-kind.ts";

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
  remand diff checkout-retry --blame               who wrote each line, with findings and blame beside it
`;

export const command: CliCommand = {
  name: "diff",
  register(command, world, done) {
    command
      .usage("<story> [options]")
      .argument("<story>", "the story's id")
      .option("--attempt <number>", "what this attempt changed (with --since: up to this attempt)")
      .option("--since <number>", "only what was changed after this attempt")
      .option("--blame", "show which attempt wrote each line, its findings and the blame")
      .option("--json", "print a document of the schema remand.diff/1")
      .addHelpText("before", EXAMPLES)
      .action(async (story: string, options: Options) => {
        await diff(world, story, options);
        done(EXIT.ok);
      });
  },
};

export async function diff(world: World, typed: string, options: Options): Promise<void> {
  const attempt = options.attempt === undefined ? null : parseNumber("--attempt", options.attempt, 1, 100_000);
  const since = options.since === undefined ? null : parseNumber("--since", options.since, 1, 100_000);
  await withJournal(world, async (view) => {
    const state = storyOf(view.state, typed);
    const { id } = state.story;
    const lines = await linesOf(view, id);
    const range = diffRange(id, lines, attempt, since);
    const workspace = await view.workspace();
    if (options.blame === true) {
      const read = async (from: string, to: string) => readGitDiff(await workspace.diff(id, from, to));
      const document = await readDiff({ state, lines, range, mostLines: Infinity, read });
      if (options.json !== true) return world.out(diffBlameText(document, paintFor(world.color)));
      return world.out(`${JSON.stringify({ schema: "remand.diff/1", story: id, ...document }, null, 2)}\n`);
    }
    const text = await workspace.diff(id, range.from, range.to);
    if (options.json !== true) return world.out(text === "" || text.endsWith("\n") ? text : `${text}\n`);
    const files = await workspace.changedPaths(id, range.from, range.to);
    world.out(`${JSON.stringify({ schema: "remand.diff/1", story: id, ...range, files, diff: text }, null, 2)}\n`);
  });
}
