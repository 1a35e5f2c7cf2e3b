import { RemandError } from "../../domain/error.ts";
import { problemText } from "../../writers/problem-text.ts";
import { EXIT, type CliCommand, type ExitCode, type World } from "../command.ts";
import { collect } from "../option-values.ts";
import { personOf } from "../person.ts";
import { planText } from "../plan-text.ts";
import { prepareRun, type Prepared } from "../prepare-run.ts";
import { REPORTERS } from "../reporters/reporter.ts";
import { runEngine } from "../run-engine.ts";

interface Options {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly dryRun?: boolean;
  readonly watch?: boolean;
  readonly reporter?: string;
  readonly json?: boolean;
  readonly by?: string;
}

const EXAMPLES = `Examples:
  remand run                          work until every story is settled or waits for someone
  remand run checkout-retry           this story and those it depends on
  remand run --dry-run                print the plan: order, phases, gates, limits; nothing is started
  remand run --reporter jsonl         each line of the journal as JSON

A run that was stopped goes on where it was. Ctrl-C ends it cleanly, twice at once.
Exit code: 0 all accepted, 3 rejected, 4 a person must act, 5 a money or time budget, 2 wrong config or story file.
`;

export const command: CliCommand = {
  name: "run",
  summary: "work until every story is settled or waits for someone",
  register(command, world, done) {
    command
      .usage("[story…] [options]")
      .argument("[story...]", "the stories to work on (default: all that are ready)")
      .option("--dry-run", "print the plan and start nothing")
      .option("--watch", "keep going when all is done (comes in a later version)")
      .option("--reporter <name>", `how progress is shown: ${REPORTERS.join(", ")}`)
      .option("--set <path=value>", "set a value of the config for this run; can be given again", collect)
      .option("--by <name>", "in whose name stopped stories go on (default: you)")
      .option("--json", "print a document of the schema remand.run/1 (or remand.plan/1) when it is over")
      .addHelpText("before", EXAMPLES)
      .action(async (stories: string[], options: Options) => done(await run(world, stories, options)));
  },
};

async function run(world: World, typed: readonly string[], options: Options): Promise<ExitCode> {
  if (options.watch === true) {
    throw new RemandError(
      "usage",
      "--watch is not there yet",
      "Run it again when stories change: it goes on where it was.",
    );
  }
  const { prepared, problems } = await prepareRun(world, typed, options);
  for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
  if (prepared === null) return EXIT.usage;
  const { config, policy, stories, asked } = prepared;
  if (options.dryRun === true) return printPlan(world, prepared, options.json === true);
  if (stories.length === 0) {
    world.err(`remand: there is no story to work on in ${config.stories}; remand init makes a sample\n`);
    return EXIT.ok;
  }
  const plan = { config, policy, stories, place: "worktrees", agentCommand: null } as const;
  const by = options.by ?? (await personOf(world, undefined).catch(() => "remand run"));
  const { exit } = await runEngine(world, plan, asked, { reporter: options.reporter, json: options.json, by });
  if (exit === EXIT.person || exit === EXIT.budget) world.err("remand: what waits for you: remand inbox\n");
  return exit;
}

async function printPlan(
  world: World,
  { config, policy, stories, asked }: Prepared,
  isDocument: boolean,
): Promise<ExitCode> {
  const look = await world.host.look(world.cwd);
  try {
    const order = stories.map(({ id, title, priority, dependsOn, shelf }) => ({
      id,
      title,
      priority,
      dependsOn,
      shelf,
    }));
    const document = { schema: "remand.plan/1", order, asked, phases: policy.phases, limits: policy.limits };
    world.out(
      isDocument ? `${JSON.stringify(document, null, 2)}\n` : planText(config, policy, stories, look?.state ?? null),
    );
  } finally {
    await look?.close();
  }
  return EXIT.ok;
}
