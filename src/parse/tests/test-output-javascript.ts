import {
  type CodeLocation,
  type OutputFailure,
  type PassedTest,
  type RanFile,
  type RecognizedOutput,
  detailIn,
  firstFrame,
  firstWords,
  numberBefore,
  stretches,
  testCounts,
  testFailure,
} from "./test-output-parts.ts";

/**
 * ```
 *  FAIL  |project| test/a.test.ts > outer > name
 * AssertionError: expected …
 *  ❯ test/a.test.ts:2:36
 *       Tests  2 failed | 1 passed | 1 skipped (4)
 * ```
 */
export function readVitest(lines: readonly string[], folder: string): RecognizedOutput | null {
  const summaries = lines.flatMap((line) => /^\s{2,}Tests\s{2,}(.*)$/.exec(line)?.[1] ?? []);
  const isRun = lines.some((line) => /^\s*RUN\s+v\d+\.\d+/.test(line));
  if (!isRun && summaries.length === 0) return null;
  const counts = sumOf(summaries, "passed", "failed", ["skipped", "todo"]);
  const failures: OutputFailure[] = [];
  const notLoaded: string[] = [];
  const found = stretches(
    lines,
    /^\s*FAIL\s{2}(?:\s*\|[^|]+\|\s|\s+\S+\s{2})?\s*(\S.*)$/,
    /^(?:⎯{5,}|\s+(?:Test Files|Tests)\s{2})/,
  );
  for (const [at, { head }] of found.entries()) {
    // Several tests that failed by the same error are listed in a row, and the last one has the error.
    let last = at;
    while (found[last]!.from === found[last]!.to && found[last + 1]?.from === found[last]!.to + 1) last++;
    const { from, to } = found[last]!;
    const [file, ...names] = head[1]!.split(" > ");
    const isSuite = names.length === 0;
    const path = isSuite ? file!.replace(/ \[.*\]$/, "") : file!;
    const place = `${packageOf(lines, from, folder)}${path}`;
    if (isSuite) notLoaded.push(place);
    const message = firstWords(lines, from, to);
    failures.push(
      testFailure(
        isSuite ? path : names.join(" > "),
        message === "" ? "failed" : message,
        { file: place, line: lineIn(lines, from, to, path) ?? 1 },
        detailIn(lines, from, to),
      ),
    );
  }
  return {
    runner: "vitest",
    counts,
    ranTests: counts.passed + counts.failed > 0,
    failures,
    notLoaded,
    files: filesIn(lines, folder),
  };
}

/** Returns the test's own line in the stack of the failure: the code that it calls may have failed elsewhere. */
function lineIn(lines: readonly string[], from: number, to: number, path: string): number | null {
  for (let at = from; at < to; at++) {
    const place = firstFrame(lines, at, at + 1);
    if (place?.file === path) return place.line;
  }
  return null;
}

/** ` ✓ test/a.test.ts (3 tests) 5ms`; a file with failures begins with `❯`. */
function filesIn(lines: readonly string[], folder: string): RanFile[] {
  let inPackage = "";
  return lines.flatMap((line, at) => {
    if (RUN.test(line)) inPackage = packageOf(lines, at + 1, folder);
    const file = /^ (✓|❯) (?:\|[^|]+\| )?(\S+\.\w+) \(\d+ tests?\b/.exec(line);
    return file === null ? [] : [{ file: inPackage + file[2]!, outcome: outcomeOf(file[1] === "✓") }];
  });
}

const RUN = /^\s*RUN\s+v\d+\.\d+\S*\s+(\S.*)$/;

/**
 * Returns the path from the folder to where the run above this line was started, with a slash at its end; empty if it
 * is the same. In a workspace each package has its own run, and prints paths relative to itself.
 */
function packageOf(lines: readonly string[], from: number, folder: string): string {
  for (let at = from - 1; at >= 0; at--) {
    const run = RUN.exec(lines[at]!);
    if (run === null) continue;
    // A folder may be reached by a link, and is then printed with its real path: `/private/tmp` for `/tmp`.
    const [, below] = `${run[1]!.trim().replaceAll("\\", "/")}/`.split(
      `${folder.replaceAll("\\", "/").replace(/\/$/, "")}/`,
    );
    return below ?? "";
  }
  return "";
}

/**
 * ```
 * FAIL ./a.test.js
 *   ● outer › name
 *     expect(received)…
 *       at Object.toBe (a.test.js:1:36)
 * Tests:       2 failed, 1 skipped, 1 passed, 4 total
 * ```
 */
export function readJest(lines: readonly string[]): RecognizedOutput | null {
  const summaries = lines.flatMap((line) => /^Tests:\s+(.* total)$/.exec(line)?.[1] ?? []);
  const isEmpty = lines.some((line) => /^No tests found, exiting with code \d/.test(line));
  if (summaries.length === 0 && !isEmpty) return null;
  const counts = sumOf(summaries, "passed", "failed", ["skipped", "todo"]);
  const failures: OutputFailure[] = [];
  const notLoaded: string[] = [];
  let file: string | null = null;
  let next = 0;
  const files = lines.flatMap((line, at) => {
    const head = /^(FAIL|PASS)\s+(?:\S+\s+)??(\S+\.\w+)(?: \([\d.]+ m?s\))?$/.exec(line);
    return head === null ? [] : [{ at, file: head[2]!, outcome: outcomeOf(head[1] === "PASS") }];
  });
  for (const { head, from, to } of stretches(
    lines,
    /^ {2}● (.+)$/,
    /^(?:FAIL|PASS|Test Suites:|Tests:|Summary of all)\b/,
  )) {
    while (next < files.length && files[next]!.at < from) file = files[next++]!.file;
    const name = head[1]!.trim();
    if (name === "Console" || file === null) continue;
    const isSuite = name === "Test suite failed to run";
    if (isSuite) notLoaded.push(file);
    const place = firstFrame(lines, from, to);
    const compared = lines.slice(from, to).filter((line) => /^\s{4}(?:Expected|Received)\b.*: /.test(line));
    const message = [firstWords(lines, from, to), ...compared.slice(0, 2)].join(" ");
    failures.push(
      testFailure(
        isSuite ? file.replace(/^\.\//, "") : name.split(" › ").join(" > "),
        message,
        place ?? { file, line: 1 },
        detailIn(lines, from, to),
      ),
    );
  }
  return { runner: "jest", counts, ranTests: counts.passed + counts.failed > 0, failures, notLoaded, files };
}

const outcomeOf = (isGreen: boolean): RanFile["outcome"] => (isGreen ? "passed" : "failed");

/**
 * ```
 *   1 passing (5ms)
 *   2 failing
 *   2) outer
 *        inner fails:
 *       AssertionError …
 *       at Context.<anonymous> (test/a.js:3:60)
 * ```
 */
export function readMocha(lines: readonly string[]): RecognizedOutput | null {
  const summary = lines.findIndex((line) => /^ {2}\d+ passing \(/.test(line));
  if (summary === -1) return null;
  const numbers = lines.filter((line) => /^ {2}\d+ (?:passing|failing|pending)\b/.test(line));
  const counts = sumOf(numbers, "passing", "failing", ["pending"]);
  const rest = lines.slice(summary);
  const failures = stretches(rest, /^ {2}\d+\) (.+)$/, NEVER).map(({ head, from, to }) => {
    const names = [head[1]!];
    let at = from;
    // The name continues, one level on each line, until a line that ends with a colon.
    while (!names.at(-1)!.endsWith(":") && at < to && rest[at]!.trim() !== "") names.push(rest[at++]!.trim());
    const name = names.join(" > ").replace(/:$/, "");
    return testFailure(name, firstWords(rest, at, to), firstFrame(rest, at, to), detailIn(rest, at, to));
  });
  return { runner: "mocha", counts, ranTests: counts.passed + counts.failed > 0, failures };
}

/**
 * ```
 *   ✔ parse › reads a number (12ms)
 *   ✘ [fail]: parse › rejects text Expected a rejection
 *   ─
 *   parse › rejects text
 *   test/parse.js:30
 *   Difference (- actual, + expected):
 *   › file://test/parse.js:30:8
 *   ─
 *   1 test failed
 * ```
 */
export function readAva(lines: readonly string[]): RecognizedOutput | null {
  const numbers = lines.filter((line) => AVA_NUMBER.test(line));
  const broken = lines.flatMap((line) => /^ {2}✘ (\S+\.\w+) exited with a non-zero exit code/.exec(line)?.[1] ?? []);
  if (numbers.length === 0 && broken.length === 0) return null;
  const marked = (mark: string): readonly string[] =>
    lines.flatMap((line) => (line.startsWith(`  ${mark} `) ? [line.slice(mark.length + 3)] : []));
  if (broken.length === 0 && !lines.some((line) => /^ {2}(?:─+$|[✔✘] )/.test(line))) return null;
  const passed = marked("✔").map((name): PassedTest => ({ test: avaName(name), file: null }));
  const listed = marked("✘ [fail]:");
  // The name of a failing test is alone on a line above its description; in the list, its message may follow it.
  const failures = stretches(lines, /^ {2}(\S.*)$/, /^ {2}─+$/)
    .filter(({ head, from }) => listed.some((line) => line.startsWith(head[1]!)) && /^\s*$/.test(lines[from] ?? "x"))
    .map(({ head, from }) => avaFailure(lines, head[1]!, from));
  const crashes = broken.map((file) => avaCrash(lines, file));
  const sum = (word: string): number =>
    numbers.reduce((all, line) => all + (line.includes(word) ? Number(/\d+/.exec(line)![0]) : 0), 0);
  const counts = testCounts(Math.max(passed.length, sum("passed")), sum("failed"), sum("skipped") + sum("todo"));
  return {
    runner: "ava",
    counts,
    ranTests: counts.passed + counts.failed > 0,
    failures: [...failures, ...crashes],
    notLoaded: broken,
    passed,
  };
}

const AVA_NUMBER = /^ {2}\d{1,9} (?:tests? (?:passed|failed|skipped|todo)|uncaught exceptions?)\s*$/;

/** With several files, a test's name begins with its file; its duration is not part of its name. */
const avaName = (text: string): string =>
  text
    .replace(/ \([\d.]+m?s\)$/, "")
    .split(" › ")
    .join(" > ");

function avaFailure(lines: readonly string[], name: string, from: number): OutputFailure {
  let place: CodeLocation | null = null;
  let to = from;
  for (; to < lines.length; to++) {
    if (/^ {2}─+$/.test(lines[to]!)) break;
    const at = /^ {2}(\S+\.\w+):(\d{1,7})$/.exec(lines[to]!);
    if (at !== null) place ??= { file: at[1]!, line: Number(at[2]) };
    // Three empty lines separate two descriptions.
    if (to > from + 2 && lines.slice(to, to + 3).every((line) => line.trim() === "")) break;
  }
  const said = lines
    .slice(from, to)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^\d+:(?: |$)|^\S+\.\w+:\d+$|^(?:›|at) /.test(line));
  const message = [...new Set(said)].slice(0, 20).join(" ");
  // The last line of the stack is mostly the location, which is reported already.
  const own = lines.slice(from, to).filter((line) => {
    const frame = /^ {2,}› (?:file:\/\/)?(\S+?\.\w+):(\d{1,7}):\d{1,7}$/.exec(line);
    return frame === null || place?.file !== frame[1] || place?.line !== Number(frame[2]);
  });
  return testFailure(avaName(name), message === "" ? "failed" : message, place, detailIn(own, 0, own.length));
}

/** Reads the failure of a file that ended before its tests did: the exception is printed above. */
function avaCrash(lines: readonly string[], file: string): OutputFailure {
  const at = lines.findIndex((line) => line.trim() === `Uncaught exception in ${file}`);
  return testFailure(file, at === -1 ? "failed" : firstWords(lines, at + 1, lines.length), { file, line: 1 });
}

/** Compared values may be at the beginning of a line, so only the next failure ends one. */
const NEVER = /^(?!)/;

function sumOf(summaries: readonly string[], passed: string, failed: string, skipped: readonly string[]) {
  const sum = (word: string): number => summaries.reduce((total, summary) => total + numberBefore(summary, word), 0);
  return testCounts(
    sum(passed),
    sum(failed),
    skipped.reduce((total, word) => total + sum(word), 0),
  );
}
