import type { StoryId } from "../../../core/events/ids.ts";
import { forecastOf } from "../../../views/board/ledger.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { type CliCommand, EXIT, type ExitCode, type World } from "../../../app/command.ts";
import { NEW_JOURNAL_HELP, isNewJournalWanted } from "../../../app/new-journal.ts";
import { storiesFolder } from "../../../app/load-config.ts";
import { collect, personOf } from "../../../app/option-values.ts";
import { questionCount } from "../../../views/answers/inbox.ts";
import { insistOnChecks } from "../../preflight.ts";
import { planText } from "../../plan-text.ts";
import { type PreparedRun, prepareRun } from "../../../app/prepare-run.ts";
import { REPORTERS } from "../../reporters/reporter.ts";
import { runEngine } from "../../run-engine.ts";

interface Options {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly dryRun?: boolean;
  readonly watch?: boolean;
  readonly reporter?: string;
  readonly json?: boolean;
  readonly by?: string;
  readonly newJournal?: boolean;
  readonly force?: boolean;
}

const EXAMPLES = `Examples:
  remand run                          work until every story is settled or waits for a person
  remand run checkout-retry           this story and those it depends on
  remand run --dry-run                print the plan: order, phases, gates, limits; nothing is started
  remand run --watch                  stay, and continue when stories or answers are new, until Ctrl-C
  remand run --reporter jsonl         each line of the journal as JSON
  remand run --new-journal            start over after the journal was lost or changed; the old file is kept

A stopped run continues where it was. Ctrl-C ends it cleanly; press it twice to end at once.
Exit code: 0 all accepted, 3 rejected, 4 a person must act, 5 a money or time budget, 2 wrong config or story file.
`;

export const command: CliCommand = {
  name: "run",
  summary: "work until every story is settled or waits for a person",
  register(command, world, done) {
    command
      .usage("[story…] [options]")
      .argument("[story...]", "the stories to work on (default: all that are ready)")
      .option("--dry-run", "print the plan and start nothing")
      .option("--watch", "stay when all is done: new and changed stories and answers are picked up")
      .option("--reporter <name>", `how progress is shown: ${REPORTERS.join(", ")}`)
      .option("--set <path=value>", "set a value of the config for this run; can be given again", collect)
      .option("--by <name>", "in whose name paused stories resume (default: you)")
      .option("--new-journal", NEW_JOURNAL_HELP)
      .option("--force", "start although a check cannot run here")
      .option("--json", "print a document of the schema remand.run/1 (or remand.plan/1) when it is over")
      .addHelpText("before", EXAMPLES)
      .action(async (stories: string[], options: Options) => done(await run(world, stories, options)));
  },
};

async function run(world: World, typed: readonly string[], options: Options): Promise<ExitCode> {
  const { prepared, problems } = await prepareRun(world, typed, options);
  for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
  if (prepared === null) return EXIT.usage;
  const { config, policy, stories } = prepared;
  if (options.dryRun === true) return printPlan(world, prepared, options.json === true);
  if (stories.length === 0 && options.watch !== true) {
    world.err(`remand: there is no story to work on in ${config.stories}; remand init makes a sample\n`);
    return EXIT.ok;
  }
  if (options.force !== true) {
    const { problems: unusable } = await world.host.preflight(world.cwd, {
      config,
      policy,
      at: "commit",
      isRun: false,
    });
    insistOnChecks(unusable);
  }
  const by = options.by ?? (await personOf(world, undefined).catch(() => "remand run"));
  const isNew = options.newJournal === true || (await isNewJournalWanted(world));
  const newJournal = isNew ? ({ newJournal: { when: "asked", by } } as const) : {};
  const forced = options.force === true ? ({ force: true } as const) : {};
  const plan = { config, policy, stories, place: "worktrees", agentCommand: null, ...forced, ...newJournal } as const;
  const asked = [...prepared.asked];
  const watch = options.watch === true ? watchOptions(world, typed, options, config, asked) : undefined;
  const { exit, state } = await runEngine(world, plan, asked, {
    reporter: options.reporter,
    json: options.json,
    by,
    watch,
  });
  if (exit === EXIT.person || exit === EXIT.budget)
    world.err(`remand: what waits for you: remand ${questionCount(state, asked) > 0 ? "inbox" : "status"}\n`);
  return exit;
}

/** How the stories are read again. The config holds as it was at the start: stories keep the rules they began with. */
function watchOptions(
  world: World,
  typed: readonly string[],
  options: Options,
  config: PreparedRun["config"],
  asked: StoryId[],
): NonNullable<Parameters<typeof runEngine>[3]["watch"]> {
  let said = "";
  return {
    folder: storiesFolder(world, config),
    reread: async () => {
      const { prepared, problems } = await prepareRun(world, typed, options);
      if (prepared !== null) {
        said = "";
        asked.push(...prepared.asked.filter((id) => !asked.includes(id)));
        return { stories: prepared.stories };
      }
      // The same mistake, seen again because another file changed, is said once.
      const text = problems.map((problem) => `${problemText(problem, world)}\n`).join("");
      const wrong = text === said ? "" : text;
      said = text;
      return { wrong };
    },
  };
}

async function printPlan(
  world: World,
  { config, policy, stories, asked }: PreparedRun,
  isDocument: boolean,
): Promise<ExitCode> {
  const view = await world.host.openView(world.cwd);
  try {
    const order = stories.map(({ id, title, priority, dependsOn, shelf }) => ({
      id,
      title,
      priority,
      dependsOn,
      shelf,
    }));
    const forecast =
      view === null
        ? null
        : forecastOf(
            view.state,
            stories.map(({ id }) => id),
          );
    const document = { schema: "remand.plan/1", order, asked, phases: policy.phases, limits: policy.limits, forecast };
    world.out(
      isDocument ? `${JSON.stringify(document, null, 2)}\n` : planText(config, policy, stories, view?.state ?? null),
    );
  } finally {
    await view?.close();
  }
  return EXIT.ok;
}
