import type { CheckRun, TestCounts } from "../../domain/gate.ts";
import type { EvidenceId } from "../../domain/ids.ts";
import type { Result } from "../../domain/result.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { GateRequest } from "../../ports/gate.ts";
import { readTestOutput, type TestOutput } from "../../readers/test-output.ts";
import type { Environment } from "../process/environment.ts";
import { runProcess, type ProcessResult } from "../process/run-process.ts";
import { faultsIn, lastWords, type Fault } from "./check-faults.ts";

export interface CheckCommand {
  readonly name: string;
  readonly run: string;
  /** Where it is run; none given means in every environment there is. */
  readonly environments?: readonly string[];
  readonly timeoutMs?: number;
}

export interface CheckEnvironment {
  /** Put in front of a check's command. */
  readonly run?: string;
  /** Shows, inside the environment, that it is there. */
  readonly probe?: string;
}

/** One cell of the matrix, and what was found in it. */
export interface CheckOutcome {
  readonly run: CheckRun;
  readonly faults: readonly Fault[];
  readonly tests: TestCounts | null;
  readonly evidence: EvidenceId | null;
}

export interface CheckControl {
  readonly signal: AbortSignal;
  onOutput(line: string): void;
}

interface RunnerOptions {
  readonly environments: ReadonlyMap<string, CheckEnvironment>;
  readonly evidence: Evidence;
  readonly env: Environment;
  readonly cookie?: () => string;
}

type RunCheck = (command: CheckCommand, environment: string) => Promise<CheckOutcome>;

/** Runs checks over one tree. Each environment is looked at once, when the first check needs it. */
export function checkRunner(options: RunnerOptions, request: GateRequest, control: CheckControl): RunCheck {
  const troubles = new Map<string, Promise<string | null>>();
  const start = (line: string, timeoutMs: number): Promise<ProcessResult> =>
    runProcess(
      {
        command: line,
        cwd: request.path,
        env: sameEveryTime(options.env),
        timeoutMs,
        ...(options.cookie === undefined ? {} : { cookie: options.cookie() }),
      },
      { signal: control.signal, onLine: (text) => control.onOutput(text) },
    );
  const troubleWith = (environment: CheckEnvironment): Promise<string | null> =>
    environment.probe === undefined
      ? Promise.resolve(null)
      : start(lineIn(environment, environment.probe), Math.min(PROBE_MS, request.timeoutMs)).then((ended) =>
          probeTrouble(environment.probe!, ended),
        );

  return async (command, name) => {
    const environment = options.environments.get(name);
    const cell = { check: command.name, command: command.run, environment: name } as const;
    if (environment === undefined) return without(cell, "error", `there is no environment ${name}`);
    if (!troubles.has(name)) troubles.set(name, troubleWith(environment));
    const trouble = (await troubles.get(name)) ?? null;
    if (trouble !== null) return without(cell, "blocked", trouble);
    const ended = await start(lineIn(environment, command.run), command.timeoutMs ?? request.timeoutMs);
    const evidence = await options.evidence.keep(logOf(command, name, ended));
    const output = readTestOutput(ended.output, request.path);
    const faults =
      ended.status === "exited" && !isBroken(ended) && hasFailed(ended)
        ? faultsIn(command, ended, output, request.preExisting)
        : [];
    const { result, details } = verdictOn(ended, output, faults);
    return { run: { ...cell, result, exitCode: ended.exitCode, details }, faults, tests: output.counts, evidence };
  };
}

const PROBE_MS = 60_000;

function without(
  cell: Pick<CheckRun, "check" | "command" | "environment">,
  result: Result,
  details: string,
): CheckOutcome {
  return { run: { ...cell, result, exitCode: null, details }, faults: [], tests: null, evidence: null };
}

/** The exit code decides; what the output says only explains it, or takes a pass away. */
function verdictOn(
  ended: ProcessResult,
  output: TestOutput,
  faults: readonly Fault[],
): Pick<CheckRun, "result" | "details"> {
  const broken = isBroken(ended);
  if (broken !== null) return { result: "error", details: broken };
  const { counts, ranTests, runners } = output;
  if (!hasFailed(ended)) {
    if (ranTests === false)
      return {
        result: "inconclusive",
        details: `${runners.join(", ")} ran no test${counts !== null && counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`,
      };
    return {
      result: "pass",
      details: counts === null ? "exit code 0" : `${counts.passed} of ${counts.total} tests passed`,
    };
  }
  const fresh = faults.filter((fault) => !fault.preExisting);
  if (fresh.length > 0) return { result: "fail", details: failureDetails(ended, output) };
  // Red before and red now. Whether it got worse can be said only where the output names what failed.
  if (faults.some((fault) => fault.isOpaque) || output.more > 0) {
    return {
      result: "inconclusive",
      details: `it was red before the work began, and its output does not say whether it is worse now: ${failureDetails(ended, output)}`,
    };
  }
  return {
    result: "pass",
    details: `only what was red before the work began: ${faults.length} ${faults.length === 1 ? "fault" : "faults"}`,
  };
}

function failureDetails(ended: ProcessResult, { counts, failures, more }: TestOutput): string {
  if (counts !== null && counts.failed > 0) return `${counts.failed} of ${counts.total} tests failed`;
  if (failures.length > 0)
    return `${failures.length + more} ${failures.length + more === 1 ? "error" : "errors"}, ${exitText(ended)}`;
  return exitWords(ended);
}

const exitText = ({ exitCode, signal }: ProcessResult): string =>
  signal === null ? `exit code ${exitCode}` : `ended by ${signal}`;

function exitWords(ended: ProcessResult): string {
  const words = lastWords(ended.output);
  return words === "" ? exitText(ended) : `${exitText(ended)}: ${words}`;
}

const hasFailed = (ended: ProcessResult): boolean => ended.exitCode !== 0;

/**
 * Why the check could not judge; `null` if it did. A program that fell over by itself (a bad address, an abort) is the
 * work's doing and has failed; one that somebody ended has not been heard.
 */
function isBroken({ status, exitCode, signal, failure, durationMs, output }: ProcessResult): string | null {
  if (status === "failed-to-start") return failure?.message ?? "it could not be started";
  if (status === "timeout") return `it was ended after ${Math.round(durationMs / 100) / 10} s, which is its limit`;
  if (status === "cancelled") return "it was stopped";
  if (signal !== null && !OWN_DOING.has(signal)) return `it was ended by ${signal}`;
  if (exitCode === 137 || exitCode === 143) return `it was ended by ${exitCode === 137 ? "SIGKILL" : "SIGTERM"}`;
  if (exitCode === 126 || exitCode === 127)
    return `it could not be started (exit code ${exitCode}): ${lastWords(output)}`;
  return null;
}

const OWN_DOING: ReadonlySet<string> = new Set([
  "SIGSEGV",
  "SIGABRT",
  "SIGBUS",
  "SIGILL",
  "SIGFPE",
  "SIGTRAP",
  "SIGSYS",
]);

function probeTrouble(probe: string, ended: ProcessResult): string | null {
  if (ended.status === "exited" && ended.exitCode === 0) return null;
  const why = ended.status === "exited" ? exitWords(ended) : (isBroken(ended) ?? ended.status);
  return `the environment is not there: \`${probe}\` says ${why}`;
}

/** A command of more than plain words is handed over whole: in front of `a && b` the prefix would reach only `a`. */
function lineIn({ run }: CheckEnvironment, command: string): string {
  if (run === undefined || run.trim() === "") return command;
  return /^[\w@%+=:,./ -]*$/.test(command) && !/^\w+=/.test(command)
    ? `${run} ${command}`
    : `${run} sh -c '${command.replaceAll("'", "'\\''")}'`;
}

/** Nobody watches, and no colours; what our own test runner, if we run inside one, left for its children is taken out. */
function sameEveryTime(env: Environment): Environment {
  const { FORCE_COLOR: _1, CLICOLOR_FORCE: _2, NODE_TEST_CONTEXT: _3, VITEST: _4, JEST_WORKER_ID: _5, ...rest } = env;
  return { ...rest, NO_COLOR: "1", CI: "1" };
}

function logOf({ name, run }: CheckCommand, environment: string, ended: ProcessResult): string {
  const end = ended.status === "exited" ? exitText(ended) : (isBroken(ended) ?? ended.status);
  return `check: ${name}\nenvironment: ${environment}\n$ ${run}\n${end}\n\n${ended.output}`;
}
