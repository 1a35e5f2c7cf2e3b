import { resolve } from "node:path";
import { countText } from "../../../stdx/plain-text.ts";
import { type GateReport, strictReport } from "../../../core/gates/gate-report.ts";
import { problemText } from "../../../write/reports/problem-text.ts";
import { type CliCommand, type ExitCode, INTERRUPTED, type World } from "../../../app/command.ts";
import { ProblemsFound } from "../../problems-found.ts";
import {
  type FormatSetting,
  GATE_FORMATS,
  type GateFormat,
  exitOfGates,
  formatGates,
  gateSummary,
} from "../../gate-formats.ts";
import { JSON_OPTION, fieldsHelp, pickedFields } from "../../json-fields.ts";
import { planGates, pullRequestNumber } from "../../../app/gate-plan.ts";
import { collect, wordOf } from "../../../app/option-values.ts";
import { glyphsFor, paintFor, stoppable } from "../../terminal-kind.ts";

interface Options {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly only?: readonly string[];
  readonly at?: string;
  readonly base?: string;
  readonly all?: boolean;
  readonly strict?: boolean;
  readonly testsMayChange?: readonly string[];
  readonly pullRequest?: string;
  readonly format?: string;
  readonly output?: string;
  readonly json?: boolean | string;
  readonly verbose?: boolean;
}

const EXAMPLES = `Examples:
  remand gate                                    run the gates of remand.yaml on the files as they are
  remand gate checks                             run only this gate
  remand gate --at HEAD --base origin/main       run them on a commit, in a worktree that is removed afterwards
  remand gate checkout-retry                     run them on this story's branch, against its criteria
  remand gate --strict --tests-may-change "test/total.test.js"    existing tests, but for these, must pass as they were
  remand gate --strict --pull-request 17         an approval by a test's code owner is a license for it
  remand gate --format sarif --output remand.sarif      for a code host; junit for a CI service

Nothing is written to the journal, and your files, branch and index stay as they are. Without --base the work is compared with the
default branch; on that branch, with the last commit, or the one before where everything is committed.
Exit code: 0 every gate passed, 3 not, 4 contested tests need a license (with --strict, or on a branch that an
attempt of Remand wrote), 2 wrong usage or config, 1 Remand or its environment failed.
`;

export const command: CliCommand = {
  name: "gate",
  register(command, world, done) {
    command
      .usage("[gate…] [story] [options]")
      .argument("[name...]", "the gates to run (default: those of the config), and a story")
      .option("--only <gate>", "run only this gate; can be given again", collect)
      .option("--at <commit>", "run on a commit instead of the files as they are")
      .option("--base <ref>", "what to compare with (default: the default branch)")
      .option("--all", "ask reviewers even where a gate before them did not pass")
      .option(
        "--tests-may-change <glob>",
        "an existing test that the change may change: name, file or pattern; can be given again",
        collect,
      )
      .option(
        "--pull-request <number>",
        "the pull request that is judged: its code owners' approvals license contested tests (default: that of the GitHub workflow)",
      )
      .option(
        "--strict",
        "do not pass while there are contested tests: inconclusive, exit code 4 (always so for work of an attempt)",
      )
      .option("--format <name>", `output format: ${GATE_FORMATS.join(", ")}`)
      .option("--output <file>", "write that format to a file, and print text")
      .option("--set <path=value>", "set a value of the config; can be given again", collect)
      .option(JSON_OPTION, "the same as --format json: a document of the schema remand.gate/1, or these fields of it")
      .addHelpText("before", EXAMPLES)
      .addHelpText("after", fieldsHelp("gate"))
      .action(async (names: string[], options: Options) => done(await gate(world, names, options)));
  },
};

async function gate(world: World, typed: readonly string[], options: Options): Promise<ExitCode> {
  const format = formatOf(world, options);
  const fields = pickedFields("gate", options.json) || null;
  const names = [...typed, ...(options.only ?? [])];
  const { at = null, base = null, all = false, config, set, testsMayChange } = options;
  const { plan, problems } = await planGates(world, { names, at, base, all, config, set, testsMayChange });
  for (const problem of problems) world.err(`${problemText(problem, world)}\n`);
  if (plan === null) throw new ProblemsFound(problems);
  const pullRequest = await pullRequestNumber(world, options.pullRequest);
  const { done: seen, interrupt } = await stoppable(world, (signal) =>
    world.host.gate(world.cwd, {
      ...plan,
      ...(pullRequest === null ? {} : { pullRequest }),
      signal,
      onOutput: (name, line) => {
        if (options.verbose === true) world.err(`${name} | ${line}\n`);
      },
      onNotice: (text) => world.err(`remand: ${text}\n`),
    }),
  );
  if (interrupt !== null) return INTERRUPTED[interrupt];
  // No person has reviewed the commit of an attempt, so contested tests must not pass here.
  const isStrict = options.strict === true || seen.judged.attemptOf !== undefined;
  const report = isStrict ? strictReport(seen) : seen;
  await tell(world, report, format, fields, options.output);
  return exitOfGates(report);
}

function formatOf(world: World, { format, json, output }: Options): GateFormat {
  if (format !== undefined) return wordOf("a format", format, GATE_FORMATS);
  if (json !== undefined) return "json";
  return output === undefined ? shownFormat(world) : byEnding(output);
}

/** On GitHub, people read annotations. */
const shownFormat = (world: World): GateFormat => (world.env["GITHUB_ACTIONS"] === "true" ? "github" : "text");

function byEnding(file: string): GateFormat {
  if (file.endsWith(".sarif")) return "sarif";
  if (file.endsWith(".xml")) return "junit";
  return file.endsWith(".json") ? "json" : "text";
}

async function tell(
  world: World,
  report: GateReport,
  format: GateFormat,
  fields: readonly string[] | null,
  output: string | undefined,
): Promise<void> {
  const setting: FormatSetting = {
    version: world.version,
    glyphs: glyphsFor(world.env),
    paint: paintFor(world.color && output === undefined),
    fields,
  };
  const text = formatGates(report, format, setting);
  await addSummary(world, report);
  if (output === undefined) return world.out(text);
  await world.files.write(resolve(world.cwd, output), world.host.clean(text));
  world.out(formatGates(report, shownFormat(world), { ...setting, paint: paintFor(world.color) }));
  world.err(`remand: wrote ${output} (${format}, ${countText(findingsIn(report), "finding")})\n`);
}

/** Appends to the file that GitHub shows on the page of the run, where other steps may have written before. */
async function addSummary(world: World, report: GateReport): Promise<void> {
  const file = world.env["GITHUB_STEP_SUMMARY"];
  if (world.env["GITHUB_ACTIONS"] !== "true" || file === undefined || file === "") return;
  const before = (await world.files.read(file)) ?? "";
  await world.files.write(file, `${before}${world.host.clean(gateSummary(report))}`);
}

const findingsIn = ({ judgements }: GateReport): number =>
  judgements.reduce((sum, { findings }) => sum + findings.length, 0);
