import { countText } from "../../../stdx/plain-text.ts";
import type { Problem } from "../../../core/events/error.ts";
import type { Story } from "../../../core/stories/story.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { type CliCommand, EXIT, type ExitCode, type World } from "../../../app/command.ts";
import { JSON_OPTION, fieldsHelp, pickFields, pickedFields } from "../../json-fields.ts";
import { shortLine } from "../../../views/text/words.ts";
import { type Cell, type Column, tableLines } from "../../table.ts";
import { glyphsFor } from "../../terminal-kind.ts";
import { loadConfig, loadStories, shownPath, storiesFolder } from "../../../app/load-config.ts";

interface Options {
  readonly json?: boolean | string;
  readonly config?: string;
}

const EXAMPLES = `
Examples:
  remand stories                 the stories in the stories folder, and what is wrong with any of them
  remand stories --json          as a document for programs
  remand stories --json id,shelf only these fields of each story

Exit code: 0 every story can be worked on, 2 there is an error in one of them or in the config.
`;

export const command: CliCommand = {
  name: "stories",
  register(command, world, done) {
    command
      .description("Lists the stories that were read, with every problem and its place.")
      .option("--config <file>", "the project's file, where it is not remand.yaml")
      .option(JSON_OPTION, "print a document of the schema remand.stories/1, or these fields of its stories")
      .addHelpText("after", `${EXAMPLES}${fieldsHelp("stories")}`)
      .action(async (options: Options) => done(await showStories(world, options)));
  },
};

async function showStories(world: World, options: Options): Promise<ExitCode> {
  const fields = pickedFields("stories", options.json);
  const { config, problems: configProblems } = await loadConfig(world, { config: options.config });
  const folder = storiesFolder(world, config);
  // Lists the stories even if the config is broken.
  const { stories, problems } = await loadStories(world, folder);
  const all = [...configProblems, ...problems];
  if (fields !== false) {
    const shown = stories.map((story) => pickFields(story, fields));
    world.out(`${JSON.stringify({ schema: "remand.stories/1", stories: shown, problems: all }, null, 2)}\n`);
  } else {
    // The caller asked for problems as much as for stories, so they are printed as output and not as messages.
    for (const problem of all) world.out(`${problemText(problem, world)}\n\n`);
    world.out(listing(world, stories, all, shownPath(world, folder)));
  }
  return all.some((problem) => problem.severity === "error") ? EXIT.usage : EXIT.ok;
}

const COLUMNS: readonly Column[] = [
  { title: "STORY", least: 14 },
  { title: "STATUS" },
  { title: "PRIORITY", align: "right", extra: 2 },
  { title: "CRITERIA", align: "right", extra: 3 },
  { title: "TITLE", least: 24 },
  { title: "AFTER", least: 10, extra: 1 },
];

function listing(world: World, stories: readonly Story[], problems: readonly Problem[], folder: string): string {
  const rows = stories.toSorted((a, b) => a.priority - b.priority).map(row);
  const errors = problems.filter((problem) => problem.severity === "error").length;
  const counts = [countText(stories.length, "story", "stories"), ...(errors > 0 ? [countText(errors, "error")] : [])];
  const warnings = problems.length - errors;
  if (warnings > 0) counts.push(countText(warnings, "warning"));
  const { dot } = glyphsFor(world.env);
  return `${[...tableLines(world, COLUMNS, rows), `${counts.join(` ${dot} `)} in ${folder}`].join("\n")}\n`;
}

function row(story: Story): Cell[] {
  return [
    { text: story.id, paint: "strong" },
    story.shelf,
    String(story.priority),
    String(story.criteria.length),
    shortLine(story.title, 300),
    story.dependsOn.join(", "),
  ];
}
