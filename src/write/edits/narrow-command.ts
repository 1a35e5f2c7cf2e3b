import type { Failure } from "../../core/blame/failure.ts";
import { isRecord } from "../../stdx/assert.ts";

export interface Narrowing {
  readonly failures: readonly Pick<Failure, "file" | "test">[];
  /** The text of the project's package.json; `null` where it has none. */
  readonly packageFile: string | null;
  /** The text of a test file, for runners that select tests by name and not by file. */
  textOf?(file: string): string | null;
}

/**
 * Narrows a command to the tests that failed, if the runner is known and can select by file or name. Any other command
 * runs unchanged: a proof that ran too few tests proves nothing.
 */
export function narrowedCommand(command: string, { failures, packageFile, textOf }: Narrowing): string {
  const files = [...new Set(failures.flatMap(({ test, file }) => (test === null || file === null ? [] : [file])))];
  const plain = behindScript(command.trim(), packageFile);
  const isAllKnown = files.length > 0 && failures.every(({ test, file }) => test !== null && file !== null);
  if (!isAllKnown || !PLAIN.test(plain) || files.some((file) => !SAFE_PATH.test(file))) return command;
  const words = plain.split(/\s+/);
  for (const { runs, narrow } of RUNNERS) {
    const [, end] = spanOf(words, runs) ?? [];
    const tests = failures.flatMap(({ test }) => test ?? []);
    const narrowed = end === undefined ? null : narrow(words.slice(end), files, (file) => textOf?.(file) ?? "", tests);
    if (narrowed !== null) return [...words.slice(0, end), ...narrowed].join(" ");
  }
  return command;
}

/** No quotes, pipes or second command: every word is literal. */
const PLAIN = /^[\w@%+=:,./ *-]+$/;
const SAFE_PATH = /^[\w@%+=:,./-]+$/;

interface RunnerRule {
  /** The words with which the command starts. */
  readonly runs: readonly RegExp[];
  /** `null`: this command cannot be narrowed. */
  readonly narrow: (
    rest: readonly string[],
    files: readonly string[],
    textOf: (file: string) => string,
    tests: readonly string[],
  ) => readonly string[] | null;
}

const isFlag = (word: string): boolean => word.startsWith("-");
/** Flags without a separate value: such a value would look like a path. */
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
  { runs: [/(?:^|\/)_?mocha$/], narrow: narrowMocha },
  { runs: [/(?:^|\/)python3?$/, /^-m$/, /^unittest$/], narrow: narrowUnittest },
  { runs: [/(?:^|\/)go$/, /^test$/], narrow: narrowGo },
  { runs: [/(?:^|\/)cargo$/, /^test$/], narrow: narrowCargo },
];

/**
 * The options of a command without its other words. `withValue`: options whose value is the next word; `alone`: options
 * without a value. `null` if another option comes before a word that may be its value.
 */
function optionsIn(rest: readonly string[], withValue: RegExp, alone: RegExp): readonly string[] | null {
  const options: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at]!;
    if (!isFlag(word)) continue;
    options.push(word);
    const next = rest[at + 1];
    if (next === undefined || isFlag(next) || word.includes("=") || alone.test(word)) continue;
    if (!withValue.test(word)) return null;
    options.push(next);
    at++;
  }
  return options;
}

const MOCHA_VALUES =
  /^(?:--(?:require|reporter|reporter-option|ui|timeout|slow|retries|jobs|import|loader|extension|config|file)|-[rRutsjO])$/;
const MOCHA_ALONE =
  /^(?:--(?:bail|check-leaks|exit|recursive|parallel|full-trace|forbid-only|forbid-pending|no-config|color|no-color|colors|async-only)|-[bc])$/;

function narrowMocha(rest: readonly string[], files: readonly string[]): readonly string[] | null {
  const options = rest.includes("--") ? null : optionsIn(rest, MOCHA_VALUES, MOCHA_ALONE);
  return options === null ? null : [...options, ...files];
}

const UNITTEST_ALONE = /^(?:--(?:verbose|quiet|failfast|catch|buffer|locals)|-[vqfcb]+)$/;

/** `discover` selects files by a pattern of names; without `discover`, files can be named. */
function narrowUnittest(rest: readonly string[], files: readonly string[]): readonly string[] | null {
  const isDiscovery = rest[0] === "discover";
  const options = optionsIn(isDiscovery ? rest.slice(1) : rest, /^-[st]$/, UNITTEST_ALONE);
  const others = (isDiscovery ? rest.slice(1) : rest).filter((word) => options?.includes(word) !== true);
  if (options === null || others.length > 0 || files.some((file) => !file.endsWith(".py"))) return null;
  if (!options.some((word) => /^-[st]$/.test(word))) return [...options, ...files];
  const [file, ...more] = files;
  return more.length > 0 ? null : ["discover", ...options, "-p", file!.slice(file!.lastIndexOf("/") + 1)];
}

const GO_VALUES = /^-(?:tags|count|timeout|parallel|p|cpu|mod|ldflags|gcflags|vet|shuffle)$/;
const GO_ALONE = /^-(?:v|race|short|cover|json|failfast|a|x|trimpath)$/;

/** The packages of the files and, within them, the tests by name. */
function narrowGo(
  rest: readonly string[],
  files: readonly string[],
  textOf: (file: string) => string,
): readonly string[] | null {
  const options = optionsIn(rest, GO_VALUES, GO_ALONE);
  const names = files.map((file) => namesIn(textOf(file), /^func ((?:Test|Example|Fuzz)\w*)\(/gm));
  if (options === null || rest.some((word) => /^-(?:run|skip|args|bench|list)\b/.test(word))) return null;
  if (names.some((each) => each.length === 0)) return null;
  const folders = files.map((file) => (file.includes("/") ? `./${file.slice(0, file.lastIndexOf("/"))}` : "."));
  return [...options, "-run", `'^(${[...new Set(names.flat())].join("|")})$'`, ...new Set(folders)];
}

/** Files in `tests/` are separate programs; tests inside of sources, and doc tests, are selected by name. */
function narrowCargo(
  rest: readonly string[],
  files: readonly string[],
  textOf: (file: string) => string,
  tests: readonly string[],
): readonly string[] | null {
  if (rest.some((word) => !isFlag(word) || word === "--" || /^--(?:test|lib|bin|doc|example|bench)/.test(word)))
    return null;
  const programs = files.map((file) => {
    const [, name, part] = /^tests\/(\w[\w-]*)(\/.+)?\.rs$/.exec(file) ?? [];
    return part === undefined || textOf(`tests/${name}/main.rs`) !== "" ? name : undefined;
  });
  if (programs.every((name) => name !== undefined)) return [...rest, ...programs.flatMap((name) => ["--test", name])];
  const names = files.map((file) =>
    namesIn(textOf(file), /#\[(?:\w+::)*test\b[^\n]*\n(?:\s*#\[[^\n]*\n)*[^\n]*?\bfn (\w+)/g),
  );
  // A macro may define tests whose names do not occur in the file.
  const failed = tests.filter((test) => /^\w+(?:::\w+)*$/.test(test));
  if (failed.length < tests.length && names.some((each) => each.length === 0)) return null;
  return [...rest, "--", ...new Set([...names.flat(), ...failed]), ...files];
}

const namesIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name]) => name!);

/**
 * The start and end of the runner's words in the command; only variables and programs such as `npx` may come before
 * them.
 */
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

/** Replaces `npm test` with its script, with the folder of installed programs on the PATH. */
function behindScript(command: string, packageFile: string | null): string {
  const [, name] =
    /^(?:npm|pnpm|yarn) (?:run |-s |--silent |run -s |run --silent )?([\w:.-]+)(?: -s| --silent)?$/.exec(command) ?? [];
  if (name === undefined || packageFile === null) return command;
  const script = scriptIn(packageFile, name === "t" ? "test" : name);
  // Scripts that run before or after a script belong to it.
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
