import type { StoryId } from "../../../core/events/ids.ts";
import { forecastLines, forecastOf } from "../../../views/board/ledger.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { type CliCommand, EXIT, type ExitCode, type World } from "../../../app/command.ts";
import { NEW_JOURNAL_HELP, isNewJournalWanted } from "../../../app/with-journal.ts";
import { storiesFolder, writeConfigSchema } from "../../../app/load-config.ts";
import { collect, personOf } from "../../../app/option-values.ts";
import { questionCount } from "../../../views/answers/inbox.ts";
import { ProblemsFound } from "../../problems-found.ts";
import { assertChecksRun } from "../../preflight.ts";
import { RemandError } from "../../../core/events/error.ts";
import { type PreparedRun, prepareRun, startOrder } from "../../../app/run-plan.ts";
import { REPORTERS } from "../../reporters/reporter.ts";
import { runEngine } from "../../run-engine.ts";
import type { CommandConfig, Config } from "../../../config/config.ts";
import { countText } from "../../../stdx/plain-text.ts";
import type { Policy, SpendLimits } from "../../../core/events/policy.ts";
import type { RunState } from "../../../core/stories/run-state.ts";
import type { Story } from "../../../core/stories/story.ts";
import { byText, lookup } from "../../../stdx/sorted-map.ts";
import { statusOf } from "../../../views/story/story-status.ts";
import { durationText, moneyText, shortLine } from "../../../views/text/words.ts";

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
  remand run checkout-retry           this story and those it depends on; resumes it if it is paused
  remand run --dry-run                print the plan: order, phases, gates, limits; nothing is started
  remand run --watch                  stay, and continue when stories or answers are new, until Ctrl-C
  remand run --reporter jsonl         each line of the journal as JSON
  remand run --new-journal            start over after the journal was lost or changed; the old file is kept

A stopped run continues where it was. Paused stories stay paused until remand resume. Ctrl-C ends it cleanly; press it twice to end at once.
Exit code: 0 all accepted, 3 rejected, 4 a person must act, 5 a money or time budget, 2 wrong config or story file.
`;

export const command: CliCommand = {
  name: "run",
  register(command, world, done) {
    command
      .usage("[story…] [options]")
      .argument("[story...]", "the stories to work on (default: all that are ready)")
      .option("--dry-run", "print the plan and start nothing")
      .option("--watch", "keep running when all is done, and pick up new and changed stories and answers")
      .option("--reporter <name>", `how progress is shown: ${REPORTERS.join(", ")}`)
      .option("--set <path=value>", "set a value of the config for this run; can be given again", collect)
      .option("--by <name>", "the person who resumes paused stories (default: you)")
      .option("--new-journal", NEW_JOURNAL_HELP)
      .option("--force", "start even if a check cannot run here")
      .option("--json", "print a document of the schema remand.run/1 (or remand.plan/1) when it is over")
      .addHelpText("before", EXAMPLES)
      .action(async (stories: string[], options: Options) => done(await run(world, stories, options)));
  },
};

async function run(world: World, typed: readonly string[], options: Options): Promise<ExitCode> {
  const { prepared, problems } = await prepareRun(world, typed, options);
  for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
  if (prepared === null) throw new ProblemsFound(problems);
  const { config, policy, stories } = prepared;
  if (options.dryRun === true) return printPlan(world, prepared, options.json === true);
  if (prepared.asked.length === 0 && options.watch !== true) throw await nothingToRun(world, config.stories, stories);
  await writeConfigSchema(world);
  if (options.force !== true) {
    const { problems: unusable } = await world.host.preflight(world.cwd, {
      config,
      policy,
      at: "commit",
      isRun: false,
    });
    assertChecksRun(unusable);
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
    named: prepared.named,
    by,
    watch,
  });
  if (exit === EXIT.person || exit === EXIT.budget)
    world.err(`remand: what waits for you: remand ${questionCount(state, asked) > 0 ? "inbox" : "status"}\n`);
  return exit;
}

/** The error for a run with nothing to do, which must not look like accepted work. */
async function nothingToRun(world: World, folder: string, stories: readonly Story[]): Promise<RemandError> {
  const [first] = stories;
  const probes = await world.host.probe(world.cwd, [], { commands: [], env: [] });
  const git = probes.find(({ name, ok }) => name === "git" && !ok);
  if (git !== undefined) return new RemandError("usage", git.detail, git.fix);
  if (first === undefined)
    return new RemandError(
      "usage",
      `there is no story in ${folder}`,
      "Write one there, or let remand init make a sample.",
    );
  return new RemandError(
    "usage",
    `no story in ${folder} is ready: ${countText(stories.length, "story is", "stories are")} in the backlog`,
    `Remove \`status: backlog\` from its file, or name it: remand run ${first.id}`,
  );
}

/**
 * How a watching run reads the stories again. The config is not read again: stories keep the policy they started with.
 */
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
      // The same problem, seen again because another file changed, is reported once.
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

/** Describes what a run would do: the order, the phases with their gates, the limits. */
export function planText(config: Config, policy: Policy, stories: readonly Story[], run: RunState | null): string {
  const ordered = startOrder(stories);
  const width = Math.max(0, ...ordered.map(({ id }) => id.length));
  return [
    `preset ${policy.preset}, autonomy ${policy.autonomy}, ${countText(stories.length, "story", "stories")}`,
    "",
    "Stories, in the order they would begin:",
    ...ordered.map((story, i) => `  ${i + 1}. ${story.id.padEnd(width)}  p${story.priority}  ${standing(story, run)}`),
    "",
    "Each goes through:",
    ...policy.phases.flatMap(({ phase, gates }) => [
      `  ${phase} by ${policy.roles.phase[phase]}, judged by ${gates.join(", ")}`,
      ...gates.flatMap((gate) => {
        const commands = config.gates[gate].commands.map(commandText);
        return commands.length === 0 ? [] : [`    ${gate}: ${commands.join("; ")}`];
      }),
    ]),
    "",
    "Limits:",
    ...limitLines(policy),
    "",
    "Forecast:",
    ...forecastText(run, stories),
    "",
  ].join("\n");
}

function forecastText(run: RunState | null, stories: readonly Story[]): string[] {
  const lines =
    run === null
      ? []
      : forecastLines(
          forecastOf(
            run,
            stories.map(({ id }) => id),
          ),
        );
  return lines.length === 0
    ? ["  unknown: no agent has said yet what it costs here"]
    : lines.map((line) => `  ${line}`);
}

const commandText = (command: string | CommandConfig): string =>
  shortLine(typeof command === "string" ? command : command.run, 100);

function standing(story: Story, run: RunState | null): string {
  const state = run === null ? undefined : lookup(run.stories, story.id, byText);
  if (run !== null && state !== undefined && (state.policy !== null || state.ending !== null)) {
    const { status, why } = statusOf(run, state);
    return `${status}: ${shortLine(why, 80)}`;
  }
  if (story.shelf === "backlog") return "backlog: not started until you make it ready";
  if (story.shelf === "done") return "done, according to its file";
  return story.dependsOn.length === 0 ? "new" : `new, after ${story.dependsOn.join(", ")}`;
}

function limitLines({ limits, phases, concurrency }: Policy): string[] {
  const gates = [...new Set(phases.flatMap((plan) => plan.gates))];
  const failures = gates.map((gate) => {
    const limit = limits.failures[gate];
    return limit === null ? `${gate}: no limit of its own` : `${gate}: ${limit} (${countText(limit - 1, "rework")})`;
  });
  return [
    `  failures before a person is asked: ${failures.join(", ")}`,
    `  attempts for each story: ${limits.iterations}`,
    `  each story: ${spendText(limits.story)}`,
    `  the whole run: ${spendText(limits.run)}${actionsText(limits.run.actions ?? null)}`,
    `  at once: ${countText(concurrency.developers, "developer")}, ${countText(concurrency.checks, "check")}, stories: ${concurrency.stories ?? "no limit"}`,
  ];
}

const actionsText = (actions: number | null): string =>
  actions === null ? "" : `; ${countText(actions, "action")} (attempts and gate runs)`;

function spendText({ costUsd, tokens, timeMs }: SpendLimits): string {
  const parts = [
    ...(costUsd === null ? [] : [moneyText(costUsd)]),
    ...(tokens === null ? [] : [countText(tokens, "token")]),
    ...(timeMs === null ? [] : [durationText(timeMs)]),
  ];
  return parts.length === 0 ? "no limit on money, tokens or time" : parts.join(", ");
}
