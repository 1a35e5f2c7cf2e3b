import type { HealthDocument } from "../../../views/board/dashboard.ts";
import { type CliCommand, EXIT, type ExitCode, INTERRUPTED, type Interrupt, type World } from "../../../app/command.ts";
import type { RunningServer } from "../../../app/host.ts";
import { loadConfig } from "../../../app/load-config.ts";
import { parseNumber, personOf } from "../../../app/option-values.ts";
import { createStoryEditor } from "../../../app/story-editor.ts";
import { originText } from "../set-up/config.ts";
import { probesOf } from "../set-up/doctor.ts";

interface Options {
  readonly port: string;
  readonly open?: boolean;
  readonly readOnly?: boolean;
  readonly by?: string;
  readonly config?: string;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand serve                        the dashboard, for this machine only; Ctrl-C ends it
  remand serve --open                 and open it in the browser
  remand serve --read-only            without answers, undo and pause
  remand serve --port 0 --json        on any free port; the address as a document for programs

It runs beside remand run, or without it: it reads the journal, and what you answer is written there.
`;

export const command: CliCommand = {
  name: "serve",
  register(command, world, done) {
    command
      .option("--port <number>", "the port to listen on; 0 takes any free port", "7333")
      .option("--open", "open it in the browser")
      .option("--read-only", "show the dashboard without ways to answer")
      .option("--by <name>", "who answers (default: you)")
      .option("--json", "print a document of the schema remand.serve/1 when it listens")
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => done(await serve(world, options)));
  },
};

async function serve(world: World, options: Options): Promise<ExitCode> {
  const served = await startDashboard(world, options);
  const interrupted = untilInterrupt(world);
  await announceDashboard(world, served, options);
  const signal = await interrupted;
  await served.close();
  return signal === "SIGINT" ? EXIT.ok : INTERRUPTED[signal];
}

export async function startDashboard(world: World, options: Omit<Options, "open">): Promise<RunningServer> {
  const { config } = await loadConfig(world, { config: options.config });
  return world.host.serve(world.cwd, {
    port: parseNumber("--port", options.port, 0, 65_535),
    readOnly: options.readOnly === true,
    by: options.readOnly === true ? "read-only" : await personOf(world, options.by),
    version: world.version,
    redact: config?.redact ?? [],
    ...(config === null ? {} : { notify: config }),
    onNotice: (text) => world.err(`${text}\n`),
    engineArgs: ["run", "--watch", ...(options.config === undefined ? [] : ["--config", options.config])],
    health: () => healthOf(world, options.config),
    verify: () => world.host.verify(world.cwd, () => undefined),
    stories: createStoryEditor(world, options.config),
  });
}

/** Prints the address, and opens the browser if requested. */
export async function announceDashboard(world: World, served: RunningServer, options: Options): Promise<void> {
  tell(world, served, options);
  if (options.open === true && !(await served.open()))
    world.err("remand: no browser could be opened; the address is above\n");
}

function untilInterrupt(world: World): Promise<Interrupt> {
  return new Promise((done) => {
    const unhook = world.onInterrupt((signal) => {
      unhook();
      done(signal);
    });
  });
}

function tell(world: World, { url, port, token }: RunningServer, options: Options): void {
  const readOnly = options.readOnly === true;
  if (options.json === true)
    return world.out(`${JSON.stringify({ schema: "remand.serve/1", url, port, token, readOnly }, null, 2)}\n`);
  world.out(`${url}\n`);
  world.err(`The dashboard is for this machine only${readOnly ? ", and read-only" : ""}. Ctrl-C ends it.\n`);
}

async function healthOf(world: World, file: string | undefined): Promise<HealthDocument> {
  const [probes, { config, origins }] = await Promise.all([probesOf(world, file), loadConfig(world, { config: file })]);
  const rows = [...origins].map(([path, origin]) => ({
    path,
    value: JSON.stringify(valueAt(config, path.split("."))) ?? "",
    origin: originText(origin),
    isOwn: origin.layer === "project" || origin.layer === "user" || origin.layer === "set",
  }));
  return { probes, config: rows };
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | null | undefined)?.[key], value);
}
