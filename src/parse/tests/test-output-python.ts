import {
  type CodeLocation,
  type OutputFailure,
  type RecognizedOutput,
  cappedDetail,
  detailIn,
  firstWords,
  numberBefore,
  stretches,
  testCounts,
  testFailure,
} from "./test-output-parts.ts";

/**
 * ```
 * ______ TestOuter.test_inner ______
 * E       ValueError: bad value
 * test_a.py:6: ValueError
 * FAILED test_a.py::TestOuter::test_inner - ValueError: bad value
 * SUBFAILED(i=2) test_a.py::TestOuter::test_rows - AssertionError: 2 != 1
 * ==== 3 failed, 1 passed, 1 skipped, 4 subtests passed in 0.69s ====
 * ```
 */
export function readPytest(lines: readonly string[]): RecognizedOutput | null {
  const summaries = lines.flatMap(
    (line) => /^=*\s?((?:\d{1,9} (?:subtests )?[a-z]+(?:, )?)+|no tests ran) in [\d.]+s\b.*$/.exec(line)?.[1] ?? [],
  );
  if (summaries.length === 0) return null;
  const sum = (word: string): number => summaries.reduce((total, summary) => total + numberBefore(summary, word), 0);
  const failed = sum("failed") + sum("error") + sum("errors");
  const passed = sum("passed") + sum("xpassed");
  const counts = testCounts(passed, failed, sum("skipped") + sum("xfailed"));
  const sections = stretches(lines, /^_{3,} (?:ERROR (?:collecting|at \w+ of) )?(\S.*?) _{3,}$/, /^=+ .* =+$/).map(
    ({ head, from, to }) => ({
      name: head[1]!,
      ...sectionOf(lines, from, to),
    }),
  );
  const byName = new Map(sections.map((section) => [section.name, section]));
  const listed = lines.flatMap((line) => {
    const entry = LISTED.exec(line);
    if (entry === null) return [];
    const [, part = "", file = "", test, message] = entry;
    const name = [test?.split("::").join(".") ?? file, part.trim()].join(" ").trim();
    const section = byName.get(name);
    const place = { file, line: section?.frames.findLast((frame) => frame.file === file)?.line ?? 1 };
    // A message that did not fit on its line was cut; the complete one is above.
    const isCut = message === undefined || message.endsWith("...");
    const said = (isCut ? section?.message : undefined) ?? message ?? "failed";
    return [testFailure(test?.split("::").join(" > ") ?? file, said, place, section?.detail)];
  });
  const failures =
    listed.length > 0
      ? listed
      : sections.map(({ name, message, frames, detail }) => testFailure(name, message, frames.at(-1) ?? null, detail));
  const notLoaded = lines.flatMap((line) => {
    const [, , file, test] = LISTED.exec(line) ?? [];
    const collecting = /^_{3,} ERROR collecting (\S+) _{3,}$/.exec(line)?.[1];
    return collecting ?? (file !== undefined && test === undefined ? file : []);
  });
  return { runner: "pytest", counts, ranTests: passed + failed > 0, failures, notLoaded };
}

/** One line of the summary. A subtest that failed by itself includes its parameters. */
const LISTED =
  /^(?:FAILED|ERROR|SUBFAILED((?:\[.{0,300}?\])? ?(?:\(.{0,300}?\))?)) (\S+?\.py)(?:::(.+?))?(?: - (.*))?$/;

interface PytestSection {
  readonly message: string;
  /** Frames in the project's own code, the innermost last. */
  readonly frames: readonly CodeLocation[];
  readonly detail: string;
}

function sectionOf(lines: readonly string[], from: number, to: number): PytestSection {
  const frames: CodeLocation[] = [];
  const detail: string[] = [];
  const said: string[] = [];
  for (let at = from; at < to; at++) {
    const line = lines[at]!;
    if (/^[E>] /.test(line)) detail.push(line);
    said.push(...(/^E {2,}(\S.*)$/.exec(line)?.slice(1) ?? []));
    const found = /^(\S+\.py):(\d{1,7}): (in )?/.exec(line);
    if (found === null || isLibrary(found[1]!)) continue;
    frames.push({ file: found[1]!, line: Number(found[2]) });
    // When a module does not load, each frame is printed with its line of code.
    if (found[3] !== undefined) detail.push(line, ...lines.slice(at + 1, Math.min(at + 2, to)));
  }
  // If a file cannot be parsed, the location is above the message.
  const unparsed = /^File "(.+)", line (\d{1,7})$/.exec(said[0] ?? "");
  const error = unparsed === null ? said[0] : said.find((line) => /^\w+(?:Error|Warning): /.test(line));
  const place = unparsed === null ? "" : ` (${unparsed[1]}:${unparsed[2]})`;
  return { message: error === undefined ? "failed" : `${error}${place}`, frames, detail: cappedDetail(detail) };
}

/** Whether a file belongs to Python or an installed package, whose frames do not help. */
const isLibrary = (file: string): boolean => /(?:^<|\/lib\/python\d|\/site-packages\/|\/lib64\/python\d)/.test(file);

/** Removes frames of libraries from a traceback: `File "…", line 1, in run`, with the code below. */
function withoutLibraries(lines: readonly string[]): string[] {
  let left: number | null = null;
  return lines.filter((line) => {
    const depth = line.length - line.trimStart().length;
    const frame = /^\s+File "(.+)", line \d+, in /.exec(line)?.[1];
    if (frame !== undefined) left = isLibrary(frame) ? depth : null;
    else if (left !== null && depth <= left) left = null;
    return left === null;
  });
}

/** Reads `Ran 4 tests in 0.001s`, and a block below a line of `=` for each failure. */
export function readUnittest(lines: readonly string[]): RecognizedOutput | null {
  let ran = -1;
  for (const line of lines) {
    const found = /^Ran (\d{1,9}) tests? in [\d.]+s$/.exec(line);
    if (found !== null) ran = Math.max(ran, 0) + Number(found[1]);
  }
  if (ran === -1) return null;
  const verdicts = lines.filter((line) => /^(?:FAILED|OK)(?: \(.*\))?$/.test(line)).join(" ");
  const number = (word: string): number =>
    [...verdicts.matchAll(/\b([a-z ]+)=(\d{1,9})/g)].reduce(
      (sum, [, name, value]) => (name === word ? sum + Number(value) : sum),
      0,
    );
  const failed = number("failures") + number("errors") + number("unexpected successes");
  const skipped = number("skipped") + number("expected failures");
  const failures = stretches(
    lines,
    /^(?:FAIL|ERROR): (\S+) \((\S+?)\)(?: \[.{0,300}\])?(?: \(.{0,300}\))?$/,
    /^(?:={50,}|Ran \d)/,
  ).map(({ head, from, to }) => {
    let place: CodeLocation | null = null;
    let message = "";
    for (let at = from; at < to; at++) {
      const frame = /^\s+File "(.+)", line (\d{1,7})/.exec(lines[at]!);
      if (frame !== null && !isLibrary(frame[1]!)) place = { file: frame[1]!, line: Number(frame[2]) };
      else if (
        /^(?:[a-z_]\w*\.){0,20}[A-Z]\w*(?:\.\w+)*(?:Error|Exception|Failure|Warning|Interrupt)?(?::|$)/.test(
          lines[at]!,
        ) &&
        !lines[at]!.startsWith("Traceback")
      ) {
        message ||= lines[at]!;
      }
    }
    const name = head[2]!.endsWith(`.${head[1]}`) ? head[2]! : `${head[2]}.${head[1]}`;
    const said = message === "" ? firstWords(lines, from + 1, to) : message;
    const story = withoutLibraries(lines.slice(from, to));
    return exampleFailure(name, story) ?? testFailure(name, said, place, detailIn(story, 0, story.length));
  });
  // A module that cannot be imported is reported as a test of the loader.
  const notLoaded = failures.flatMap(({ test, file }) =>
    test?.startsWith("unittest.loader._FailedTest") === true ? (file ?? test) : [],
  );
  // Skipped subtests are counted as well, so there may be more of them than tests.
  const passed = skipped > ran ? Math.min(ran - failed, passesIn(lines)) : ran - failed - skipped;
  return {
    runner: "unittest",
    counts: testCounts(Math.max(0, passed), failed, skipped),
    ranTests: skipped > ran ? passed + failed > 0 : ran > skipped,
    failures,
    notLoaded,
  };
}

/** Counts the tests that passed by what unittest prints for each: a dot, or `ok` behind its name. */
function passesIn(lines: readonly string[]): number {
  const dots = lines
    .filter((line) => /^[.sFExu]+$/.test(line))
    .join("")
    .replaceAll(/[^.]/g, "").length;
  return dots + lines.filter((line) => line.endsWith(" ... ok")).length;
}

/**
 * ```
 * File "/app/recipes.py", line 116, in recipes.take
 * Failed example:
 *     take(3, range(10))
 * Expected:
 *     [0, 1, 2]
 * Got:
 *     [0, 1, 2, 3]
 * ```
 * Reads a failed example in the documentation; `null` for any other test.
 */
function exampleFailure(name: string, story: readonly string[]): OutputFailure | null {
  const at = story.indexOf("Failed example:");
  const place = /^File "(.+)", line (\d{1,7}), in /.exec(story[at - 1] ?? "");
  if (at === -1 || place === null) return null;
  // One test may have several examples; the first failed one is reported.
  const next = story.findIndex((line, index) => index > at && /^-{20,}$/.test(line));
  const shown = story.slice(at, next === -1 ? undefined : next);
  const raised = shown.findIndex((line) => line === "Exception raised:");
  const message =
    raised === -1 ? shown.join(" ") : `${shown[1]!.trim()}: ${shown.findLast((line) => line.trim() !== "")!.trim()}`;
  const detail = shown.filter((line) => !/^\s+Traceback \(most recent/.test(line));
  return testFailure(
    name,
    message,
    { file: place[1]!, line: Number(place[2]) },
    message.length <= SHORT_EXAMPLE ? "" : cappedDetail(detail),
  );
}

/** Up to this length, the message contains the whole example. */
const SHORT_EXAMPLE = 200;
