import { COMMANDS, type CommandEntry } from "../../src/cli/command-table.ts";
import type { CliCommand, World } from "../../src/app/command.ts";
import type { Host } from "../../src/app/host.ts";
import { memoryFiles } from "./memory-files.ts";
import { runProgram, type ProgramEnvironment } from "../../src/cli/program.ts";

export interface Ran {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
  /** The commands whose files were loaded. */
  readonly loaded: readonly string[];
}

/** One command, given by Ada to this host. */
export function on(
  host: Host,
  command: CliCommand,
  args: readonly string[],
  changes: Partial<ProgramEnvironment> = {},
): Promise<Ran> {
  return run([command.name, ...args], [command], { host, env: { USER: "ada" }, ...changes });
}

/** The row of the command table, or a made-up one. */
function plainEntry(wanted: string): Pick<CommandEntry, "summary" | "group" | "looks"> {
  const entry = COMMANDS.find(({ name }) => name === wanted);
  if (entry === undefined) return { summary: `what ${wanted} does`, group: "Work" };
  return { summary: entry.summary, group: entry.group, ...(entry.looks === true ? { looks: true } : {}) };
}

/** A command line run in a world of its own. */
export async function run(
  argv: readonly string[],
  commands: readonly CliCommand[],
  changes: Partial<ProgramEnvironment> = {},
): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const loaded: string[] = [];
  const entries: CommandEntry[] = commands.map((command) => ({
    name: command.name,
    ...plainEntry(command.name),
    ...(command.name === "hook" ? { hasNoUsageCode: true as const } : {}),
    load: () => {
      loaded.push(command.name);
      return Promise.resolve({ command });
    },
  }));
  const around: ProgramEnvironment = {
    version: "9.8.7",
    cwd: "/work",
    env: {},
    files: memoryFiles({}),
    terminal: false,
    columns: () => 100,
    zone: "UTC",
    host: NO_HOST,
    now: () => 0,
    onInterrupt: () => () => undefined,
    causeOf: (thrown) => Promise.resolve(thrown),
    isFolder: (path) => Promise.resolve(path === "/work/there"),
    stdin: () => Promise.resolve(""),
    ask: null,
    keyboard: null,
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    ...changes,
  };
  const exit = await runProgram(argv, around, entries);
  return { exit, out: out.join(""), err: err.join(""), loaded };
}

const absent = (): Promise<never> => Promise.reject(new Error("this test has no host"));
/** Where nothing ever ran, and nothing can. */
export const NO_HOST: Host = {
  at: () => NO_HOST,
  clean: (text) => text,
  withTokenFile: () => NO_HOST,
  makeToken: absent,
  readOutline: () => Promise.resolve(null),
  readStories: () => Promise.resolve(null),
  openView: () => Promise.resolve(null),
  journalTrouble: () => Promise.resolve(null),
  output: () => Promise.resolve(null),
  verify: () => Promise.resolve(null),
  verifyCommits: absent,
  receiptKeys: absent,
  receiptFiles: () => Promise.resolve(new Map()),
  appendEvents: absent,
  appendEach: absent,
  openEngine: absent,
  clone: absent,
  work: absent,
  preflight: absent,
  gate: absent,
  blame: absent,
  stop: absent,
  offer: absent,
  hide: absent,
  serve: absent,
  rehearse: absent,
  migrate: absent,
  watchFolder: () => () => undefined,
  probe: absent,
  userName: () => Promise.resolve(null),
  demoRepository: absent,
};

/** A command that does what it is told: its action is the test's. */
export function fakeCommand(
  name: string,
  action: (world: World, options: Record<string, unknown>) => void | Promise<void>,
  prepare: (command: Parameters<CliCommand["register"]>[0]) => unknown = () => undefined,
): CliCommand {
  return {
    name,
    register(command, world, done) {
      prepare(command);
      command.action(async (...args: unknown[]) => {
        await action(world, args.at(-2) as Record<string, unknown>);
        done(0);
      });
    },
  };
}
