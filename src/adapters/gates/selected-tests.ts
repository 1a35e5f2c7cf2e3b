import type { GateRequest } from "../../ports/gate.ts";
import { narrowedCommand } from "../../writers/narrowed-command.ts";
import { placeOfFailure } from "../../domain/base-failures.ts";
import type { SuiteResults } from "../../domain/suite-results.ts";
import type { ChecksGate, TestedJudgement } from "./checks-gate.ts";
import { gitFolderOf } from "./git-folder.ts";
import type { CheckCommand, CheckControl } from "./run-check.ts";
import { readTestText } from "./test-text.ts";

/** The commands that run these test files alone. Commands whose runner cannot be told so are left out. */
export function selectCommands(
  commands: readonly CheckCommand[],
  files: readonly string[],
  packageFile: string | null,
): readonly CheckCommand[] {
  const failures = files.map((file) => ({ file, test: file }));
  const narrowed = commands.map((command) => ({
    ...command,
    run: narrowedCommand(command.run, { failures, packageFile }),
  }));
  return narrowed.filter(({ run }, index) => run !== commands[index]!.run);
}

/** Makes the checks for some test files; see `TestedWorkOptions`. */
export type SelectTests = (files: readonly string[], packageFile: string | null) => ChecksGate | null;

/** A file of the bench, by its path from the top of the repository. */
type TextAt = (path: string) => string | null;

/**
 * Runs these test files alone. `null` where that cannot be done: a file holds no tests, a runner cannot be told which to
 * run, or the run does not name a test of each file.
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

/** Is this the name of a test in that file? One of the two may be told from a folder above. */
export function isPlaceOf(name: string, file: string): boolean {
  const place = placeOfFailure(name);
  return place === file || place.endsWith(`/${file}`) || file.endsWith(`/${place}`);
}
