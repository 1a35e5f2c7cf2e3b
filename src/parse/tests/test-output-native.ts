import {
  type CodeLocation,
  type OutputFailure,
  type PassedTest,
  type RecognizedOutput,
  detailIn,
  firstWords,
  testCounts,
  testFailure,
} from "./test-output-parts.ts";

/**
 * ```
 * 1/2 Test #1: prices ....................***Failed    0.01 sec
 * t: /app/test.c:6: main: Assertion `a == b' failed.
 * 50% tests passed, 1 tests failed out of 2
 * The following tests FAILED:
 * 	  1 - prices (Failed)
 * ```
 */
export function readCtest(lines: readonly string[]): RecognizedOutput | null {
  const sums = lines.flatMap((line) => {
    const sum = /^\d{1,3}% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})$/.exec(line);
    return sum === null ? [] : [{ failed: Number(sum[1]), run: Number(sum[2]) }];
  });
  if (sums.length === 0 && !lines.includes("No tests were found!!!")) return null;
  const failed = sums.reduce((all, sum) => all + sum.failed, 0);
  const run = sums.reduce((all, sum) => all + sum.run, 0);
  const skipped = lines.filter((line) =>
    /^ *\d+\/\d+ Test +#\d+: .*\*\*\*(?:Skipped|Not Run \(Disabled\))/.test(line),
  ).length;
  const failures = lines.flatMap((line) => {
    const listed = /^\s+(\d{1,7}) - (.+?) \(([^()]+)\)\s*(?:\S.*)?$/.exec(line);
    return listed === null || listed[3] === "Skipped" || listed[3] === "Disabled" ? [] : [ctestFailure(lines, listed)];
  });
  return {
    runner: "ctest",
    counts: testCounts(run - failed - skipped, failed, skipped),
    ranTests: run > skipped,
    failures: failed === 0 ? [] : failures,
    passed: lines.flatMap((line) => {
      const test = /^ *\d+\/\d+ Test +#\d+: (\S.*?) \.+ +Passed +[\d.]+ sec$/.exec(line)?.[1];
      return test === undefined ? [] : [{ test, file: null }];
    }),
  };
}

/** Reads a failed test. Its output, if requested, is below the line with its result. */
function ctestFailure(lines: readonly string[], [, number, name = "", how = ""]: RegExpExecArray): OutputFailure {
  const head = lines.findIndex((line) => new RegExp(`^ *\\d+/\\d+ Test +#${number}: `).test(line)) + 1;
  let to = head;
  while (
    head > 0 &&
    to < Math.min(lines.length, head + 30) &&
    !/^(?: *Start +\d+: | *\d+\/\d+ Test +#|\d+% tests)/.test(lines[to]!)
  )
    to++;
  const place = lines.slice(head, to).flatMap((line) => readAssertion(line) ?? [])[0]?.place ?? null;
  return testFailure(name, firstWords(lines, head, to) || how, place, detailIn(lines, head, to));
}

/**
 * ```
 * FAIL: test_prices
 * # TOTAL: 3
 * # PASS:  2
 * # FAIL:  1
 * ```
 */
export function readAutomake(lines: readonly string[]): RecognizedOutput | null {
  const sums = new Map<string, number>();
  const failures: OutputFailure[] = [];
  for (const line of lines) {
    const sum = /^# (TOTAL|PASS|SKIP|XFAIL|FAIL|XPASS|ERROR): +(\d{1,9})$/.exec(line);
    if (sum !== null) sums.set(sum[1]!, (sums.get(sum[1]!) ?? 0) + Number(sum[2]));
    const failed = /^(FAIL|XPASS|ERROR): (\S+)/.exec(line);
    if (failed !== null) failures.push(testFailure(failed[2]!, WORDS[failed[1] as keyof typeof WORDS], null));
  }
  const of = (...names: readonly string[]): number => names.reduce((sum, name) => sum + (sums.get(name) ?? 0), 0);
  if (!sums.has("TOTAL") || !sums.has("XPASS")) return null;
  return {
    runner: "automake",
    counts: testCounts(of("PASS", "XFAIL"), of("FAIL", "XPASS", "ERROR"), of("SKIP")),
    ranTests: of("TOTAL") > of("SKIP"),
    failures,
  };
}

const WORDS = { FAIL: "failed", XPASS: "passed, and was expected to fail", ERROR: "could not be run" } as const;

/** Reads a failed assertion of C, as printed by glibc, and by the C libraries of BSD and macOS. */
export function readAssertion(line: string): { readonly message: string; readonly place: CodeLocation } | null {
  const gnu = /^(?:[^\s:]+: )?([^\s:]+\.\w{1,4}):(\d{1,7}): (?:.+: )?(Assertion [`'].+' failed)\.?$/.exec(line);
  if (gnu !== null) return { message: gnu[3]!, place: { file: gnu[1]!, line: Number(gnu[2]) } };
  const bsd = /^(Assertion failed: \(.+\)), (?:function .+, )?file (\S+), line (\d{1,7})\.?$/.exec(line);
  return bsd === null ? null : { message: bsd[1]!, place: { file: bsd[2]!, line: Number(bsd[3]) } };
}

/**
 * ```
 * test tests::adds ... FAILED
 * thread 'tests::adds' panicked at src/lib.rs:5:25:
 * assertion `left == right` failed
 * test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.08s
 * ```
 */
export function readCargo(lines: readonly string[]): RecognizedOutput | null {
  const sums = { passed: 0, failed: 0, ignored: 0 };
  let isCargo = false;
  const panics = new Map<string, { message: string; place: CodeLocation; detail: string }>();
  const failed = new Set<string>();
  const passed: PassedTest[] = [];
  let doc: DocTest | null = null;
  for (const [at, line] of lines.entries()) {
    const result = /^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored;/.exec(line);
    if (result !== null) {
      isCargo = true;
      sums.passed += Number(result[1]);
      sums.failed += Number(result[2]);
      sums.ignored += Number(result[3]);
    }
    // The second form is that of --quiet, the third precedes the output of a failed test.
    const test =
      /^test (\S.*?)(?: - should panic)? \.\.\. FAILED$/.exec(line) ??
      /^(\S+) --- FAILED$/.exec(line) ??
      /^---- (\S.*?) stdout ----$/.exec(line);
    if (test !== null) failed.add(test[1]!);
    if (line.startsWith("---- ") || result !== null) doc = docTestIn(test?.[1]);
    const ok = /^test (\S.*?)(?: - should panic)? \.\.\. ok$/.exec(line);
    if (ok !== null) passed.push({ test: ok[1]!, file: null });
    const panic = PANIC.exec(line);
    if (panic !== null) {
      const message = panic[2] ?? firstWords(lines, at + 1, Math.min(lines.length, at + 3));
      const detail = detailOfPanic(lines, at + 1);
      const place = doc?.place ?? { file: panic[3]!, line: Number(panic[4]) };
      panics.set(doc?.name ?? panic[1]!, { message, place, detail });
    } else if (doc !== null && !panics.has(doc.name) && /^error(?:\[E\d{1,6}\])?: /.test(line))
      panics.set(doc.name, { message: line, place: doc.place, detail: "" });
  }
  if (!isCargo) return null;
  const failures = [...failed].map((name) => {
    const panic = panics.get(name);
    return testFailure(name, panic?.message ?? "failed", panic?.place ?? null, panic?.detail);
  });
  return {
    runner: "cargo test",
    counts: testCounts(sums.passed, sums.failed, sums.ignored),
    ranTests: sums.passed + sums.failed > 0,
    failures,
    passed,
  };
}

/**
 * An example in a comment. It runs as its own program: its panic names the thread `main`, and a line of that program.
 */
interface DocTest {
  readonly name: string;
  readonly place: CodeLocation;
}

/** `src/lib.rs - area (line 12)` */
function docTestIn(name: string | undefined): DocTest | null {
  const found = /^(\S+\.rs) - .*\(line (\d{1,7})\)$/.exec(name ?? "");
  return found === null ? null : { name: name!, place: { file: found[1]!, line: Number(found[2]) } };
}

const PANIC = /^thread '(.+?)' (?:\(\d+\) )?panicked at (?:'(.*)', )?(\S+?):(\d{1,7}):\d{1,7}:?$/;

/** Returns a panic's message and its stack frames in the project's own code. */
function detailOfPanic(lines: readonly string[], from: number): string {
  const end = endOfPanic(lines, from);
  return [detailIn(lines, from, end), ...ownFrames(lines, end)].filter((line) => line !== "").join("\n");
}

/** Returns the frames of the project: ` 2: heck::lowercase`, with `at ./src/lib.rs:162:22` below it. */
function ownFrames(lines: readonly string[], at: number): string[] {
  if (lines[at] !== "stack backtrace:") return [];
  const frames: string[] = [];
  for (let next = at + 1; next < lines.length && frames.length < MOST_FRAMES; next++) {
    if (!/^\s+(?:\d{1,5}: |at )/.test(lines[next]!)) break;
    const place = /^\s+at (?:\.\/)?([^/\s]\S*:\d{1,7}):\d{1,7}$/.exec(lines[next]!)?.[1];
    const called = /^\s+\d{1,5}: (.+)$/.exec(lines[next - 1]!)?.[1];
    if (place !== undefined && called?.endsWith("{{closure}}") === false) frames.push(`at ${called} (${place})`);
  }
  return frames;
}

const MOST_FRAMES = 5;

function endOfPanic(lines: readonly string[], from: number): number {
  let to = from;
  while (
    to < Math.min(lines.length, from + 30) &&
    lines[to] !== "" &&
    !/^(?:note: |---- |failures:|stack backtrace:)/.test(lines[to]!)
  )
    to++;
  return to;
}

/**
 * ```
 * { "type": "test", "event": "failed", "name": "tests::adds", "stdout": "thread … panicked at …" }
 * { "type": "suite", "event": "failed", "passed": 1, "failed": 1, "ignored": 0, … }
 * ```
 */
export function readCargoJson(lines: readonly string[]): RecognizedOutput | null {
  const sums = { passed: 0, failed: 0, ignored: 0 };
  let isCargo = false;
  const failures: OutputFailure[] = [];
  for (const line of lines) {
    const event = /^\{ ?"type": ?"(?:suite|test)"/.test(line) ? jsonEvent(line) : null;
    if (event === null) continue;
    if (event["type"] === "suite" && typeof event["passed"] === "number") {
      isCargo = true;
      for (const part of ["passed", "failed", "ignored"] as const) sums[part] += Math.max(0, Number(event[part]) || 0);
    }
    if (event["type"] === "test" && event["event"] === "failed") failures.push(jsonFailure(event));
  }
  if (!isCargo) return null;
  const counts = testCounts(sums.passed, sums.failed, sums.ignored);
  return { runner: "cargo test", counts, ranTests: sums.passed + sums.failed > 0, failures };
}

function jsonEvent(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    // A cut line, or a line of another program.
    return null;
  }
}

function jsonFailure({ name, stdout }: Record<string, unknown>): OutputFailure {
  const said = (typeof stdout === "string" ? stdout : "").split("\n");
  const at = said.findIndex((line) => PANIC.test(line));
  const panic = at === -1 ? null : PANIC.exec(said[at]!);
  if (panic === null) return testFailure(String(name), "failed", null);
  const message = panic[2] ?? firstWords(said, at + 1, Math.min(said.length, at + 3));
  const place = { file: panic[3]!, line: Number(panic[4]) };
  return testFailure(String(name), message, place, detailOfPanic(said, at + 1));
}
