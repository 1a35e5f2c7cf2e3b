import { join } from "node:path";
import { presetPolicy } from "../../../config/presets.ts";
import { RemandError } from "../../../core/events/error.ts";
import { PRESETS, type PresetName } from "../../../core/events/policy.ts";
import { SETUPS, type SetupName } from "../../install/client-parts.ts";
import { type CliCommand, EXIT, type World } from "../../../app/command.ts";
import { type SetupSpec, deedLines, setUp } from "../../install/set-up.ts";
import { type FoundGate, type ProjectCommands, factoryPhases, findFactoryGates } from "../../../app/factory-gates.ts";
import { type DetectedProject, detectProject } from "../../install/detect-project.ts";
import { SCHEMA_PATH, writeConfigSchema } from "../../../app/load-config.ts";
import { managerCommands, readerOf } from "../../install/project-tools.ts";
import { wordOf } from "../../../app/option-values.ts";
import { rolesOfGate } from "../../../app/agent-spec.ts";
import { CLIENT_PROGRAMS, isClientProgram } from "../../../core/stories/agent-client.ts";

interface Options {
  readonly preset?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly claude?: boolean;
  readonly codex?: boolean;
  readonly roles?: boolean;
  readonly uninstall?: boolean;
  readonly dryRun?: boolean;
}

const EXAMPLES = `Examples:
  remand init                         remand.yaml and a sample story, with the checks that are found here
  remand init --preset story          with refine, research and plan before the code
  remand init --yes                   without a question, as in a script
  remand init --claude                run the gates whenever Claude Code wants to stop in this project
  remand init --codex --dry-run       what would be written for Codex
  remand init --claude --uninstall    every file as it was before
  remand init --roles                 the default roles as files of yours, in .claude/agents

Presets: goal (a goal and its checks), critic-audit (a critic and an auditor), factory (a TDD pair and a pipeline),
story (phases, then three reviewers). Nothing that is there already is written over.
`;

/** Explains each preset in the question. */
const PRESET_TEXTS: Readonly<Record<PresetName, string>> = {
  goal: "the checks decide",
  "critic-audit": "the checks, then two agents review the work",
  factory: "test first, then a pipeline of reviews up to the merge",
  story: "refine, research and plan first, then three reviews",
};

export const command: CliCommand = {
  name: "init",
  register(command, world, done) {
    command
      .option("--preset <name>", `one of ${PRESETS.join(", ")} (default: goal)`)
      .option("--yes", "never ask: use the preset goal and the checks found here")
      .option("--claude", "install the Stop hook, tools, skill and commands for Claude Code in this project")
      .option("--codex", "install the Stop hook, tools and skill for Codex in this project")
      .option("--roles", "copy the default roles to .claude/agents; keep existing files")
      .option("--uninstall", "remove what --claude, --codex or --roles installed")
      .option("--dry-run", "with these: only show what would be done")
      .option("--json", "print a document of the schema remand.init/1")
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => {
        const setups = SETUPS.filter((name) => options[name] === true);
        if (setups.length > 0) await initSetups(world, options, setups);
        else if (options.uninstall === true || options.dryRun === true)
          throw new RemandError(
            "usage",
            "--uninstall and --dry-run need the part that they are about",
            "Add --claude, --codex or --roles.",
          );
        else await init(world, options);
        done(EXIT.ok);
      });
  },
};

/** Installs a client's files; with a preset, writes the config first. */
async function initSetups(world: World, options: Options, setups: readonly SetupName[]): Promise<void> {
  const spec: SetupSpec = { setups, isDry: options.dryRun === true, isRemoval: options.uninstall === true };
  if (options.preset !== undefined && (spec.isDry || spec.isRemoval))
    throw new RemandError("usage", "--preset writes a config, which --uninstall and --dry-run do not", "Leave it out.");
  if (options.preset !== undefined) await init(world, { ...options, json: false, yes: true });
  const { deeds, next } = await setUp(world, spec);
  if (options.json === true) {
    const files = deeds.map(({ path, did, why }) => ({ path, did, why }));
    return world.out(`${JSON.stringify({ schema: "remand.init/1", dryRun: spec.isDry, files }, null, 2)}\n`);
  }
  world.out(deedLines(deeds, spec.isDry));
  for (const line of next) world.err(`remand: ${line}\n`);
}

async function init(world: World, options: Options): Promise<void> {
  const typed = options.preset === undefined ? null : wordOf("a preset", options.preset, PRESETS);
  const config = join(world.cwd, "remand.yaml");
  if ((await world.files.read(config)) !== null) {
    throw new RemandError("usage", "remand.yaml already exists", "Edit it, or remove it first.");
  }
  const found = await detectProject(readerOf(world));
  const installed = await installedClient(world);
  const isDocument = options.json === true;
  if (!isDocument) world.err(foundText(found, installed));
  const ask = options.yes === true || isDocument ? null : world.ask;
  const { preset, checks, agent } = await answersFor(ask, typed, found, installed ?? AGENT);
  const written = ["remand.yaml"];
  const gates = preset === "factory" ? await findFactoryGates(world, await ownCommands(world, found)) : [];
  // Commands that a later gate of the pipeline runs are not also run with the tests.
  const later = new Set(gates.flatMap(({ commands }) => commands));
  const own = checks.filter((check) => !later.has(check));
  await world.files.write(config, configText({ preset, checks: own, agent }, gates));
  await writeConfigSchema(world);
  const stories = await world.files.list(join(world.cwd, "stories"), ".md");
  if (stories.length === 0) {
    await world.files.write(join(world.cwd, "stories", "sample.md"), sampleStory(checks[0] ?? null));
    written.push("stories/sample.md");
  }
  written.push(...(await ignoreEnvironments(world, checks)));
  if (isDocument) {
    const [check = null] = checks;
    return world.out(
      `${JSON.stringify({ schema: "remand.init/1", preset, check, checks, found: found.tools, written }, null, 2)}\n`,
    );
  }
  world.out(`wrote ${written.join(" and ")}\n`);
  if (checks.length === 0) world.err("remand: no test command was found here: put yours under gates.checks.commands\n");
  const sample = stories.length === 0 ? ", which works on stories/sample.md: edit that first, or try it as it is" : "";
  const roles = ["developer", ...reviewersOf(preset)].join(", ");
  world.err(`remand: next: see in remand.yaml who works (${roles}), then remand doctor, then remand run${sample}\n`);
}

/** The project's own commands for linting, type checks and running a tool. */
async function ownCommands(world: World, { tools }: DetectedProject): Promise<ProjectCommands> {
  const root = tools.filter(({ folder }) => folder === ".");
  const checks = root.flatMap(({ lint, types }) => [lint, types].filter((each) => each !== null));
  return { manager: await managerCommands(readerOf(world)), checks };
}

/**
 * Adds ignore files to virtual environments. One that git does not ignore would count as part of the work. Newer tools
 * write this file into each environment that they create; older ones leave it to the project.
 */
async function ignoreEnvironments({ files, cwd }: World, checks: readonly string[]): Promise<readonly string[]> {
  const used = new Set(checks.flatMap((check) => /^(\.?v?env)\/bin\//.exec(check)?.[1] ?? []));
  const rules = ((await files.read(join(cwd, ".gitignore"))) ?? "").split(/\r?\n/);
  const written: string[] = [];
  for (const folder of used) {
    const file = `${folder}/.gitignore`;
    const isIgnored = rules.some((rule) => rule.replace(/^\/|\/$/g, "") === folder);
    if (isIgnored || (await files.read(join(cwd, file))) !== null) continue;
    await files.write(join(cwd, file), "*\n");
    written.push(file);
  }
  return written;
}

/** Describes what was detected, before the person is asked about it. */
function foundText({ tools }: DetectedProject, installed: string | null): string {
  const lines = tools.flatMap(({ folder, stack, packages, test, lint, types }) => [
    `remand: found ${stack}${folder === "." ? "" : ` in ${folder}`}${packages === null ? "" : `, a monorepo: ${packages}`}`,
    ...Object.entries({ test, lint, types }).flatMap(([name, command]) =>
      command === null ? [] : [`  ${name.padEnd(5)}  ${command}`],
    ),
  ]);
  const agent = [`  agent  ${installed ?? `none of ${CLIENT_PROGRAMS.join(", ")} is installed`}`];
  return [...lines, ...agent].map((line) => `${line}\n`).join("");
}

/** The first supported client that is installed here. */
async function installedClient(world: World): Promise<string | null> {
  const at = readerOf(world);
  for (const name of CLIENT_PROGRAMS)
    if ((await at.isOnPath(name)) || (await at.has(`node_modules/.bin/${name}`))) return name;
  return null;
}

/** The roles that review in this preset and have no fallback: each needs an agent. */
function reviewersOf(preset: PresetName): string[] {
  const policy = presetPolicy(preset);
  const gates = [...new Set(policy.phases.flatMap((plan) => plan.gates))];
  return [
    ...new Set(gates.flatMap((gate) => rolesOfGate(policy, gate)).map((role) => policy.roles.fallback[role] ?? role)),
  ];
}

interface Answers {
  readonly preset: PresetName;
  /** The commands that check a change. */
  readonly checks: readonly string[];
  /** The command that starts the developer agent. */
  readonly agent: string;
}

/** Asks at most three questions; Enter accepts the suggested answer of each. */
async function answersFor(
  ask: World["ask"],
  typed: PresetName | null,
  { commands }: DetectedProject,
  usualAgent: string,
): Promise<Answers> {
  if (ask === null) return { preset: typed ?? "goal", checks: commands, agent: usualAgent };
  const line = async (question: string, usual: string): Promise<string> =>
    (await ask(`${question}${usual === "" ? "" : ` [${usual}]`}: `)).trim() || usual;
  let preset = typed;
  const names = Object.entries(PRESET_TEXTS).map(([name, text]) => `  ${name.padEnd(12)}  ${text}\n`);
  let question = `Which preset?\n${names.join("")}Preset`;
  while (preset === null) {
    const word = await line(question, "goal");
    preset = PRESETS.find((name) => name === word) ?? null;
    question = `"${word}" is none of ${PRESETS.join(", ")}. Preset`;
  }
  const usual = commands.join(" && ");
  const check = await line("Check: the command that must pass before work is accepted", usual);
  return {
    preset,
    checks: check === usual ? commands : [check],
    agent: await line(`Agent: ${CLIENT_PROGRAMS.join(", ")}, or a command that reads its task from stdin`, usualAgent),
  };
}

const AGENT = CLIENT_PROGRAMS[0]!;

/** Writes a command as a YAML value: plain where that is safe, else quoted as JSON, which YAML includes. */
const scalar = (text: string): string =>
  /^[\w./][\w ./=@+-]*$/.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n|[\d.e+-]+)$/i.test(text)
    ? text
    : JSON.stringify(text);

function configText({ preset, checks, agent }: Answers, found: readonly FoundGate[]): string {
  return `# yaml-language-server: $schema=${SCHEMA_PATH}
version: 1
preset: ${preset}
agents:
  # Who does the work, in the story's own worktree: ${CLIENT_PROGRAMS.join(", ")}, or a command that gets the prompt on its input.
  developer: ${agentText(agent)}
${preset === "factory" ? pairText(agent) : ""}${reviewersText(preset)}${phasesText(found)}gates:
  checks:
${checks.length === 0 ? NO_CHECK : `    commands:\n${checks.map((check) => `      - ${scalar(check)}\n`).join("")}`}${found.map(gateText).join("")}limits: { costUsd: 5, time: 2h }
`;
}

const agentText = (agent: string): string =>
  isClientProgram(agent) ? `{ use: ${agent} }` : `{ use: command, command: ${scalar(agent)} }`;

/** The pair has its own entry, so that no attempt is spent before the developer replaces it. */
const pairText = (agent: string): string =>
  `  # Writes the test first, then the code; the developer has what is left, such as a broken CI configuration.\n  tdd-pair: ${agentText(agent)}\n`;

/** The gates that can run here; empty if those of the preset can all run. */
function phasesText(found: readonly FoundGate[]): string {
  if (found.every(({ commands }) => commands.length > 0)) return "";
  return `phases:\n  # The preset's gates that this project can run now; gates below says what is missing for the others.\n  implement: [${factoryPhases(found).join(", ")}]\n`;
}

function gateText({ gate, commands, notes }: FoundGate): string {
  const lines = notes.map((note) => `  # ${note}\n`).join("");
  if (commands.length === 0) return lines;
  return `${lines}  ${gate}:\n    commands:\n${commands.map((each) => `      - ${scalar(each)}\n`).join("")}`;
}

const NO_CHECK = `    # The command that must pass before work is accepted, such as \`make check\`. Nothing starts without one.
    commands: []
`;

function reviewersText(preset: PresetName): string {
  const roles = reviewersOf(preset);
  if (roles.length === 0) return "";
  const lines = roles.map((role) => `  ${role}: { use: ${AGENT} }\n`);
  return `  # Who judges it. They may only read, and end with a verdict; another model than the developer's sees more.\n${lines.join("")}`;
}

/** A task that fits every project, that any agent can do, and that breaks nothing. */
function sampleStory(check: string | null): string {
  const command = check === null ? "the command that runs the tests" : `\`${check}\``;
  return `---
title: Say in the README how to run the tests
priority: 1
# status: backlog    keeps a story from being started
---

People who are new here should find in the README how the tests are run: ${command}.
Write no more than a short section. If there is no README, make one.

## Acceptance criteria

- [ ] the README names ${command}
- [ ] no other file is changed
`;
}
