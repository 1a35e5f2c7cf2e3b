import { resolve } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { RemandError } from "../core/events/error.ts";
import type { Files } from "../ports/files.ts";
import { assert } from "../stdx/assert.ts";
import { nearMiss } from "../stdx/plain-text.ts";
import { type CliCommand, EXIT, type ExitCode, type World } from "../app/command.ts";
import type { Host } from "../app/host.ts";
import { COMMAND_GROUPS, type CommandEntry } from "./command-table.ts";
import { withFieldsJoined } from "./json-fields.ts";
import { projectFolder } from "./project-folder.ts";
import { errorDocument, reportError, wantsDocument } from "./report-error.ts";
import { canRedraw, isCalledByAgent, isCi } from "./terminal-kind.ts";

/** What the caller, `main` or a test, passes to the program. */
export interface ProgramEnvironment {
  readonly version: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: Files;
  /** Whether the output is a terminal. */
  readonly terminal: boolean;
  /** The width of the terminal. */
  columns(): number;
  /** The time zone of the person: `Europe/Berlin`. */
  readonly zone: string;
  readonly host: Host;
  now(): number;
  onInterrupt: World["onInterrupt"];
  isFolder(path: string): Promise<boolean>;
  /** The error itself, or its cause if that says more. */
  causeOf(error: unknown): Promise<unknown>;
  stdin(): Promise<string>;
  /** Asks the person at the terminal for one line; `null` where there is none. */
  readonly ask: World["ask"];
  readonly keyboard: World["keyboard"];
  out(text: string): void;
  err(text: string): void;
}

/** Runs one command line and returns the exit code. It never throws: every error becomes a message. */
export async function runProgram(
  typed: readonly string[],
  around: ProgramEnvironment,
  commands: readonly CommandEntry[],
): Promise<ExitCode> {
  const argv = typed.length === 0 && (await isInProject(around)) ? ["status", "--short"] : typed;
  const outcome: { exit: ExitCode | null } = { exit: null };
  const isCommand = (word: string): boolean => commands.some(({ name }) => name === word);
  const program = createProgram(around, commands, (exit) => (outcome.exit = exit));
  try {
    await program.parseAsync(withFieldsJoined(helpAsOption(argv)), { from: "user" });
    assert(outcome.exit !== null, "a command ended without an exit code");
    return outcome.exit;
  } catch (thrown) {
    const error = await around.causeOf(thrown);
    const entry = commands.find(({ name }) => name === (program.args.find(isCommand) ?? argv.find(isCommand)));
    const usage = entry?.hasNoUsageCode === true ? EXIT.failed : EXIT.usage;
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const report = reportError(error, argv.includes("--verbose") || Boolean(around.env["REMAND_DEBUG"]));
    const exit = report.exit === EXIT.usage ? usage : report.exit;
    // Commander has already printed what is wrong with the command line.
    if (!(error instanceof CommanderError)) around.err(around.host.clean(report.text));
    if (wantsDocument(argv)) around.out(around.host.clean(errorDocument(error, exit)));
    return exit;
  }
}

function createProgram(
  around: ProgramEnvironment,
  commands: readonly CommandEntry[],
  done: (exit: ExitCode) => void,
): Command {
  const program = new Command("remand")
    .description("Sends the failed work of coding agents back to the agent that can fix it, with the reasons.")
    .usage("[options] <command>")
    .version(around.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show this, or the help of a command")
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => around.out(around.host.clean(text)),
      writeErr: (text) => around.err(around.host.clean(text)),
      outputError: (text, write) => write(withHelpMeant(text.replace(/^error: /, "remand: "))),
    })
    .showHelpAfterError("  Run remand --help, or remand <command> --help, to see what there is.")
    .addHelpText("before", EXAMPLES);
  addEverywhereOptions(program);
  for (const group of COMMAND_GROUPS)
    for (const { name, summary } of commands.filter((entry) => entry.group === group))
      program.command(name).description(summary).usage("[options]").helpGroup(`${group}:`);
  program.hook("preSubcommand", async (_program, command) => {
    const entry = commands.find(({ name }) => name === command.name());
    assert(entry !== undefined, `no entry for the command ${command.name()}`);
    const { command: loaded } = await entry.load();
    register(loaded, entry, command, around, done);
    if (loaded.isAboutAll === true) await registerOthers(program, command, around, commands);
  });
  program.hook("preAction", async (_program, command) => {
    applyGlobalOptions(program, command);
    await checkFolder(around, command);
    await findProject(
      around,
      command,
      commands.some(({ name, looks }) => looks === true && name === command.name()),
    );
  });
  return program;
}

function register(
  loaded: CliCommand,
  entry: CommandEntry,
  command: Command,
  around: ProgramEnvironment,
  done: (exit: ExitCode) => void,
): void {
  loaded.register(command, worldOf(around, command, entry.looks === true), done);
  if (entry.looks === true) command.option("--db <url>", DB_HELP);
  if (entry.speaks === true) command.option("--token-file <file>", TOKEN_HELP);
  addEverywhereOptions(command);
  command.showHelpAfterError(`  Run remand ${entry.name} --help to see what it takes.`);
}

const DB_HELP = "look at a fleet's journal in this PostgreSQL database (default: REMAND_DB, else this checkout's own)";

const TOKEN_HELP = "a file with your token, mode 0600: a script answers for you by it (default: REMAND_TOKEN)";

/** Loads every other command for its options, without running any. */
async function registerOthers(
  program: Command,
  but: Command,
  around: ProgramEnvironment,
  commands: readonly CommandEntry[],
): Promise<void> {
  for (const other of program.commands) {
    const entry = commands.find(({ name }) => name === other.name());
    if (other === but || entry === undefined) continue;
    register((await entry.load()).command, entry, other, around, () => undefined);
  }
}

const EXAMPLES = `Examples:
  remand demo                                                  see it work, on a small project, without an agent
  remand loop --goal "accept tabs" --check "npm test" --agent claude
  remand run                                                   work on every story until it is settled or needs a person
  remand status                                                where is each story, and who must act?
  remand inbox                                                 what waits for me?
  remand                                                       in a project: what needs you, and the next step
`;

async function checkFolder(around: ProgramEnvironment, command: Command): Promise<void> {
  const folder = command.getOptionValue("directory") as string | undefined;
  if (folder === undefined || (await around.isFolder(resolve(around.cwd, folder)))) return;
  throw new RemandError("usage", `there is no folder ${folder}`, "Give -C a folder that exists.");
}

/** Finds the project around the current folder, unless another one was named. */
async function findProject(around: ProgramEnvironment, command: Command, looks: boolean): Promise<void> {
  const { directory, config, from } = command.opts<{ directory?: string; config?: string; from?: string }>();
  // A command that only reads the journal would not notice a missing config file.
  if (
    looks &&
    config !== undefined &&
    (await around.files.look(resolve(around.cwd, directory ?? ".", config))).type !== "file"
  )
    throw new RemandError("usage", `there is no file ${config}`, "Give --config a file that exists.");
  if (directory !== undefined || config !== undefined || from !== undefined) return;
  const folder = await projectFolder(command.name(), around);
  if (folder !== null) command.setOptionValue("directory", folder);
}

interface WorldOptions {
  readonly directory?: string;
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly input?: boolean;
  readonly db?: string;
  readonly tokenFile?: string;
  readonly utc?: boolean;
}

/** Options are known only when the command's action runs, so values that depend on them are read at that moment. */
function worldOf(around: ProgramEnvironment, command: Command, looks: boolean): World {
  const options = (): WorldOptions => command.opts();
  const isAskable = (): boolean => options().input !== false && !isCi(around.env) && !isCalledByAgent(around.env);
  let elsewhere: { readonly db: string; readonly host: Host } | null = null;
  let identified: { readonly file: string; readonly host: Host } | null = null;
  const hostOfPerson = (): Host => {
    const { tokenFile } = options();
    if (tokenFile === undefined) return around.host;
    const file = resolve(around.cwd, tokenFile);
    if (identified?.file !== file) identified = { file, host: around.host.withTokenFile(file) };
    return identified.host;
  };
  return {
    get cwd() {
      return resolve(around.cwd, options().directory ?? ".");
    },
    get color() {
      return wantsColor(options().color, around.env, around.terminal);
    },
    version: around.version,
    env: around.env,
    files: around.files,
    terminal: around.terminal,
    columns: () => around.columns(),
    get zone() {
      return options().utc === true ? "UTC" : around.zone;
    },
    get host() {
      // `--db` with an empty value comes from an unset variable: a mistake, not a choice.
      const db = looks ? (options().db ?? (around.env["REMAND_DB"] || undefined)) : undefined;
      if (db === undefined) return hostOfPerson();
      if (elsewhere?.db !== db) elsewhere = { db, host: hostOfPerson().at(db) };
      return elsewhere.host;
    },
    now: () => around.now(),
    onInterrupt: (handler, atOnce) => around.onInterrupt(handler, atOnce),
    stdin: () => around.stdin(),
    get keyboard() {
      return isAskable() && canRedraw(around.env, around.terminal) ? around.keyboard : null;
    },
    get ask() {
      const { ask } = around;
      return isAskable() && ask !== null ? (question: string) => ask(around.host.clean(question)) : null;
    },
    out: (text) => around.out(around.host.clean(text)),
    err: (text) => {
      if (options().quiet !== true) around.err(around.host.clean(text));
    },
  };
}

/** `remand` without a command shows the status if it is run in a project. */
async function isInProject(around: ProgramEnvironment): Promise<boolean> {
  const has = async (name: string): Promise<boolean> =>
    (await around.files.look(resolve(around.cwd, name))).type !== "absent";
  return (await projectFolder("status", around)) !== null || (await has("remand.yaml")) || has(".remand");
}

/** Commander suggests only names of commands, and `help` is not a command. */
function withHelpMeant(text: string): string {
  const [, word] = /unknown command '([^']+)'\n$/.exec(text) ?? [];
  return word === undefined || nearMiss(word, ["help"]) === undefined
    ? text
    : text.replace(/\n$/, "\n(Did you mean help?)\n");
}

/** Treats `remand help parse` as `remand parse --help`, and no arguments as a request for help. */
function helpAsOption(argv: readonly string[]): readonly string[] {
  if (argv.length === 0) return ["--help"];
  return argv[0] === "help" ? [...argv.slice(1), "--help"] : argv;
}

/**
 * Whether the output is colored. Options win over the environment, and the environment over the kind of output. An
 * empty variable counts as unset, as the NO_COLOR convention asks.
 */
function wantsColor(
  typed: boolean | undefined,
  env: Readonly<Record<string, string | undefined>>,
  terminal: boolean,
): boolean {
  if (typed !== undefined) return typed;
  if (env["FORCE_COLOR"]) return env["FORCE_COLOR"] !== "0" && env["FORCE_COLOR"] !== "false";
  if (env["NO_COLOR"] || env["TERM"] === "dumb") return false;
  return terminal;
}

/**
 * Adds the options that mean the same before and after the command. A command that declares one itself keeps its own.
 */
export function addEverywhereOptions(command: Command): void {
  const everywhere = [
    new Option("-C, --directory <folder>", "run as if started in this folder"),
    new Option("--config <file>", "the configuration to use instead of remand.yaml"),
    new Option("--json", "print JSON for programs instead of text"),
    new Option("--quiet", "print only results and errors"),
    new Option("--verbose", "show where an error came from"),
    new Option("--no-input", "never ask, even in a terminal"),
    new Option("--utc", "show times in UTC instead of local time"),
    new Option("--color", "color the output, wherever it goes"),
    new Option("--no-color", "do not color the output"),
  ];
  for (const option of everywhere) {
    if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
  }
}

/** Applies options that were typed before the command to the command, unless they were typed again after it. */
export function applyGlobalOptions(program: Command, command: Command): void {
  for (const [name, value] of Object.entries(program.opts())) {
    const typedAgain = command.getOptionValueSource(name) === "cli";
    if (!typedAgain && name !== "version") command.setOptionValueWithSource(name, value, "cli");
  }
}
