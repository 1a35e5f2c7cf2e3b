import {
  type CodeLocation,
  type OutputFailure,
  type RecognizedOutput,
  detailIn,
  firstWords,
  testCounts,
  testFailure,
} from "./test-output-parts.ts";

/**
 * ```
 * [ERROR] shop.CartTest.adds -- Time elapsed: 0.02 s <<< FAILURE!
 * org.opentest4j.AssertionFailedError: expected: <10> but was: <11>
 * [ERROR] Failures:
 * [ERROR]   CartTest.adds:12 expected: <10> but was: <11>
 * [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0
 * ```
 */
export function readMaven(lines: readonly string[]): RecognizedOutput | null {
  const sums = { run: 0, failed: 0, skipped: 0 };
  let isSummed = false;
  let hasNone = false;
  const failures: OutputFailure[] = [];
  for (const line of lines) {
    const sum = SUM.exec(line);
    if (sum !== null) {
      isSummed = true;
      sums.run += Number(sum[1]);
      sums.failed += Number(sum[2]) + Number(sum[3]);
      sums.skipped += Number(sum[4]);
    }
    // In a build with many modules, each module without tests prints this.
    hasNone ||= /^\[INFO\] No tests to run\.$/.test(line);
    const failed = LISTED.exec(line);
    if (failed !== null) failures.push(mavenFailure(lines, failed));
  }
  if (!isSummed && !hasNone && failures.length === 0) return null;
  return {
    runner: "maven",
    counts: isSummed || hasNone ? testCounts(sums.run - sums.failed - sums.skipped, sums.failed, sums.skipped) : null,
    ranTests: sums.run > sums.skipped || failures.length > 0,
    failures,
  };
}

/** The sum of a module after its tests. A line about one class has more text after the numbers. */
const SUM =
  /^(?:\[\w+\] )?Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})(?:, Flakes: \d{1,9})?$/;

/** `CartTest.adds:12 sentence`, `CartTest.adds:12->helper:30 » IllegalState sentence`, `CartTest.adds » Timeout sentence` */
const LISTED =
  /^\[(?:ERROR|FAIL)\] {2,}([\w$.]+)\.([\w$]+)(?:\([^)]*\))?(?::(\d{1,7}))?(?:->[\w$.]+:\d{1,7})* (?:» )?(\S.*)$/;

function mavenFailure(
  lines: readonly string[],
  [, type = "", method = "", line, words = ""]: RegExpExecArray,
): OutputFailure {
  const name = type.split(".").at(-1)!;
  const place = line === undefined ? null : { file: fileOf(name), line: Number(line) };
  const head = lines.findIndex((each) => /<<< (?:FAILURE|ERROR)!/.test(each) && each.includes(`${name}.${method}`));
  const detail = head < 0 ? "" : detailIn(lines, head + 1, endOfStack(lines, head + 1));
  return testFailure(`${name} > ${method}`, words, place, detail);
}

/** Returns the file of a class: a nested class is in the file of its outer class. */
const fileOf = (type: string): string => `${type.replace(/\$.*/, "")}.java`;

function endOfStack(lines: readonly string[], from: number): number {
  let to = from;
  while (to < Math.min(lines.length, from + 30) && lines[to] !== "" && !lines[to]!.startsWith("[")) to++;
  return to;
}

/**
 * ```
 * CartTest > adds() FAILED
 *     org.opentest4j.AssertionFailedError: expected: <10> but was: <11>
 *         at app//shop.CartTest.adds(CartTest.java:12)
 * 2 tests completed, 1 failed
 * ```
 * If all tests pass, Gradle prints nothing about them.
 */
export function readGradle(lines: readonly string[]): RecognizedOutput | null {
  const failures: OutputFailure[] = [];
  const sums = { run: 0, failed: 0, skipped: 0 };
  for (const [at, line] of lines.entries()) {
    const failed = /^(\w[\w$.]*) > (.+?)(?:\(\))? FAILED$/.exec(line);
    if (failed !== null) failures.push(gradleFailure(lines, at, failed[1]!, failed[2]!));
    const sum = /^(\d{1,9}) tests? completed, (\d{1,9}) failed(?:, (\d{1,9}) skipped)?$/.exec(line);
    if (sum === null) continue;
    sums.run += Number(sum[1]);
    sums.failed += Number(sum[2]);
    sums.skipped += Number(sum[3] ?? 0);
  }
  if (failures.length === 0) return null;
  const counts = sums.run === 0 ? null : testCounts(sums.run - sums.failed - sums.skipped, sums.failed, sums.skipped);
  return { runner: "gradle", counts, ranTests: true, failures };
}

function gradleFailure(lines: readonly string[], at: number, type: string, method: string): OutputFailure {
  let to = at + 1;
  while (to < Math.min(lines.length, at + 30) && /^\s+\S/.test(lines[to]!)) to++;
  const place = lines.slice(at + 1, to).flatMap((line) => ownPlace(line, type))[0] ?? null;
  return testFailure(
    `${type} > ${method}`,
    firstWords(lines, at + 1, to) || "failed",
    place,
    detailIn(lines, at + 1, to),
  );
}

/** `(CartTest.java:12)` in a stack, or `… at CartTest.java:12` if the stack is omitted. */
function ownPlace(line: string, type: string): CodeLocation[] {
  const found = /\b(\w+)(\.\w+):(\d{1,7})\)?$/.exec(line);
  return found === null || !type.startsWith(found[1]!) ? [] : [{ file: found[1]! + found[2]!, line: Number(found[3]) }];
}
