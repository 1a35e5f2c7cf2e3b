import type { Failure } from "../../core/blame/failure.ts";
import { isRecord } from "../../stdx/assert.ts";

export interface Narrowing {
  readonly failures: readonly Pick<Failure, "file" | "test">[];
  /** The text of the project's package.json; `null` where it has none. */
  readonly packageFile: string | null;
}

/**
 * The command that runs only the tests that failed, where the runner is known and takes their files or names. Any
 * other command runs unchanged: a proof that ran too few tests proves nothing.
 */
export function narrowedCommand(command: string, { failures, packageFile }: Narrowing): string {
  const files = [...new Set(failures.flatMap(({ test, file }) => (test === null || file === null ? [] : [file])))];
  const plain = behindScript(command.trim(), packageFile);
  const isAllKnown = files.length > 0 && failures.every(({ test, file }) => test !== null && file !== null);
  if (!isAllKnown || !PLAIN.test(plain) || files.some((file) => !SAFE_PATH.test(file))) return command;
  const words = plain.split(/\s+/);
  for (const { runs, narrow } of RUNNERS) {
    const [, end] = spanOf(words, runs) ?? [];
    if (end !== undefined) return [...words.slice(0, end), ...narrow(words.slice(end), files)].join(" ");
  }
  return command;
}

/** No quotes, no pipes, no second command: every word is literal. */
const PLAIN = /^[\w@%+=:,./ *-]+$/;
const SAFE_PATH = /^[\w@%+=:,./-]+$/;

interface RunnerRule {
  /** The words that begin it. */
  readonly runs: readonly RegExp[];
  readonly narrow: (rest: readonly string[], files: readonly string[]) => readonly string[];
}

const isFlag = (word: string): boolean => word.startsWith("-");
/** Flags without a separate value: the value of any other flag would look like a path. */
const flagsOf = (rest: readonly string[]): readonly string[] => rest.filter((word) => isFlag(word));
const hasLooseValues = (rest: readonly string[]): boolean =>
  rest.some((word, at) => !isFlag(word) && at > 0 && mayTakeNext(rest[at - 1]!));
const mayTakeNext = (word: string): boolean => isFlag(word) && !word.includes("=") && !ALONE.test(word);
const ALONE = /^(?:--(?:run|ci|verbose|silent|coverage|no-coverage|bail|runInBand|quiet|passWithNoTests)|-[qvxsi]+)$/;
const replacingPaths =
  (before: readonly string[] = []) =>
  (rest: readonly string[], files: readonly string[]): readonly string[] =>
    hasLooseValues(rest) ? [...rest, ...before, ...files] : [...flagsOf(rest), ...before, ...files];

const RUNNERS: readonly RunnerRule[] = [
  { runs: [/(?:^|\/)vitest$/, /^run$/], narrow: replacingPaths() },
  {
    runs: [/(?:^|\/)vitest$/],
    narrow: (rest, files) => (rest.includes("--run") ? replacingPaths()(rest, files) : rest),
  },
  { runs: [/(?:^|\/)jest$/], narrow: replacingPaths(["--runTestsByPath"]) },
  { runs: [/(?:^|\/)ava$/], narrow: replacingPaths() },
  { runs: [/(?:^|\/)node$/, /^--test$/], narrow: replacingPaths() },
  { runs: [/(?:^|\/)python3?$/, /^-m$/, /^pytest$/], narrow: replacingPaths() },
  { runs: [/(?:^|\/)pytest$/], narrow: replacingPaths() },
];

/** The start and end of the words in the command; only variables and `npx` may come before them. */
function spanOf(words: readonly string[], runs: readonly RegExp[]): readonly [number, number] | null {
  let start = 0;
  while (start < words.length && (/^\w+=\S*$/.test(words[start]!) || BEFORE.has(words[start]!))) start++;
  const fits = runs.every((pattern, at) => pattern.test(words[start + at] ?? ""));
  return fits ? [start, start + runs.length] : null;
}

const BEFORE: ReadonlySet<string> = new Set([
  "npx",
  "bunx",
  "--yes",
  "-y",
  "--no-install",
  "exec",
  "pnpm",
  "yarn",
  "--",
]);

/** The script behind `npm test`, with the folder of installed programs on the PATH. */
function behindScript(command: string, packageFile: string | null): string {
  const [, name] =
    /^(?:npm|pnpm|yarn) (?:run |-s |--silent |run -s |run --silent )?([\w:.-]+)(?: -s| --silent)?$/.exec(command) ?? [];
  if (name === undefined || packageFile === null) return command;
  const script = scriptIn(packageFile, name === "t" ? "test" : name);
  // What runs before or after a script belongs to it.
  if (script === null || scriptIn(packageFile, `pre${name}`) !== null || scriptIn(packageFile, `post${name}`) !== null)
    return command;
  const [program = ""] = script.split(/\s+/);
  return /^(?:node|npx|python3?|pytest|pnpm|yarn)$/.test(program) || program.includes("/") || program.includes("=")
    ? script
    : `npx --no-install ${script}`;
}

function scriptIn(packageFile: string, name: string): string | null {
  try {
    const value: unknown = JSON.parse(packageFile);
    const scripts = isRecord(value) ? value["scripts"] : null;
    const script = isRecord(scripts) ? scripts[name] : null;
    return typeof script === "string" ? script.trim() : null;
  } catch {
    // A broken package.json names no script; the command runs unchanged.
    return null;
  }
}
