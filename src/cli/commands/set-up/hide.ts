import { relative, resolve, sep } from "node:path";
import { countText } from "../../../stdx/plain-text.ts";
import type { HideReport } from "../../../app/host-plans.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";

interface Options {
  readonly commit?: boolean;
  readonly forget?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand hide tests/hidden              copy these tests, and show the commit that removes them
  remand hide --commit tests/hidden     copy them, and make that commit
  remand hide                           list what is hidden
  remand hide --forget tests/hidden     drop the copies; files of the project are not touched

Agents never see hidden files. After the checks have passed, the checks (or the commands of gates.checks.hidden)
run again with these files in a throwaway checkout. An agent is told only how many failures there were.
`;

export const command: CliCommand = {
  name: "hide",
  register(command, world, done) {
    command
      .usage("[paths...] [options]")
      .argument("[paths...]", "files or folders of the project (default: list the hidden ones)")
      .option("--commit", "remove them from the project by a commit of these files alone")
      .option("--forget", "delete the copies and stop hiding these files")
      .option("--json", "print a document of the schema remand.hide/1")
      .addHelpText("before", EXAMPLES)
      .action(async (paths: string[], options: Options) => {
        await hide(world, paths, options);
        done(EXIT.ok);
      });
  },
};

async function hide(world: World, typed: readonly string[], options: Options): Promise<void> {
  const paths = typed.map((path) => relative(world.cwd, resolve(world.cwd, path)).split(sep).join("/"));
  const plan = { paths, commit: options.commit === true, forget: options.forget === true };
  const report = await world.host.hide(world.cwd, plan);
  if (options.json === true) world.out(`${JSON.stringify({ schema: "remand.hide/1", ...report }, null, 2)}\n`);
  else world.out(typed.length === 0 ? listText(report) : resultText(report, plan.forget));
}

function listText({ hidden, folder }: HideReport): string {
  if (hidden.length === 0) return "No file is hidden. To hide some: remand hide <paths>\n";
  return `${[`${countText(hidden.length, "file")} hidden, kept in ${folder}:`, ...hidden.map((path) => `  ${path}`)].join("\n")}\n`;
}

function resultText(report: HideReport, isForgotten: boolean): string {
  const { copied, dropped, left, commit, subject, folder } = report;
  if (isForgotten) return `Dropped ${countText(dropped.length, "copy", "copies")}.\n`;
  const lines = [`Copied ${countText(copied.length, "file")} to ${folder}.`];
  if (commit !== null) lines.push(`Removed from the project by commit ${commit.slice(0, 12)}.`);
  if (left.length > 0)
    lines.push(
      "They are still in the project, where agents see them. Remove them by a commit:",
      `  git rm --quiet -- ${left.map(shellWord).join(" ")}`,
      `  git commit --message "${subject}"`,
      "or let Remand do it: the same command with --commit.",
    );
  return `${lines.join("\n")}\n`;
}

const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
