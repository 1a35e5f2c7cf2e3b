import { countText } from "../../stdx/plain-text.ts";
import type { CheckRun } from "../../core/gates/gate.ts";
import type { TestOutput } from "../../parse/tests/test-output.ts";
import type { ProcessResult } from "../../adapters/process/run-process.ts";
import { isBlocking, lastWords, secondsOf, type CheckFault } from "./check-faults.ts";

/**
 * Returns the result of a run. The exit code decides; output and reports only explain a failure, or take a pass away.
 */
export function resultOn(
  ended: ProcessResult,
  output: TestOutput,
  faults: readonly CheckFault[],
): Pick<CheckRun, "result" | "details"> {
  const broken = brokenBy(ended);
  if (broken !== null) return { result: "error", details: broken };
  if (!hasFailed(ended)) return greenVerdict(output);
  if (faults.some(isBlocking)) return { result: "fail", details: failureDetails(ended, output) };
  // The check also failed before the work. Whether it is worse now is only known if the output names the failures.
  if (faults.some((fault) => fault.isOpaque) || output.more > 0) {
    return {
      result: "inconclusive",
      details: `it was red before the work began, and its output does not say whether it is worse now: ${failureDetails(ended, output)}`,
    };
  }
  return { result: "pass", details: passedWith(faults).join("; ") };
}

/** Returns what a pass was given in spite of, one sentence per kind. */
export function passedWith(faults: readonly CheckFault[]): string[] {
  const namesOf = (kind: CheckFault["kind"], one: string, many?: string): string[] => {
    const names = [...new Set(faults.filter((fault) => fault.kind === kind).map(({ name }) => name))];
    return names.length === 0 ? [] : [`${countText(names.length, one, many)}: ${names.join(", ")}`];
  };
  return [
    ...namesOf("known", "known failure"),
    ...namesOf(
      "unrelated",
      "failure that was there before and is not a target",
      "failures that were there before and are not targets",
    ),
    ...namesOf("flaky", "quarantined flaky test"),
  ];
}

/** Returns the result of a run that exited with 0, which the work may have forced. */
function greenVerdict(output: TestOutput): Pick<CheckRun, "result" | "details"> {
  const { counts, ranTests, runners } = output;
  const contradiction = contradictionIn(output);
  if (contradiction !== null) return { result: "inconclusive", details: `${contradiction}, and it exited with 0` };
  if (ranTests === false)
    return {
      result: "inconclusive",
      details: `${runners.join(", ")} ran no test${counts !== null && counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`,
    };
  return {
    result: "pass",
    details: counts === null ? "exit code 0" : `${counts.passed} of ${countText(counts.total, "test")} passed`,
  };
}

/**
 * Returns how the output contradicts exit code 0; `null` if it does not. For tests, only the runner's counts or a
 * report matter, because a test may print anything. Otherwise, only clear errors of a compiler or linter, and only if
 * no runner is known.
 */
function contradictionIn({ counts, failures, runners }: TestOutput): string | null {
  if (counts !== null && counts.failed > 0) return `its output says ${countText(counts.failed, "test")} failed`;
  if (runners.length > 0) return null;
  const errors = failures.filter(({ category }) => category === "type" || category === "lint").length;
  return errors === 0 ? null : `its output names ${countText(errors, "error")}`;
}

function failureDetails(ended: ProcessResult, { counts, failures, more }: TestOutput): string {
  if (counts !== null && counts.failed > 0) return `${counts.failed} of ${countText(counts.total, "test")} failed`;
  const isOfTests = failures.every(({ category }) => category === "test");
  if (failures.length > 0 && isOfTests) return `${countText(failures.length + more, "test")} failed`;
  if (failures.length > 0) return `${countText(failures.length + more, "error")}, ${exitText(ended)}`;
  return exitWords(ended);
}

const exitText = ({ exitCode, signal }: ProcessResult): string =>
  signal === null ? `exit code ${exitCode}` : `ended by ${signal}`;

export function exitWords(ended: ProcessResult): string {
  const words = lastWords(ended.output);
  return words === "" ? exitText(ended) : `${exitText(ended)}: ${words}`;
}

/** Returns how the run ended, in a few words, for the head of its log. */
export const endingOf = (ended: ProcessResult): string =>
  ended.status === "exited" ? exitText(ended) : (brokenBy(ended) ?? ended.status);

export const hasFailed = (ended: ProcessResult): boolean => ended.exitCode !== 0;

/**
 * Returns why the check has no result; `null` if it has one. A program that crashed by itself (segfault, abort) has
 * failed because of the work; a program that was killed from outside has no result.
 */
export function brokenBy({ status, exitCode, signal, failure, durationMs, output }: ProcessResult): string | null {
  if (status === "failed-to-start") return failure?.message ?? "it could not be started";
  if (status === "timeout") return `it was ended after ${secondsOf(durationMs)}, which is its limit`;
  if (status === "cancelled") return "it was stopped";
  if (signal !== null && !OWN_DOING.has(signal)) return `it was ended by ${signal}`;
  if (exitCode === 137 || exitCode === 143) return `it was ended by ${exitCode === 137 ? "SIGKILL" : "SIGTERM"}`;
  if (exitCode === 126 || exitCode === 127)
    return `it could not be started (exit code ${exitCode}): ${lastWords(output)}`;
  return null;
}

/** Whether the program was missing or not executable, by the shell's exit codes or the system's error. */
export const isNotStarted = ({ exitCode, details }: Pick<CheckRun, "exitCode" | "details">): boolean =>
  exitCode === 126 || exitCode === 127 || (exitCode === null && details.startsWith("there is no program"));

/** Returns the details of a check that hangs with the work and did not hang before. */
export const hangDetails = (limitMs: number): string =>
  `it did not end within ${secondsOf(limitMs)}, and before the work began it did`;

const OWN_DOING: ReadonlySet<string> = new Set([
  "SIGSEGV",
  "SIGABRT",
  "SIGBUS",
  "SIGILL",
  "SIGFPE",
  "SIGTRAP",
  "SIGSYS",
]);
