import { RemandError } from "../../../core/events/error.ts";
import { knownDurationMs } from "../../../config/duration.ts";
import { blameDocument } from "../../../views/board/check-reports.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { ProblemsFound } from "../../problems-found.ts";
import { blameText } from "../../blame-text.ts";
import { type CliCommand, EXIT, type ExitCode, INTERRUPTED, type World } from "../../../app/command.ts";
import { loadConfig } from "../../../app/load-config.ts";
import { collect, parseNumber } from "../../../app/option-values.ts";
import { paintFor, stoppable } from "../../terminal-kind.ts";

interface Options {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly failure?: string;
  readonly base?: string;
  readonly at?: string;
  readonly check?: string;
  readonly prove: boolean;
  readonly runsMax?: string;
  readonly timeMax?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const EXAMPLES = `Examples:
  npm test 2>&1 | remand blame --failure - --check "npm test"      why did what I have changed break that?
  remand blame --check "npm test"                run the check first, then look for the cause of its failure
  remand blame --at HEAD --base HEAD~3 --check "pytest -q"         in which part of the last three commits
  remand blame --failure ci.log --base origin/main --no-prove      by reading alone, in a second
  remand blame --check "go test ./..." --json    for programs: a document of the schema remand.blame/1

Candidates are reverted in a temporary worktree, and only the failing tests are run there. Your files, index and
stash stay as they are. "proven" is said only of what was run both ways: without it the check passes, and alone on the
base it fails in the same way.
Exit code: 0 an answer was found, 3 unknown, 2 wrong usage or config, 1 Remand or its environment failed.
`;

export const command: CliCommand = {
  name: "blame",
  register(command, world, done) {
    command
      .usage("[options]")
      .option("--failure <file>", "what the failed check printed; - reads it from the input (default: run the check)")
      .option("--base <ref>", "what worked before (default: the last commit, or the default branch)")
      .option("--at <commit>", "check a commit instead of the files as they are")
      .option("--check <command>", "the check that fails (default: the first of gates.checks.commands)")
      .option("--no-prove", "rank by reading alone, run nothing")
      .option("--runs-max <n>", "the most runs of the check (default: blame.runs)")
      .option("--time-max <time>", "the most time for all runs, such as 5m (default: blame.time)")
      .option("--set <path=value>", "set a value of the config; can be given again", collect)
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => done(await blame(world, options)));
  },
};

async function blame(world: World, options: Options): Promise<ExitCode> {
  const { config, problems } = await loadConfig(world, options);
  for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
  if (config === null) throw new ProblemsFound(problems);
  const first = config.gates.checks.commands[0];
  const check = options.check ?? (typeof first === "string" ? first : first?.run) ?? null;
  const output = await failureText(world, options.failure);
  if (output === null && check === null)
    throw new RemandError(
      "usage",
      "neither a failure nor a check is given",
      'Give one of them: remand blame --check "npm test"',
    );
  const limits = {
    runs: options.runsMax === undefined ? config.blame.runs : parseNumber("--runs-max", options.runsMax, 1, 500),
    timeMs: timeOf(options.timeMax ?? config.blame.time),
  };
  const spec = { config, output, command: check, at: options.at ?? null, base: options.base ?? null, limits };
  const prove = options.prove && config.blame.prove;
  const isQuiet = options.quiet === true || options.json === true;
  const { done: report, interrupt } = await stoppable(world, (signal) =>
    world.host.blame(world.cwd, {
      ...spec,
      prove,
      signal,
      onRun: (what) => {
        if (!isQuiet) world.err(`run ${what}\n`);
      },
      onNotice: (text) => world.err(`remand: ${text}\n`),
    }),
  );
  if (interrupt !== null) return INTERRUPTED[interrupt];
  if (options.json === true) world.out(`${JSON.stringify(blameDocument(report), null, 2)}\n`);
  else world.out(blameText(report, paintFor(world.color)));
  return report.blame?.verdict === "unknown" ? EXIT.rejected : EXIT.ok;
}

async function failureText(world: World, file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  if (file === "-") return world.stdin();
  const text = await world.files.read(file);
  if (text === null)
    throw new RemandError("file-missing", `there is no file ${file}`, "Name the log, or - for the input.");
  return text;
}

function timeOf(text: string): number {
  if (!/^(?:\d{1,6}(?:\.\d+)?(?:ms|s|m|h)\s*)+$/.test(text))
    throw new RemandError("usage", `${text} is not a length of time`, "Example: --time-max 5m");
  return knownDurationMs(text);
}
