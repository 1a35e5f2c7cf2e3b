import type { TestCounts } from "../../core/gates/gate.ts";
import {
  type CodeLocation,
  type OutputFailure,
  type PassedTest,
  type RecognizedOutput,
  detailIn,
  firstFrame,
  firstWords,
  framePlace,
  stretches,
  testCounts,
  testFailure,
  readUncaughtError,
} from "./test-output-parts.ts";

/** Reads the Test Anything Protocol, with the subtests and the YAML blocks that Node's runner adds. */
export function readTap(lines: readonly string[]): RecognizedOutput | null {
  const isTap =
    lines.some((line) => /^TAP version \d+$/.test(line)) || lines.some((line) => /^1\.\.\d+(?:\s|$)/.test(line));
  const results = lines.some((line) => /^\s*(?:not )?ok \d+\b/.test(line));
  if (isTape(lines) || !isTap || (!results && !lines.some((line) => /^(?:# tests 0|1\.\.0)\b/.test(line)))) return null;
  const suites: string[] = [];
  const failures: OutputFailure[] = [];
  const notLoaded: string[] = [];
  const passed: PassedTest[] = [];
  const skipped: PassedTest[] = [];
  const seen = { passed: 0, failed: 0, skipped: 0 };
  for (const [at, line] of lines.entries()) {
    const subtest = /^(\s*)# Subtest: (.*)$/.exec(line);
    if (subtest !== null) suites.splice(depthOf(subtest[1]!), Infinity, subtest[2]!);
    const result = /^(\s*)(not )?ok \d+(?: (?:- )?(.*))?$/.exec(line);
    if (result === null) continue;
    const [, indent, not, said = ""] = result;
    const rest = said.replace(TAP_TIME, "");
    const directive = /^(.*?)\s*# (SKIP|TODO)\b/i.exec(rest);
    const block = yamlBlock(lines, at + 1);
    if (block.isSuite) continue;
    const name = [...suites.slice(0, depthOf(indent!)), rest.trim()].filter((part) => part !== "").join(" > ");
    if (directive !== null) {
      seen.skipped++;
      skipped.push({ test: [...suites.slice(0, depthOf(indent!)), directive[1]!.trim()].join(" > "), file: null });
    } else if (not === undefined) {
      seen.passed++;
      passed.push({ test: name, file: block.place?.file ?? null });
    } else {
      seen.failed++;
      if (block.isFile) notLoaded.push(name);
      const { message, detail } = (block.isFile ? endOfFile(commentsAbove(lines, at)) : null) ?? block;
      failures.push(
        testFailure(
          name === "" ? `test at line ${at + 1}` : name,
          message === "" ? "failed" : message,
          block.place,
          detail,
        ),
      );
    }
  }
  const summary = summaryCounts(lines, "# ");
  const counts = summary ?? testCounts(seen.passed, seen.failed, seen.skipped);
  return {
    runner: "tap",
    counts,
    isCountedByLine: summary === null,
    ranTests: counts.passed + counts.failed > 0,
    failures,
    notLoaded,
    passed,
    skipped,
  };
}

/**
 * node-tap adds the duration after each name, and opens the block of a test with parts: neither is part of the name.
 */
const TAP_TIME = /\s+# time=[\d.]+m?s(?: \{)?\s*$|\s+\{\s*$/;

/** Returns what a file printed before it ended: Node prints that as comments directly above the file's name. */
function commentsAbove(lines: readonly string[], result: number): string[] {
  let to = result;
  while (to > 0 && /^\s*# Subtest: /.test(lines[to - 1]!)) to--;
  let from = to;
  while (from > Math.max(0, to - LONGEST_BLOCK) && /^# (?!Subtest: )/.test(lines[from - 1]!)) from--;
  return lines.slice(from, to).map((line) => line.slice(2));
}

/**
 * Returns the error that ended a file before its tests could run, with its location. The failure itself belongs to the
 * test file.
 */
function endOfFile(printed: readonly string[]): { readonly message: string; readonly detail: string } | null {
  const error = readUncaughtError(printed);
  return error === null ? null : { message: `${error.message} (${error.file}:${error.line})`, detail: error.detail };
}

/** Reads Node's format for people: `✖ name`, and at the end each failure again below `test at <place>`. */
export function readNodeSpec(lines: readonly string[]): RecognizedOutput | null {
  const counts = summaryCounts(lines, "ℹ ");
  if (counts === null) return null;
  const notLoaded: string[] = [];
  const failures = stretches(lines, /^test at (.+):(\d{1,7}):\d{1,7}$/, /^(?!)/).flatMap(({ head, from, to }) => {
    const name = /^✖ (.*?)(?: \([\d.]+ms\))?$/.exec(lines[from] ?? "")?.[1];
    if (name === undefined) return [];
    // A file that failed outside its tests is named by its path, at its first line.
    if (name === head[1] || name.endsWith(`/${head[1]}`)) notLoaded.push(head[1]!);
    const place = firstFrame(lines, from + 1, to) ?? { file: head[1]!, line: Number(head[2]) };
    const ended = notLoaded.at(-1) === head[1] ? endOfFile(printedBefore(lines, name)) : null;
    const said = ended ?? { message: firstWords(lines, from + 1, to), detail: detailIn(lines, from + 1, to) };
    return [testFailure(name, said.message, place, said.detail)];
  });
  return { runner: "node:test", counts, ranTests: counts.passed + counts.failed > 0, failures, notLoaded };
}

/** Returns the lines between the previous result and the first line that names this file. */
function printedBefore(lines: readonly string[], name: string): readonly string[] {
  const to = lines.findIndex((line) => line.startsWith(`✖ ${name} (`));
  let from = Math.max(0, to);
  while (from > Math.max(0, to - LONGEST_BLOCK) && !/^[✖✔▶ℹ] /.test(lines[from - 1]!)) from--;
  return lines.slice(from, Math.max(0, to));
}

/**
 * Reads tape's output: a line for each assertion, after a comment with the name of the test:
 * ```
 * # removes an item
 * ok 1 should be strictly equal
 * not ok 2 should be empty
 * # tests 2
 * # pass  1
 * ```
 */
export function readTape(lines: readonly string[]): RecognizedOutput | null {
  if (!isTape(lines)) return null;
  const tests = new Map<string, { file: string | null; failure: OutputFailure | null }>();
  let name = "";
  for (const [at, line] of lines.entries()) {
    const comment = /^# (?!(?:tests|pass|fail|skip|todo)\s+\d+\s*$|ok\s*$)(.+)$/.exec(line);
    if (comment !== null) name = comment[1]!.trim();
    const assertion = /^(not )?ok \d+(?: (?:- )?(.*))?$/.exec(line);
    if (assertion === null || /# (?:SKIP|TODO)\b/i.test(line)) continue;
    const said = assertion[2]?.trim() ?? "";
    const test = name === "" ? said : name;
    const known = tests.get(test) ?? { file: null, failure: null };
    tests.set(test, known);
    if (assertion[1] === undefined || known.failure !== null) continue;
    const { message, place, detail } = yamlBlock(lines, at + 1);
    known.failure = testFailure(
      test,
      [said, message].filter((part) => part !== "").join(": ") || "failed",
      place,
      detail,
    );
  }
  const failures = [...tests.values()].flatMap(({ failure }) => failure ?? []);
  const passed = [...tests].flatMap(([test, { failure }]): PassedTest[] =>
    failure === null ? [{ test, file: null }] : [],
  );
  return {
    runner: "tape",
    counts: testCounts(passed.length, failures.length, 0),
    isCountedByLine: true,
    ranTests: tests.size > 0,
    failures,
    passed,
  };
}

/**
 * Whether the output is tape's, whose summary is aligned in columns, unlike any other runner's. A run that was cut
 * short only has its stacks.
 */
function isTape(lines: readonly string[]): boolean {
  if (!lines.some((line) => /^TAP version \d+/.test(line))) return false;
  if (lines.some((line) => /^# (?:pass|fail) {2}\d+\s*$/.test(line))) return true;
  const hasEnded = lines.some((line) => /^# (?:tests|pass|fail)\s+\d+\s*$/.test(line));
  return !hasEnded && lines.some((line) => /^\s+at .*[\\/]tape[\\/]lib[\\/]/.test(line));
}

const depthOf = (indent: string): number => Math.floor(indent.length / 4);

/** Reads the numbers at the end of a Node run; several runs in one output are added up. */
function summaryCounts(lines: readonly string[], mark: string): TestCounts | null {
  const sums: Record<string, number> = {};
  for (const line of lines) {
    if (!line.startsWith(mark)) continue;
    const number = /^(tests|pass|fail|cancelled|skipped|todo)\s+(\d{1,9})\s*$/.exec(line.slice(mark.length));
    if (number !== null) sums[number[1]!] = (sums[number[1]!] ?? 0) + Number(number[2]);
  }
  const { tests, pass = 0, fail = 0, cancelled = 0, skipped = 0, todo = 0 } = sums;
  return tests === undefined ? null : testCounts(pass, fail + cancelled, skipped + todo);
}

/** The most lines of a block that are read: an unclosed block must not be read again for every test. */
const LONGEST_BLOCK = 200;

interface TapBlock {
  readonly isSuite: boolean;
  /** Whether a whole file failed by itself, outside its tests: Node then prints its exit code. */
  readonly isFile: boolean;
  readonly message: string;
  readonly place: CodeLocation | null;
  readonly detail: string;
}

/** Reads the lines between `---` and `...` with details of a result. */
function yamlBlock(lines: readonly string[], from: number): TapBlock {
  if (lines[from]?.trim() !== "---") return { isSuite: false, isFile: false, message: "", place: null, detail: "" };
  let to = from + 1;
  while (to < Math.min(lines.length, from + LONGEST_BLOCK) && lines[to]!.trim() !== "...") to++;
  let message = "";
  let location: CodeLocation | null = null;
  let frame: CodeLocation | null = null;
  let isSuite = false;
  let isFile = false;
  let said = to;
  for (let at = from + 1; at < to; at++) {
    const field = /^\s*(error|message|location|at|failureType|stack|type|exitCode): ?(.*)$/.exec(lines[at]!);
    if (field === null) continue;
    const value = unquote(field[2]!);
    if ((field[1] === "error" || field[1] === "message") && message === "") {
      message = /^[|>]/.test(value) ? firstWords(lines, at + 1, to) : value;
      said = /^[|>]/.test(value) ? at + 1 : at;
    }
    if (field[1] === "location" || field[1] === "at") location ??= framePlace(value);
    else if (field[1] === "stack") frame ??= firstPlace(lines, at + 1, to);
    else if (field[1] === "type") isSuite ||= value === "suite";
    else if (field[1] === "exitCode") isFile = true;
    else if (field[1] === "failureType") isSuite ||= value === "subtestsFailed";
  }
  return { isSuite, isFile, message, place: frame ?? location, detail: detailIn(lines, said, to) };
}

function firstPlace(lines: readonly string[], from: number, to: number): CodeLocation | null {
  for (let at = from; at < to; at++) {
    const place = framePlace(lines[at]!);
    if (place !== null && !/^(?:[\s(]|async )*node:/.test(lines[at]!)) return place;
  }
  return null;
}

function unquote(value: string): string {
  const text = value.trim();
  if (text.startsWith("'") && text.endsWith("'") && text.length > 1) return text.slice(1, -1).replaceAll("''", "'");
  if (text.startsWith('"') && text.endsWith('"') && text.length > 1) return text.slice(1, -1).replaceAll('\\"', '"');
  return text;
}
