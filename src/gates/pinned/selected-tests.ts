import type { GateRequest } from "../../ports/gate.ts";
import { narrowedCommand } from "../../write/edits/narrow-command.ts";
import { placeOfFailure } from "../../core/gates/base-failures.ts";
import type { SuiteResults } from "../../core/gates/test-names.ts";
import type { ChecksGate, TestedJudgement } from "../checks/checks-gate.ts";
import { gitFolderOf } from "../integrity/file-changes.ts";
import type { CheckCommand, CheckControl } from "../checks/run-check.ts";
import { readTestText } from "../../parse/tests/test-text.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import { type PinnedRules, pinningOf } from "../../core/gates/base-tests.ts";
import type { ExperimentCheckout } from "../../ports/experiment-runner.ts";
import { spliceInlineTests } from "../../parse/tests/doc-tests.ts";

/** Returns the commands that run only these test files. Leaves out commands whose runner cannot select files. */
export function selectCommands(
  commands: readonly CheckCommand[],
  files: readonly string[],
  packageFile: string | null,
  textOf: (file: string) => string | null = () => null,
): readonly CheckCommand[] {
  const failures = files.map((file) => ({ file, test: file }));
  const narrowed = commands.map((command) => ({
    ...command,
    run: narrowedCommand(command.run, { failures, packageFile, textOf }),
  }));
  return narrowed.filter(({ run }, index) => run !== commands[index]!.run);
}

/** Makes the checks for certain test files; see `TestedWorkOptions`. */
export type SelectTests = (files: readonly string[], packageFile: string | null) => ChecksGate | null;

/** Reads a file of the checkout, by its path from the repository's top. */
type TextAt = (path: string) => string | null;

/**
 * Runs only these test files. `null` if that is not possible: a file has no tests, a runner cannot select files, or the
 * run does not name a test of each file.
 */
export async function runSelected(
  selectTests: SelectTests | undefined,
  files: readonly string[],
  request: GateRequest,
  control: CheckControl,
  textAt: TextAt,
): Promise<TestedJudgement | null> {
  const prefix = (await gitFolderOf(request.path))?.prefix ?? "";
  const isRunnable = files.every((file) => file.startsWith(prefix) && holdsTests(file, textAt(file)));
  if (selectTests === undefined || files.length === 0 || !isRunnable) return null;
  const own = files.map((file) => file.slice(prefix.length));
  const checks = selectTests(own, textAt(`${prefix}package.json`));
  if (checks === null) return null;
  const ran = await checks.judgeTests(request, control);
  return own.every((file) => isIn(ran.tests, file)) ? ran : null;
}

const holdsTests = (file: string, text: string | null): boolean =>
  text !== null && readTestText(file, text).tests.length > 0;

function isIn({ passed, failed }: SuiteResults, file: string): boolean {
  return [...passed.keys(), ...failed].some((name) => isPlaceOf(name, file));
}

/** Whether a test name belongs to that file. One of the two paths may start at a higher folder. */
export function isPlaceOf(name: string, file: string): boolean {
  const place = placeOfFailure(name);
  return place === file || place.endsWith(`/${file}`) || file.endsWith(`/${place}`);
}

/** Returns files with tests, or that configure how tests run, which a run in this checkout changed. */
export async function writtenTests(
  { writtenPaths: written, text }: ExperimentCheckout,
  rules: Omit<PinnedRules, "named">,
): Promise<readonly string[]> {
  const holdsTests = (path: string): boolean => {
    const pinning = pinningOf(path, { ...rules, named: new Set() });
    if (pinning !== "spliced") return pinning === "whole";
    const now = text(path) ?? "";
    return spliceInlineTests(path, now, now) !== null;
  };
  return ((await written?.()) ?? []).filter(holdsTests);
}

/**
 * Takes a pass away if the run changed test files, because then it shows nothing. Files that the checks also write at
 * the base are permitted.
 */
export function unlessWritten(judgement: Judgement, { baseRun }: GateRequest, written: readonly string[]): Judgement {
  const own = new Set(baseRun?.written);
  const changed = written.filter((path) => !own.has(path));
  if (changed.length === 0) return judgement;
  const { notes: _notes, contested: _contested, identities, ...rest } = judgement;
  const files = changed.slice(0, MOST_NAMED).join(", ");
  const summary = `${judgement.gate}: inconclusive (test files were changed while the checks ran: ${files})`;
  // Tests that passed in this run do not count as passed.
  const known = identities === undefined ? {} : { identities: { ...identities, passing: [] } };
  return { ...rest, ...known, result: "inconclusive", summary };
}

const MOST_NAMED = 8;
