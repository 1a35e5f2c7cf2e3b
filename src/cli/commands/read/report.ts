import { basename, resolve } from "node:path";
import { entries } from "../../../stdx/sorted-map.ts";
import { readStoredTexts } from "../../../engine/stored-texts.ts";
import { withoutSecrets } from "../../../parse/secrets/secrets.ts";
import { ledgerOf } from "../../../views/board/ledger.ts";
import { readReportedStories, reportHtml } from "../../../views/run/run-report.ts";
import { storyDocument } from "../../../views/story/story-document.ts";
import { storyLine } from "../../../views/story/story-lines.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";
import { loadConfig, shownPath } from "../../../app/load-config.ts";
import { resolveIds } from "../../../app/option-values.ts";
import { linesOf, storyOf, withJournal } from "../../../app/with-journal.ts";

const EXAMPLES = `Examples:
  remand report --html run.html                  the whole run in one file, for people without Remand
  remand report --html two.html login checkout   of these stories

The file opens offline and holds no script: what needs a person, what became of each story and why, what it cost by
role, model and cause, and every story with its attempts, findings, blame and events. Secrets are taken out.
`;

interface Options {
  readonly html: string;
  readonly json?: boolean;
}

/** The maximum number of rows per view of the costs in a report. */
const MOST_ROWS = 50;

export const command: CliCommand = {
  name: "report",
  register(command, world, done) {
    command
      .usage("--html <file> [story...] [options]")
      .argument("[story...]", "only these stories")
      .requiredOption("--html <file>", "the file to write")
      .option("--json", "print a document of the schema remand.report/1 that says what was written")
      .addHelpText("before", EXAMPLES)
      .action(async (stories: readonly string[], options: Options) => {
        await report(world, stories, options);
        done(EXIT.ok);
      });
  },
};

async function report(world: World, typed: readonly string[], options: Options): Promise<void> {
  const { config } = await loadConfig(world, {});
  const patterns = (config?.redact ?? []).map((pattern) => ({ kind: "listed", pattern: new RegExp(pattern, "g") }));
  const path = resolve(world.cwd, options.html);
  const { html, count } = await withJournal(world, async (view) => {
    const known = [...entries(view.state.stories)].map(([id]) => id);
    const asked = typed.length === 0 ? known : resolveIds(typed, known);
    const stories = await readReportedStories(asked, {
      story: async (id) => {
        const lines = await linesOf(view, id);
        return { document: storyDocument(view.state, storyOf(view.state, id), lines), lines: lines.map(storyLine) };
      },
      texts: ({ lines }) => readStoredTexts(lines, view.evidence),
    });
    const spending = ledgerOf(await linesOf(view, null), view.state, MOST_ROWS);
    const others = known.length - stories.length;
    const paper = { project: basename(resolve(world.cwd)), stories, spending, others, at: world.now() };
    return { html: reportHtml(withoutSecrets(paper, { patterns })), count: stories.length };
  });
  await world.files.write(path, world.host.clean(html));
  const file = shownPath(world, path);
  world.out(
    options.json === true
      ? `${JSON.stringify({ schema: "remand.report/1", file, stories: count }, null, 2)}\n`
      : `${file}\n`,
  );
}
