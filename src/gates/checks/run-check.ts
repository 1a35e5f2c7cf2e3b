import type { BaseFailures } from "../../core/gates/base-failures.ts";
import { checkLogText } from "../../core/gates/check-output.ts";
import type { CheckRun, TestCounts } from "../../core/gates/gate.ts";
import type { EvidenceId, TreeId } from "../../core/events/ids.ts";
import type { Result } from "../../core/events/error.ts";
import { NO_TEST_NAMES, type TestNames } from "../../core/gates/test-names.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { GateRequest } from "../../ports/gate.ts";
import { type NameReport, withNames } from "../../parse/tests/test-names.ts";
import type { PassedTest } from "../../parse/tests/test-output-parts.ts";
import { type TestOutput, createOutputReader } from "../../parse/tests/test-output.ts";
import { type TestReport, withReports } from "../../parse/tests/test-report-parts.ts";
import {
  type Environment,
  type EnvironmentIn,
  checkEnvironment,
  environmentIn,
} from "../../adapters/process/environment.ts";
import { type ProcessResult, runProcess } from "../../adapters/process/run-process.ts";
import { brokenBy, endingOf, hangDetails, hasFailed, resultOn } from "./check-ending.ts";
import { type CheckFault, faultsIn, hangFault } from "./check-faults.ts";
import { type StartOptions, type CheckEnvironment, cellName, lineIn, readyEnvironments } from "./environments.ts";
import { openNameReports } from "./name-reports.ts";
import { type SeenReports, type ShownPaths, shownPaths } from "./read-reports.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { NO_SANDBOX } from "../../adapters/process/launch.ts";

export interface CheckCommand {
  readonly name: string;
  readonly run: string;
  /** The environments it runs in; default: all. */
  readonly environments?: readonly string[];
  readonly timeoutMs?: number;
}

/** One check in one environment, and what was found. */
export interface CheckOutcome {
  readonly run: CheckRun;
  readonly faults: readonly CheckFault[];
  readonly tests: TestCounts | null;
  readonly evidence: readonly EvidenceId[];
  /** Tests, or the check itself, that gave two results on this tree. */
  readonly flaky: readonly CheckFault[];
  readonly named: NamedTests;
  /** Every test by name, as far as the run reports. */
  readonly names: TestNames;
  /** Whether it ran in an environment that does not see the checkout's files. */
  readonly isUnverified?: boolean;
  /** Whether the reporters change the check's result, so that it must run without them. */
  readonly isUnreported?: boolean;
}

/** What is known about single tests after a run. */
export interface NamedTests {
  /** Whether the check exited within its time limit. */
  readonly ended: boolean;
  readonly ranTests: boolean;
  readonly notLoaded: readonly string[];
  readonly passed: readonly PassedTest[];
  /** The number of failures that were counted but not listed. */
  readonly unlisted: number;
}

const NOTHING_NAMED: NamedTests = { ended: false, ranTests: false, notLoaded: [], passed: [], unlisted: 0 };

export interface CheckControl {
  readonly signal: AbortSignal;
  onOutput(line: string): void;
}

interface CheckRunnerOptions {
  readonly environments: ReadonlyMap<string, CheckEnvironment>;
  readonly evidence: Evidence;
  readonly env: EnvironmentIn;
  /** The sandbox of the commands; default: none. */
  readonly sandbox?: Sandbox;
  readonly cookie?: () => string;
  /** Runs before each run of a check. */
  readonly reset?: string;
  /** The tree that each workspace is set up for, by folder and environment. Kept between judgements. */
  readonly setUp: Map<string, TreeId>;
}

export interface CheckRunner {
  /** Runs one check in one environment. `reports`: also read the report files that it leaves. */
  run(
    command: CheckCommand,
    environment: string,
    reports: SeenReports | null,
    onOutput: (line: string) => void,
    how?: CheckRunOptions,
  ): Promise<CheckOutcome>;
}

/** `isBare`: run only the command, without making test runners report names. */
export interface CheckRunOptions {
  readonly isBare: boolean;
}

/**
 * Runs checks on one tree. Each environment is probed once per judgement, when the first check needs it, and set up
 * once per tree, even over several judgements.
 */
export function checkRunner(options: CheckRunnerOptions, request: GateRequest, signal: AbortSignal): CheckRunner {
  const shown = shownPaths(request);
  const start = starter(options, request, shown, signal);
  const ready = readyEnvironments(options, request, start);

  return {
    async run(command, name, reports, onOutput, how) {
      const environment = options.environments.get(name);
      const cell = { check: command.name, command: command.run, environment: name } as const;
      if (environment === undefined) return without(cell, "error", `there is no environment ${name}`);
      const trouble = await ready.troubleWith(name, environment, onOutput);
      if (trouble !== null) {
        const log = await options.evidence.keep(`environment: ${name}\n${trouble.why}\n\n${trouble.output}`);
        return { ...without(cell, "blocked", trouble.why), evidence: [log] };
      }
      const before = await reports?.before();
      const reader = createOutputReader(shown.root);
      const limitMs = command.timeoutMs ?? request.timeoutMs;
      // A wrapper leads to another machine or a container, which lacks the reporters.
      const isBare = how?.isBare === true || environment.run !== undefined || isUnreported(request, cellName(cell));
      const naming = isBare ? null : await openNameReports(await environmentOf(options, request), request.path);
      const onLine = (line: string): void => {
        reader.push(line);
        onOutput(line);
      };
      const ended = await start(lineIn(environment, command.run, request.path), limitMs, onLine, {
        isElsewhere: environment.run !== undefined,
        ...(naming === null ? {} : { env: naming.env, writes: [naming.folder] }),
      });
      const names = (await naming?.read()) ?? NOTHING_REPORTED;
      const read = before === undefined ? [] : await reports!.since(before);
      const evidence = await options.evidence.keep(
        checkLogText({
          check: command.name,
          environment: name,
          command: command.run,
          ending: endingOf(ended),
          output: ended.output,
        }),
      );
      const output = reader.end();
      if (ended.status === "timeout" && request.baseRun?.ended.includes(cellName(cell)) === true)
        return hungOutcome({ command, cell, ended, output }, limitMs, evidence);
      const outcome = outcomeOf({ command, cell, ended, output }, { files: read, names }, evidence, request.atBase);
      return ready.isUnverified(name) ? { ...outcome, isUnverified: true } : outcome;
    },
  };
}

type Start = (
  line: string,
  timeoutMs: number,
  onLine: (text: string) => void,
  how?: StartOptions,
) => Promise<ProcessResult>;

function starter(options: CheckRunnerOptions, request: GateRequest, shown: ShownPaths, signal: AbortSignal): Start {
  return async (line, timeoutMs, onLine, { env, writes = [], isElsewhere = false } = {}) => {
    const ended = await runProcess(
      {
        command: line,
        cwd: request.path,
        env: env ?? (await environmentOf(options, request)),
        timeoutMs,
        maxOutputBytes: MOST_LOG_BYTES,
        sandbox: isElsewhere ? null : (options.sandbox ?? NO_SANDBOX),
        writes,
        ...(options.cookie === undefined ? {} : { cookie: options.cookie() }),
      },
      { signal, onLine: shown.lines(onLine) },
    );
    return shown.ended(ended);
  };
}

const environmentOf = async ({ env }: CheckRunnerOptions, { path }: GateRequest): Promise<Environment> =>
  checkEnvironment(await environmentIn(env, path));

const isUnreported = ({ baseRun }: GateRequest, cell: string): boolean => baseRun?.unreported?.includes(cell) === true;

/** Reports of a run: files that the user configured, and what the test runners reported. */
interface ReadReports {
  readonly files: readonly TestReport[];
  readonly names: { readonly reports: readonly NameReport[]; readonly folders: readonly string[] };
}

const NOTHING_REPORTED: ReadReports["names"] = { reports: [], folders: [] };

/** A log's beginning and end are kept. The parser sees all of the output while it is printed. */
const MOST_LOG_BYTES = 4 * 1024 * 1024;

interface FinishedCheck {
  readonly command: CheckCommand;
  readonly cell: Pick<CheckRun, "check" | "command" | "environment">;
  readonly ended: ProcessResult;
  readonly output: TestOutput;
}

function outcomeOf(
  { command, cell, ended, output: printed }: FinishedCheck,
  { files, names: { reports, folders } }: ReadReports,
  evidence: EvidenceId,
  atBase: BaseFailures,
): CheckOutcome {
  const { output, names } = withNames(withReports(printed, files), reports, { check: command.name, folders });
  const faults =
    ended.status === "exited" && brokenBy(ended) === null && hasFailed(ended)
      ? faultsIn(command, ended, output, atBase)
      : [];
  const { result, details } = resultOn(ended, output, faults);
  return {
    run: { ...cell, result, exitCode: ended.exitCode, details, names: names.level, durationMs: ended.durationMs },
    faults,
    tests: output.counts,
    evidence: [evidence],
    flaky: [],
    named: namedIn(ended, output),
    names,
  };
}

/**
 * Returns the outcome of a hang. The check ended in time before the work, so the work causes the hang. Its tests'
 * results are unknown.
 */
function hungOutcome({ command, cell, ended }: FinishedCheck, limitMs: number, evidence: EvidenceId): CheckOutcome {
  return {
    run: { ...cell, result: "fail", exitCode: null, details: hangDetails(limitMs), durationMs: ended.durationMs },
    faults: [hangFault(command, limitMs, ended)],
    tests: null,
    evidence: [evidence],
    flaky: [],
    named: NOTHING_NAMED,
    names: NO_TEST_NAMES,
  };
}

function namedIn(
  ended: ProcessResult,
  { counts, failures, more, ranTests, notLoaded, passed }: TestOutput,
): NamedTests {
  const listed = failures.filter(({ test }) => test !== null).length;
  return {
    ended: ended.status === "exited" && brokenBy(ended) === null,
    ranTests: ranTests === true,
    notLoaded: notLoaded ?? [],
    passed: passed ?? [],
    unlisted: Math.max(more, (counts?.failed ?? 0) - listed, 0),
  };
}

function without(
  cell: Pick<CheckRun, "check" | "command" | "environment">,
  result: Result,
  details: string,
): CheckOutcome {
  const run = { ...cell, result, exitCode: null, details };
  return { run, faults: [], tests: null, evidence: [], flaky: [], named: NOTHING_NAMED, names: NO_TEST_NAMES };
}
