import {
  type OutputFailure,
  type RecognizedOutput,
  cappedDetail,
  firstWords,
  testCounts,
  testFailure,
} from "./test-output-parts.ts";

/**
 * ```
 *   ✔ clearQueue
 *   ✘ [fail]: concurrency: 1
 *   ─
 *
 *   concurrency: 1
 *
 *   test.js:26
 *
 *   Value is not `true`:
 *
 *   ─
 *
 *   1 test failed
 * ```
 */
export function readAva(lines: readonly string[]): RecognizedOutput | null {
  const rule = lines.findIndex((line) => /^ {2}─+$/.test(line));
  const sums = lines.flatMap((line) => /^ {2}(\d{1,7}) tests? (passed|failed|skipped)$/.exec(line) ?? []);
  if (sums.length === 0 || rule === -1) return null;
  const sumOf = (word: string): number => Number(sums[sums.indexOf(word) - 1] ?? 0);
  const passed = lines.flatMap((line) => /^ {2}✔ (.+?)(?: \([\d.]{1,9}m?s\))?$/.exec(line)?.[1] ?? []);
  const failures = storiesIn(lines, rule + 1);
  const counts = testCounts(Math.max(passed.length, sumOf("passed")), sumOf("failed"), sumOf("skipped"));
  return {
    runner: "ava",
    counts,
    ranTests: counts.passed + counts.failed > 0,
    failures,
    passed: passed.map((test) => ({ test, file: null })),
  };
}

/** Each story of a failure begins with the test's name, and three empty lines are between two of them. */
function storiesIn(lines: readonly string[], from: number): OutputFailure[] {
  const found: OutputFailure[] = [];
  let begin = from;
  for (let at = from; at <= lines.length; at++) {
    const isEnd = at === lines.length || /^ {2}─+$/.test(lines[at]!);
    if (!isEnd && !(at >= from + 3 && [0, 1, 2].every((back) => lines[at - back]!.trim() === ""))) continue;
    const story = storyIn(lines, begin, at);
    if (story !== null) found.push(story);
    if (isEnd) break;
    begin = at + 1;
  }
  return found;
}

function storyIn(lines: readonly string[], begin: number, to: number): OutputFailure | null {
  let head = begin;
  while (head < to && lines[head]!.trim() === "") head++;
  if (head === to) return null;
  const at = lines.findIndex((line, index) => index > head && index < to && PLACE.test(line));
  const place = at === -1 ? null : PLACE.exec(lines[at]!)!;
  const told = lines
    .slice(at === -1 ? head + 1 : at + 1, to)
    .filter((line) => !/^ {2,4}\d+:(?: |$)|^ {2}› |^\s+at /.test(line));
  const message = firstWords(told, 0, told.length);
  return testFailure(
    lines[head]!.trim().replaceAll(" › ", " > "),
    message.replace(/:$/, "") || "failed",
    place === null ? null : { file: place[1]!, line: Number(place[2]) },
    cappedDetail(told.filter((line) => line.trim() !== message)),
  );
}

const PLACE = /^ {2}(\S+\.[cm]?[jt]sx?):(\d{1,7})$/;
