import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { checkEnvironment } from "../../src/adapters/process/environment.ts";
import { openNameReports } from "../../src/gates/checks/name-reports.ts";
import { plainText } from "../../src/stdx/plain-text.ts";
import { runProcess, type ProcessResult } from "../../src/adapters/process/run-process.ts";
import type { TestNames, TestOutcome } from "../../src/core/gates/test-names.ts";
import { withNames } from "../../src/parse/tests/test-names.ts";
import { readTestOutput } from "../../src/parse/tests/test-output.ts";

export type Outcomes = Readonly<Record<string, TestOutcome>>;

export interface RunnerCase {
  /** As people type it. */
  readonly command: string;
  readonly files: Readonly<Record<string, string>>;
  readonly expected: Outcomes;
  readonly exitCode: number;
  /** Who reports; where that is left out, the names are read from the output. */
  readonly runner?: string;
  /** A folder with the runner, put there as `node_modules`. */
  readonly modules?: string;
  /** Lines come in another order each time. */
  readonly isUnordered?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

const MINUTES = 60_000;

/** Runs the command bare and reporting: both must print and exit alike, and the report must name every test. */
export function expectNames(given: RunnerCase): Promise<void> {
  return inProject(given, async (folder) => {
    const bare = await run(folder, given, usualEnvironment(given));
    const { ended, names } = await runReporting(folder, given);
    expect.soft(names.tests.length === 0 ? ended.output : "", "what was printed").toBe("");
    expect(outcomesOf(names)).toEqual(given.expected);
    expect(names.level).toBe("all");
    if (given.runner !== undefined) expect(names.runners).toEqual([given.runner]);
    expect([ended.exitCode, bare.exitCode]).toEqual([given.exitCode, given.exitCode]);
    for (const stream of ["stdout", "stderr"] as const)
      expect(comparable(ended[stream], given), stream).toEqual(comparable(bare[stream], given));
  });
}

/** Runs the command bare and reporting: both must print and exit alike, whatever is reported. */
export function expectSameRun(given: RunnerCase): Promise<void> {
  return inProject(given, async (folder) => {
    const bare = await run(folder, given, usualEnvironment(given));
    const { ended } = await runReporting(folder, given);
    expect([ended.exitCode, bare.exitCode]).toEqual([given.exitCode, given.exitCode]);
    expect(comparable(ended.stdout, given)).toEqual(comparable(bare.stdout, given));
  });
}

/** What the bare command prints. */
export const printedBy = (given: RunnerCase): Promise<string> =>
  inProject(given, async (folder) => (await run(folder, given, usualEnvironment(given))).output);

/** For each line of a file, the tests that ran it: `failed/passed`; nothing of lines that hold no code. */
export const countedLines = (given: Omit<RunnerCase, "expected" | "exitCode">, file: string): Promise<string[]> =>
  inProject(given, async (folder) => {
    const lines = given.files[file]!.split("\n").map((_, at) => at + 1);
    const reporting = await openNameReports(usualEnvironment(given), folder, new Map([[file, lines]]));
    const { output } = await run(folder, given, reporting.env);
    const { coverage } = await reporting.read();
    expect.soft(coverage.length === 0 ? output : "", "what was printed").toBe("");
    return coverage.map(({ line, failed, passed }) => `${line} ${failed}/${passed}`);
  });

async function inProject<T>(
  given: Pick<RunnerCase, "files" | "modules">,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "remand-runner-"));
  try {
    for (const [path, text] of Object.entries(given.files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    if (given.modules !== undefined) symlinkSync(given.modules, join(folder, "node_modules"));
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function usualEnvironment(given: Pick<RunnerCase, "env">): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { ...checkEnvironment({ PATH, HOME }), ...given.env };
}

async function runReporting(folder: string, given: RunnerCase): Promise<{ ended: ProcessResult; names: TestNames }> {
  const reporting = await openNameReports(usualEnvironment(given), folder);
  const ended = await run(folder, given, reporting.env);
  const { reports, folders } = await reporting.read();
  const { names } = withNames(readTestOutput(ended.output, folder), reports, { check: "tests", folders });
  return { ended, names };
}

const run = (
  folder: string,
  { command }: Pick<RunnerCase, "command">,
  env: Record<string, string>,
): Promise<ProcessResult> => runProcess({ command, cwd: folder, env, timeoutMs: 5 * MINUTES, sandbox: null }, {});

const outcomesOf = ({ tests }: TestNames): Outcomes =>
  Object.fromEntries(tests.map(({ identity, outcome }) => [identity, outcome]));

/** Without times, process ids and addresses, which differ between any two runs. */
function comparable(text: string, { isUnordered = false }: RunnerCase): string[] {
  const lines = plainText(text)
    .replaceAll(/\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds?)\b(?:, estimated \d+ s)?|\(cached\)/g, "<time>")
    .replaceAll(/duration_ms:? [\d.]+/g, "<time>")
    .replaceAll(/\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)?|\d{4}-\d\d-\d\dT\S+/g, "<time>")
    .replaceAll(/0x[0-9a-f]+|thread '([^']+)' \(\d+\)/g, "$1")
    .replaceAll(/ *<time>|\s+Compiling .*/g, "")
    .split("\n")
    .filter((line) => !/npm warn|Finished `test` profile|Total time|^\s+Time\b|Duration/.test(line));
  return isUnordered ? lines.filter((line) => line !== "").sort() : lines;
}
