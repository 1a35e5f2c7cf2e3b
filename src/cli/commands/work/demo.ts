import { join } from "node:path";
import { Option } from "commander";
import { RemandError } from "../../../core/events/error.ts";
import { type CliCommand, EXIT, type ExitCode, type World } from "../../../app/command.ts";
import { DEMO_FILES, DEMO_STORY, QUESTION_FILES } from "../../demo-files.ts";
import { keptBrief } from "../../kept-brief.ts";
import { loadConfig, loadStories, storiesFolder } from "../../../app/load-config.ts";
import { personOf } from "../../../app/option-values.ts";
import { REPORTERS } from "../../reporters/reporter.ts";
import { runEngine } from "../../run-engine.ts";
import { paintFor } from "../../terminal-kind.ts";
import { announceDashboard, startDashboard } from "../serve/serve.ts";

interface Options {
  readonly reporter?: string;
  readonly json?: boolean;
  readonly serve?: boolean;
  readonly port: string;
}

const EXAMPLES = `Examples:
  remand demo                         see the loop work: a red test, a rejected review, the briefs, the acceptance
  remand demo --serve                 the same in the dashboard, with a second story that asks you a question

It makes a small git repository in a temporary folder and leaves it there for you to look at. No agent is needed.
`;

export const command: CliCommand = {
  name: "demo",
  register(command, world, done) {
    command
      .option("--reporter <name>", `how progress is shown: ${REPORTERS.join(", ")}`)
      .addOption(
        new Option("--serve", "open the dashboard, and leave one question for you; Ctrl-C ends it").conflicts("json"),
      )
      .option("--port <number>", "the port of the dashboard; 0 takes any that is free", "0")
      .option("--json", "print a document of the schema remand.run/1 when it is over")
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => done(await (options.serve === true ? demoInBrowser : demo)(world, options)));
  },
};

async function demo(world: World, options: Options): Promise<ExitCode> {
  const there = await demoProject(world, DEMO_FILES);
  const { plan, asked } = await demoPlan(there);
  const say = options.json === true ? () => undefined : (text: string) => world.out(text);
  const paint = paintFor(world.color);

  say(`A small project is in ${there.cwd}: a helper for retries, its tests, and one story.\n`);
  say(`${paint.strong("The story")}  A retry never waits longer than the cap.\n`);
  say(`${paint.strong("The agents")} a developer, a critic and an auditor, who play a script.\n\n`);
  say(`${paint.dim("$ remand run")}\n`);
  const { exit } = await runEngine(there, plan, asked, {
    reporter: options.reporter,
    json: options.json,
    by: "remand demo",
  });

  if (exit === EXIT.ok && options.json !== true) {
    for (const [attempt, parts] of WENT_BACK) {
      const { text } = await keptBrief(there, DEMO_STORY, attempt);
      const whole = `a part; the whole: remand brief ${DEMO_STORY} --attempt ${attempt}`;
      say(`\n${paint.strong("What went back to the developer")} with attempt ${attempt} (${whole})\n`);
      for (const line of excerpt(text, parts)) say(`  ${paint.dim("|")} ${line}\n`);
    }
  }
  say(`\n${paint.strong("Now look at it")}\n`);
  for (const [typed, why] of nextSteps(there)) say(`  ${typed.padEnd(46)} ${why}`.trimEnd().concat("\n"));
  return exit;
}

/** Keeps the engine watching next to the dashboard, so that an answer in the browser takes effect at once. */
async function demoInBrowser(world: World, options: Options): Promise<ExitCode> {
  const there = await demoProject(world, { ...DEMO_FILES, ...QUESTION_FILES });
  const { plan, asked, folder, reread } = await demoPlan(there);
  // A new machine may have no user name configured, and the demo keeps nothing.
  const by = await personOf(there, undefined).catch(() => "you");
  const served = await startDashboard(there, { port: options.port, by });
  try {
    world.out(`A small project is in ${there.cwd}, with two stories. The agents play a script.\n`);
    world.out("One story is accepted after two reworks. The other asks you a question: answer it in the browser.\n\n");
    await announceDashboard(there, served, { port: options.port, open: true });
    const watch = { folder, reread };
    const { exit } = await runEngine(there, plan, asked, { reporter: options.reporter, by: "remand demo", watch });
    // The demo in the browser ends only by Ctrl-C.
    return exit === EXIT.interrupted ? EXIT.ok : exit;
  } finally {
    await served.close();
  }
}

const demoProject = async (world: World, files: Readonly<Record<string, string>>): Promise<World> => ({
  ...world,
  cwd: await world.host.demoRepository(files),
});

async function demoPlan(there: World) {
  const { config, policy } = await loadConfig(there, {});
  if (config === null || policy === null)
    throw new RemandError("config-invalid", "the demo's config is wrong", "Report this, please.");
  const folder = storiesFolder(there, config);
  const { stories } = await loadStories(there, folder);
  const plan = { config, policy, stories, place: "worktrees", agentCommand: null } as const;
  return { plan, asked: stories.map(({ id }) => id), folder, reread: () => loadStories(there, folder) };
}

/**
 * The parts of a brief with these names. Each starts at its name and ends at an empty line, or before the next part.
 */
function excerpt(text: string, names: readonly string[]): string[] {
  const lines = text.trimEnd().split("\n");
  const parts = names.flatMap((name) => {
    const from = lines.findIndex((line) => line.startsWith(name));
    if (from === -1) return [];
    // A heading is followed by an empty line before its text.
    const gap = name.startsWith("#") ? 1 : 0;
    const [head, ...rest] = [lines[from]!, ...lines.slice(from + 1 + gap)];
    const end = rest.findIndex((line) => line === "" || line.startsWith("**"));
    const part = end === -1 ? rest : rest.slice(0, end);
    return [head, ...part.slice(0, MOST_LINES), ...(part.length > MOST_LINES ? ["…"] : [])];
  });
  return parts.map((line) => (line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line));
}

/** The parts to print from the brief of each attempt. */
const WENT_BACK: readonly (readonly [attempt: number, parts: readonly string[]])[] = [
  [2, ["**Gate:**", "**Result:**", "**Failing evidence:**", "**Constraint:**"]],
  [3, ["### Issues Found", "### Required Fixes"]],
];
const LONGEST = 116;
const MOST_LINES = 6;

function nextSteps({ cwd, env }: World): readonly (readonly [typed: string, why: string])[] {
  // Started by npx or npm run, the program is only on the PATH of this process.
  const isByNpm = env["npm_command"] !== undefined;
  return [
    ...(isByNpm ? [[`alias remand='node ${process.argv[1]}'`, ""] as const] : []),
    [`cd ${cwd}`, ""],
    [`remand show ${DEMO_STORY}`, "what happened, in order"],
    [`remand diff ${DEMO_STORY} --attempt 2`, "what the rework changed"],
    ["remand log", "every event, as it was written down"],
    ["remand verify", "that nothing was changed since"],
    ["remand serve --open", "the same in your browser"],
    [`cat ${join(".remand", "audit-trail", "slices", DEMO_STORY, "rework-log.json")}`, ""],
  ];
}
