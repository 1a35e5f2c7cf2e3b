import type { TestCounts } from "../../core/gates/gate.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { createGoUnwrapper, readGo } from "./test-output-go.ts";
import { readGradle, readMaven } from "./test-output-java.ts";
import { readAva, readJest, readMocha, readVitest } from "./test-output-javascript.ts";
import { readAssertion, readAutomake, readCargo, readCargoJson, readCtest } from "./test-output-native.ts";
import {
  type OutputFailure,
  type PassedTest,
  type RanFile,
  type RecognizedOutput,
  cappedDetail,
  shortMessage,
  readUncaughtError,
} from "./test-output-parts.ts";
import { readPytest, readUnittest } from "./test-output-python.ts";
import { createOutputSieve } from "./test-output-filter.ts";
import { readNodeSpec, readTap, readTape } from "./test-output-tap.ts";

/** What the output of a check says about tests and other failures. */
export interface TestOutput {
  /** The test runners that wrote the output; empty if none was recognized. */
  readonly runners: readonly string[];
  /** The sum over all runners; `null` if they do not report it. */
  readonly counts: TestCounts | null;
  /** Whether a test ran; `null`: no runner was recognized, so it is unknown. */
  readonly ranTests: boolean | null;
  readonly failures: readonly OutputFailure[];
  /** The number of failures that are not listed. */
  readonly more: number;
  /** Test files or packages that did not load, so the results of their tests are unknown. */
  readonly notLoaded?: readonly string[];
  /** Tests that are named as passed. Many runners name only failed tests. */
  readonly passed?: readonly PassedTest[];
  readonly skipped?: readonly PassedTest[];
  /** The test files, or packages, that are named as having run. */
  readonly files?: readonly RanFile[];
}

/** Reads an output of any length while it is printed, and keeps only the important lines. */
export interface OutputReader {
  /** Adds one line, without its line end. */
  push(line: string): void;
  end(): TestOutput;
}

const RECOGNISERS: readonly ((lines: readonly string[], folder: string) => RecognizedOutput | null)[] = [
  readVitest,
  readJest,
  readMocha,
  readAva,
  readTape,
  readTap,
  readNodeSpec,
  readPytest,
  readUnittest,
  readGo,
  readCargo,
  readCargoJson,
  readMaven,
  readGradle,
  readCtest,
  readAutomake,
];

const MOST_FAILURES = 200;

/**
 * Reads a check's output. `folder` is where the check runs: paths below it become relative. Errors of compilers and
 * linters are read only if no test failed, because a failing test may print anything.
 */
export function createOutputReader(folder: string): OutputReader {
  const sieve = createOutputSieve();
  const go = createGoUnwrapper((line) => sieve.push(line));
  return {
    push(line) {
      const plain = plainText(line);
      // A line that overwrote itself is split into the lines that it showed one after the other.
      if (plain.includes("\n")) for (const each of plain.split("\n")) go.push(each);
      else go.push(plain);
    },
    end() {
      go.end();
      const { lines, isCut } = sieve.kept();
      return outputOf(lines, isCut, folder);
    },
  };
}

/** Reads a text that is complete already. */
export function readTestOutput(text: string, folder: string): TestOutput {
  const reader = createOutputReader(folder);
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf("\n", from);
    const to = end === -1 ? text.length : end;
    reader.push(text.slice(from, text[to - 1] === "\r" && to > from ? to - 1 : to));
    from = to + 1;
  }
  return reader.end();
}

function outputOf(lines: readonly string[], isCut: boolean, folder: string): TestOutput {
  const recognised = RECOGNISERS.flatMap((recognise) => recognise(lines, folder) ?? []).map((each) =>
    isCut && each.isCountedByLine === true ? { ...each, counts: null } : each,
  );
  const ofTests = recognised.flatMap((each) => each.failures);
  const named = ofTests.length > 0 ? ofTests : readLocations(lines);
  const uncaught = named.length > 0 ? null : readUncaughtError(lines);
  const all = distinct((uncaught === null ? named : [uncaught]).map((failure) => within(failure, folder)));
  return {
    runners: recognised.map((each) => each.runner),
    counts: total(recognised),
    ranTests: recognised.length === 0 ? null : recognised.some((each) => each.ranTests),
    failures: all.slice(0, MOST_FAILURES),
    more: Math.max(0, all.length - MOST_FAILURES),
    notLoaded: [...new Set(recognised.flatMap((each) => each.notLoaded ?? []))].map((path) => below(path, folder)),
    passed: recognised.flatMap((each) => each.passed ?? []),
    skipped: recognised.flatMap((each) => each.skipped ?? []),
    files: recognised
      .flatMap((each) => each.files ?? [])
      .map(({ file, outcome }) => ({ file: below(file, folder), outcome })),
  };
}

/** The sum is unknown if one runner does not report a count. */
function total(recognised: readonly RecognizedOutput[]): TestCounts | null {
  const counts = recognised.flatMap((each) => each.counts ?? []);
  return counts.length < recognised.length ? null : sumOfCounts(counts);
}

export function sumOfCounts(counts: readonly TestCounts[]): TestCounts | null {
  if (counts.length === 0) return null;
  const sum = (part: keyof TestCounts): number => counts.reduce((all, each) => all + each[part], 0);
  return { total: sum("total"), passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}

/** Removes duplicates: runners list a failure where it happens and again at the end. */
function distinct(failures: readonly OutputFailure[]): OutputFailure[] {
  const seen = new Map<string, OutputFailure>();
  for (const failure of failures) {
    const key = [
      failure.test ?? "",
      failure.file ?? "",
      failure.test === null ? `${failure.line}:${failure.message}` : "",
    ].join("\n");
    if (!seen.has(key)) seen.set(key, failure);
  }
  return [...seen.values()];
}

/** Makes the paths of a failure relative to the folder. */
export function within(failure: OutputFailure, folder: string): OutputFailure {
  const root = `${folder.replaceAll("\\", "/").replace(/\/$/, "")}/`;
  const short = (text: string): string => text.replaceAll(`file://${root}`, "").replaceAll(root, "");
  const [message, detail] = [short(failure.message), short(failure.detail)];
  // A file that does not load is named by its full path.
  const test = failure.test === null ? null : short(failure.test);
  const file = failure.file === null ? null : below(failure.file, folder);
  return { ...failure, test, message, detail, file };
}

/** Makes a path relative to the folder. */
export function below(file: string, folder: string): string {
  const root = `${folder.replaceAll("\\", "/").replace(/\/$/, "")}/`;
  const path = file.replace(/^file:\/\//, "").replaceAll("\\", "/");
  return (path.startsWith(root) ? path.slice(root.length) : path).replace(/^(?:\.\/)+/, "");
}

/** Reads errors of compilers and linters: a file, a line and a message in one of the usual forms. */
function readLocations(lines: readonly string[]): OutputFailure[] {
  const found: OutputFailure[] = [];
  let header: string | null = null;
  const isPrettier = lines.some((line) => line.startsWith("[warn] Code style issues "));
  for (const [at, line] of lines.entries()) {
    const failure =
      oneLine(line) ??
      rustError(lines, at) ??
      readBoxedFailure(lines, at) ??
      (isPrettier ? readUnformatted(line) : null) ??
      (header === null ? null : belowHeader(header, line));
    if (failure !== null) found.push(failure);
    // ESLint prints the file once, alone on its line, and its errors below it.
    if (/^(?:\/|[A-Za-z]:\\|\.{0,2}[\w@-])[^:*?"<>|]*\.\w{1,5}$/.test(line)) header = line;
    else if (line.trim() === "") header = null;
    else header = /^ {2}(\S+\.\w{1,5}):\d{1,7}:\d{1,7}$/.exec(line)?.[1] ?? header;
  }
  return found;
}

function oneLine(line: string): OutputFailure | null {
  const tsc =
    /^(\S[^():]*)\((\d{1,7}),\d{1,7}\): error (TS\d+: .*)$/.exec(line) ??
    /^(\S[^():]*):(\d{1,7}):\d{1,7} - error (TS\d+: .*)$/.exec(line);
  if (tsc !== null) return failure("type", tsc[1]!, tsc[2]!, tsc[3]!);
  const assertion = readAssertion(line);
  if (assertion !== null) return failure("test", assertion.place.file, String(assertion.place.line), assertion.message);
  const maven = /^\[ERROR\] (?:file:\/\/)?(\S.*?\.\w{1,6}):\[(\d{1,7}),\d{1,7}\] (?:error: )?(.+)$/.exec(line);
  if (maven !== null) return failure("build", maven[1]!, maven[2]!, maven[3]!);
  const named = /^([^\s:][^:]*):(\d{1,7})(?::\d{1,7})?: (?:fatal )?error(?:\[[^\]]*\])?:? (.+)$/.exec(line);
  if (named !== null) return failure("build", named[1]!, named[2]!, named[3]!);
  const bare = /^((?:\.{1,2}\/|[\w@-])[^\s:]*\.\w{1,5}):(\d{1,7}):\d{1,7}: (?!note|warning|info)(.+)$/i.exec(line);
  return bare === null ? null : failure("build", bare[1]!, bare[2]!, bare[3]!);
}

/** Reads `error[E0308]: mismatched types`, or Ruff's `F401 unused import`, with the location on the next line. */
function rustError(lines: readonly string[], at: number): OutputFailure | null {
  const error = /^(?:error(?:\[E\d+\])?: |(?=[A-Z]{1,4}\d{3,4} ))(.+)$/.exec(lines[at]!);
  const place = error === null ? null : /^\s+--> (\S+?):(\d{1,7}):\d{1,7}$/.exec(lines[at + 1] ?? "");
  if (error === null || place === null) return null;
  // The box below has the code, with the expected and the actual type.
  let to = at + 2;
  while (to < lines.length && to < at + MOST_BOX && /^\s*(?:\d+ )?(?:[|=]|\.{3})/.test(lines[to]!)) to++;
  const box = lines.slice(at + 2, to).filter((line) => line.trim() !== "|");
  return { ...failure("build", place[1]!, place[2]!, error[1]!), detail: cappedDetail(box) };
}

const MOST_BOX = 20;

/** Reads ` x rule: sentence`, with the location in the corner of a box on the next line. */
function readBoxedFailure(lines: readonly string[], at: number): OutputFailure | null {
  const error = /^\s+[x×] (.+)$/.exec(lines[at]!);
  const place = error === null ? null : /^\s*[,╭][-─]\[(.+?):(\d{1,7}):\d{1,7}\]$/.exec(lines[at + 1] ?? "");
  return error === null || place === null ? null : failure("lint", place[1]!, place[2]!, error[1]!);
}

/** Reads Prettier's `[warn] src/a.ts`, which it explains at its end. */
function readUnformatted(line: string): OutputFailure | null {
  const file = /^\[warn\] (\S.*\.\w{1,6})$/.exec(line)?.[1];
  if (file === undefined) return null;
  const message = `not formatted; \`npx prettier --write ${file}\` fixes it`;
  return { test: null, category: "lint", message, detail: "", file, line: null };
}

function belowHeader(header: string, line: string): OutputFailure | null {
  const found = /^\s+(?:(\d{1,7}):\d{1,7}\s+error|✖\s+(\d{1,7}):\d{1,7})\s+(\S.*)$/.exec(line);
  if (found === null) return null;
  // The rule is in the last column.
  const message = found[3]!.replace(/\s{2,}(\S+)$/, " ($1)").replace(/\s{2,}/g, " ");
  return failure("lint", header, found[1] ?? found[2]!, message);
}

function failure(category: OutputFailure["category"], file: string, line: string, message: string): OutputFailure {
  return { test: null, category, message: shortMessage(message), detail: "", file, line: Number(line) };
}
