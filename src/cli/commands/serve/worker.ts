import { durationMs } from "../../../config/duration.ts";
import { RemandError } from "../../../core/events/error.ts";
import { LANES, type Lane } from "../../../core/stories/command.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { EXIT, type CliCommand, type ExitCode, type World, exitCodeOf } from "../../../app/command.ts";
import type { WorkerClone, RunningWorker, WorkPlan } from "../../../app/host.ts";
import { collect, parseNumber, wordOf } from "../../../app/option-values.ts";
import { prepareRun } from "../../../app/run-plan.ts";
import { ProblemsFound } from "../../problems-found.ts";
import { createReporter, reporterName, REPORTERS, type Reporter } from "../../reporters/reporter.ts";

interface Options {
  readonly db?: string;
  readonly remote?: string;
  readonly branch?: string;
  readonly folder?: string;
  readonly name?: string;
  readonly limit?: readonly string[];
  readonly drain: string;
  readonly lease: string;
  readonly poll: string;
  readonly follow: string;
  readonly healthHost: string;
  readonly healthPort?: string;
  readonly once?: boolean;
  readonly reporter?: string;
  readonly config?: string;
  readonly set?: readonly string[];
}

const EXAMPLES = `Examples:
  remand worker --db postgres://me@db/remand --remote git@host:team/shop.git
  remand worker --limit developers=2 --limit checks=1     this machine does at most so many at once
  remand worker --health-port 8080                        GET /healthz and /readyz for your orchestrator
  remand worker --once                                    ends when every story is settled or waits for a person

Start as many as you like, on as many machines: they share one journal, and the config's limits hold over all of them.
Any of them may die. SIGTERM: takes no more jobs, lets those that run end (--drain), hands the others over, ends with 0.
The database can be given as REMAND_DB, the repository as REMAND_REMOTE.
`;

export const command: CliCommand = {
  name: "worker",
  register(command, world, done) {
    command
      .option("--db <url>", "the fleet's database, postgres://… (default: REMAND_DB)")
      .option("--remote <url>", "the repository that all workers clone and push to (default: REMAND_REMOTE)")
      .option("--branch <name>", "the branch that work is for (default: the remote's own)")
      .option("--folder <path>", "where this worker's clone is kept (default: .remand-worker/<name>)")
      .option("--name <name>", "the worker's name, which no other has (default: REMAND_WORKER, or the machine's)")
      .option("--limit <lane=number>", `this worker's own limit: ${LANES.join(", ")}; can be given again`, collect)
      .option("--drain <time>", "how long running jobs may continue after SIGTERM", "10m")
      .option("--lease <time>", "how long a worker may be silent before others take over its jobs", "3.5s")
      .option("--poll <time>", "how often a busy lane is polled for a job", "500ms")
      .option("--follow <time>", "how often the branch is checked for new stories and rules", "30s")
      .option("--health-host <address>", "the address on which /healthz and /readyz listen", "127.0.0.1")
      .option("--health-port <number>", "serve /healthz and /readyz on this port; 0 takes any free port")
      .option("--once", "exit when no worker has anything left to do")
      .option("--reporter <name>", `how progress is shown: ${REPORTERS.join(", ")}`)
      .option("--set <path=value>", "set a value of the config; can be given again", collect)
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => done(await work(world, options)));
  },
};

async function work(world: World, options: Options): Promise<ExitCode> {
  const db = requireOption(options.db ?? world.env["REMAND_DB"], "--db", "the address of the fleet's database");
  const remote = requireOption(options.remote ?? world.env["REMAND_REMOTE"], "--remote", "the repository to work on");
  const name = nameOf(options.name ?? world.env["REMAND_WORKER"] ?? world.env["HOSTNAME"] ?? "worker");
  const times = timesOf(options);
  const health = healthOf(options);
  const stopped = listenForInterrupt(world);
  try {
    const cloned = await world.host.clone({
      remote,
      folder: options.folder ?? `${world.cwd}/.remand-worker/${name}`,
      branch: options.branch ?? null,
      signal: stopped.signal,
      onNotice: (text) => world.err(`remand worker: ${text}\n`),
    });
    try {
      const { prepared, problems } = await prepareRun({ ...world, cwd: cloned.root }, [], options);
      for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
      if (prepared === null) throw new ProblemsFound(problems);
      const reporter = await createReporter(reporterName(options.reporter ?? "minimal", world.env), {
        world,
        asked: prepared.asked,
      });
      const run = {
        ...prepared,
        place: "worktrees",
        agentCommand: null,
        watcher: reporter,
        onNotice: (text: string) => reporter.note(`remand worker ${name}: ${text}\n`),
      } as const;
      const { drainMs, ...waits } = times;
      const plan: WorkPlan = {
        ...waits,
        db,
        name,
        project: remote.replace(/^.*[/:]([^/:]+?)(?:\.git)?\/?$/, "$1"),
        version: world.version,
        run,
        reread: branchReader(world, cloned, options, (text) => run.onNotice(text)),
        ownLimits: limitsOf(options.limit ?? []),
        health,
      };
      return await runWorker(await world.host.work(cloned.root, plan), plan, { reporter, options, drainMs, stopped });
    } finally {
      await cloned.close();
    }
  } finally {
    stopped.unhook();
  }
}

/** Reads new stories and settings from the branch. An error in them is reported once, and changes nothing. */
function branchReader(
  world: World,
  cloned: WorkerClone,
  options: Options,
  say: (text: string) => void,
): WorkPlan["reread"] {
  let hasMoved = false;
  let lastWrong = "";
  return async () => {
    // Set before the files are read: after an error, the next call reads them again.
    hasMoved = (await cloned.follow()) || hasMoved;
    if (!hasMoved) return "same";
    const { prepared, problems } = await prepareRun({ ...world, cwd: cloned.root }, [], options);
    hasMoved = false;
    const wrong = prepared === null ? problems.map((problem) => problemText(problem, world)).join("\n") : "";
    if (wrong !== "" && wrong !== lastWrong)
      say(`the branch has errors and is ignored until they are fixed:\n${wrong}`);
    lastWrong = wrong;
    return prepared ?? "broken";
  };
}

interface WorkerSettings {
  readonly reporter: Reporter;
  readonly options: Options;
  readonly drainMs: number;
  readonly stopped: StopSignals;
}

async function runWorker(working: RunningWorker, plan: WorkPlan, around: WorkerSettings): Promise<ExitCode> {
  const { reporter, options, drainMs, stopped } = around;
  if (working.healthUrl !== null) plan.run.onNotice?.(`health: ${working.healthUrl}/readyz`);
  plan.run.onNotice?.("takes jobs");
  const why = await Promise.race([
    stopped.asked.then(() => "stop" as const),
    working.lost,
    ...(options.once === true ? [working.settled().then(() => "settled" as const)] : []),
  ]);
  if (why !== "stop" && why !== "settled") {
    return abandonWork(working, plan, why);
  }
  if (why === "stop")
    plan.run.onNotice?.("takes no more jobs; ends when the running ones have ended (interrupt again to end at once)");
  void stopped.askedAgain.then(() => working.endJobs());
  const isLost = await Promise.race([
    working.drain(why === "settled" ? SETTLED_MS : drainMs).then(() => false),
    working.lost.then(() => true),
  ]);
  if (isLost) return abandonWork(working, plan, await working.lost);
  const state = working.state();
  await reporter.end(state);
  return why === "settled" ? exitCodeOf(state, null) : EXIT.ok;
}

async function abandonWork(working: RunningWorker, plan: WorkPlan, why: string): Promise<ExitCode> {
  plan.run.onNotice?.(`${why}; other workers have taken over its jobs. Start it again to continue`);
  await working.abandon();
  return EXIT.failed;
}

/** How long a worker with nothing left to do may take to finish what still runs. */
const SETTLED_MS = 10_000;

interface StopSignals {
  readonly signal: AbortSignal;
  readonly asked: Promise<void>;
  /** Resolves on the second signal: running work gets no more time to end. */
  readonly askedAgain: Promise<void>;
  unhook(): void;
}

function listenForInterrupt(world: World): StopSignals {
  const stop = new AbortController();
  const again = new AbortController();
  const unhook = world.onInterrupt(
    () => stop.abort(),
    () => again.abort(),
  );
  const whenAborted = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  return {
    signal: stop.signal,
    asked: whenAborted(stop.signal),
    askedAgain: whenAborted(again.signal),
    unhook,
  };
}

function requireOption(value: string | undefined, option: string, what: string): string {
  if (value !== undefined && value !== "") return value;
  throw new RemandError(
    "usage",
    `a worker needs ${what}`,
    `Give it with ${option}; remand worker --help has examples.`,
  );
}

function nameOf(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(text)) return text;
  throw new RemandError(
    "usage",
    `"${text}" cannot be a worker's name`,
    "Use letters, digits, dots and dashes: --name shop-1",
  );
}

function timesOf(options: Options) {
  const time = (option: "drain" | "follow" | "lease" | "poll", least: number, most: number): number => {
    const ms = durationMs(options[option]);
    if (ms !== null && ms >= least && ms <= most) return ms;
    throw new RemandError(
      "usage",
      `--${option} ${options[option]} is not a time from ${least} ms to ${most / 1000} s`,
      `Example: --${option} 5s`,
    );
  };
  return {
    drainMs: time("drain", 0, DAY_MS),
    leaseMs: time("lease", 3000, DAY_MS),
    followMs: time("follow", 100, DAY_MS),
    pollMs: time("poll", 20, 60_000),
    openPatienceMs: OPEN_PATIENCE_MS,
  };
}

const DAY_MS = 86_400_000;
/** Machines start together, and the database may be the last one up. */
const OPEN_PATIENCE_MS = 30_000;

function healthOf({ healthHost: host, healthPort }: Options): WorkPlan["health"] {
  return healthPort === undefined ? null : { host, port: parseNumber("--health-port", healthPort, 0, 65_535) };
}

function limitsOf(typed: readonly string[]): Partial<Record<Lane, number>> {
  return Object.fromEntries(
    typed.map((text) => {
      const [lane = "", number = ""] = text.split("=");
      return [wordOf("a lane", lane, LANES), parseNumber("--limit", number, 1, 10_000)];
    }),
  );
}
