import type { Finding } from "../../core/gates/finding.ts";
import type { FilePair } from "./file-changes.ts";
import { resolveImport } from "./replaced-subjects.ts";
import type { RuleReporter } from "./integrity-rules.ts";
import { fateOfTests, type TestFate, type ReadTestFile } from "./changed-tests.ts";
import { readTestText, type TestReading, type TestText } from "./test-text.ts";

export interface TestLook {
  readonly files: readonly FilePair[];
  /** Every path that is there no more. */
  readonly gone: ReadonlySet<string>;
  /** Of the others only the tests in them count, not what stands around. */
  isTest(path: string): boolean;
}

/** What was done to the tests that makes them prove less. A test that moved to another file is not lost. */
export function weakenedTests({ files, gone, isTest }: TestLook, book: RuleReporter): Finding[] {
  const reading = (path: string, text: string | null): TestText => {
    if (text === null) return EMPTY;
    const read = readTestText(path, text);
    return isTest(path) ? read : { ...read, around: [], assertionsAround: 0, mutedAround: 0 };
  };
  const read = files.map((file): ReadTestFile => ({
    ...file,
    was: reading(file.path, file.before),
    is: reading(file.path, file.after),
  }));
  const fates = fateOfTests(read);
  return read
    .filter(({ path, was, is }) => isTest(path) || was.tests.length + is.tests.length > 0)
    .flatMap((file) => inFile(file, fates.get(file.path) ?? [], gone, book));
}

const EMPTY: TestText = {
  tests: [],
  around: [],
  skipped: 0,
  focused: 0,
  retried: 0,
  assertionsAround: 0,
  mutedAround: 0,
  helpers: new Set(),
  literals: new Set(),
};

function inFile(
  file: ReadTestFile,
  fates: readonly TestFate[],
  gone: ReadonlySet<string>,
  book: RuleReporter,
): Finding[] {
  const { path, was, is } = file;
  if (file.after === null && was.tests.length === 0) return lostFile(file, fates, book);
  const specific = fates.flatMap((fate) => ("now" in fate ? weaknesses(path, fate, is.helpers, book) : []));
  const named = new Set(specific.flatMap(({ symbol }) => symbol ?? []));
  const newlySkipped = fates.filter((fate) => fate.is === "kept" && fate.now.isSkipped && !fate.test.isSkipped).length;
  const skipped = Math.max(newlySkipped, is.skipped - was.skipped);
  return [
    ...lostTests(file, fates, gone, book),
    ...lostRows(file, fates, book),
    ...(skipped > 0 ? skips(path, skipped, book) : []),
    ...(is.focused > was.focused ? focus(path, book) : []),
    ...(is.retried > was.retried ? retries(path, book) : []),
    ...specific,
    ...aroundThem(file, book),
    ...changes(file, fates, named, skipped > 0, book),
  ];
}

/** A file of test data, or of functions for tests, that is gone. What moved, with all it held, is still there. */
function lostFile({ path }: ReadTestFile, fates: readonly TestFate[], book: RuleReporter): Finding[] {
  if (fates.some(({ is }) => is === "moved")) return [];
  return book.report("test-changed", {
    file: path,
    message: "a file that belongs to the tests was deleted",
    suggestedFix: "Restore it.",
  });
}

function lostTests(
  { path, before, after }: ReadTestFile,
  fates: readonly TestFate[],
  gone: ReadonlySet<string>,
  book: RuleReporter,
): Finding[] {
  const lost = fates.filter(({ is }) => is === "lost").map(({ test }) => test);
  const hidden = fates.flatMap((fate) => (fate.is === "hidden" ? fate.to : []));
  const found: Finding[] = [];
  if (hidden.length > 0) {
    found.push(
      ...book.report("test-out-of-run", {
        file: path,
        message: `${countOf(hidden.length)} moved to ${hidden[0]}, where the runner does not look`,
        suggestedFix: "Give the file a name that the runner looks for, as it had before.",
      }),
    );
  }
  if (lost.length === 0) return found;
  const hasNoSubject = subjectsOf(path, before ?? "", gone);
  const what =
    after === null
      ? `the test file was deleted, and ${lost.length === 1 ? "the test" : `the ${lost.length} tests`} in it`
      : `${lost.length === 1 ? "a test is" : `${lost.length} tests are`} no longer there: ${titles(lost)}`;
  return [
    ...found,
    ...book.report("test-deleted", {
      file: path,
      message: hasNoSubject ? `${what}; what it tested was deleted too` : what,
      suggestedFix:
        after === null
          ? "Restore the file. Make the code pass the tests, not the tests fit the code."
          : "Put them back under their own names, unchanged. New tests may be added beside them.",
      ...(hasNoSubject ? { severity: "info" } : {}),
    }),
  ];
}

/** A row of a table is a test. Rows that moved to other tests of the file are still there. */
function lostRows({ path, is }: ReadTestFile, fates: readonly TestFate[], book: RuleReporter): Finding[] {
  const known = new Set(fates.flatMap((fate) => ("now" in fate ? [fate.now] : [])));
  let elsewhere = is.tests
    .filter((test) => !known.has(test))
    .reduce((sum, { rows }) => sum + Math.max(1, rows ?? 1), 0);
  return fates.flatMap((fate) => {
    if (fate.is !== "kept" || fate.now.rows === null || fate.test.rows === null) return [];
    const lost = fate.test.rows - fate.now.rows;
    if (lost > 0) elsewhere -= lost;
    if (lost <= 0 || elsewhere >= 0) return [];
    return book.report("test-deleted", {
      file: path,
      symbol: fate.test.title ?? "a test without a name",
      message: `the test ${quoteTitle(fate.test)} has ${fate.now.rows} rows, and had ${fate.test.rows}`,
      suggestedFix: "Put the rows back, and make the code satisfy them. New ones may be added.",
    });
  });
}

/** Is everything of the project that the test file names gone too? Then there is nothing left for it to test. */
function subjectsOf(path: string, text: string, gone: ReadonlySet<string>): boolean {
  const named = [...text.matchAll(/(?:from|require\(|import\(?)\s{0,5}["'](\.{1,2}\/[^"'\n]{1,200})["']/g)].map(
    ([, target]) => resolveImport(path, target!),
  );
  if (named.length === 0) return false;
  return named.every((target) => [...gone].some((each) => each === target || each.replace(/\.\w+$/, "") === target));
}

function skips(file: string, count: number, book: RuleReporter): Finding[] {
  const message = `${count === 1 ? "a test or group is" : `${count} tests or groups are`} now skipped, or expected to fail`;
  return book.report("test-skipped", { file, message, suggestedFix: "Take the skip away and make the test pass." });
}

function focus(file: string, book: RuleReporter): Finding[] {
  return book.report("test-focused", {
    file,
    message: "only some of the tests in this file run now (`only`, `fit`, `focus`)",
    suggestedFix: "Take the focus away, so that every test runs again.",
  });
}

function retries(file: string, book: RuleReporter): Finding[] {
  return book.report("test-retried", {
    file,
    message: "tests in this file may now be tried again when they fail",
    suggestedFix: "Remove the retry, and fix what makes the test fail at times.",
  });
}

/** What makes one test prove less than it did under the same name. Only the gravest is reported. */
function weaknesses(
  path: string,
  fate: Extract<TestFate, { now: TestReading }>,
  helpers: ReadonlySet<string>,
  book: RuleReporter,
): Finding[] {
  const { test, now } = fate;
  if (now.shape === test.shape) return [];
  const file = fate.is === "moved" ? fate.to : path;
  const symbol = test.title ?? "a test without a name";
  const report = (
    rule: "trivial" | "unreached" | "loosened" | "removed",
    what: string,
    suggestedFix: string,
    detail?: string,
  ) =>
    book.report(`assertion-${rule}`, {
      file,
      symbol,
      message: `the test ${quoteTitle(test)} ${what}`,
      suggestedFix,
      ...(detail === undefined ? {} : { detail }),
    });
  // A function that asserts may be called in the place of assertions.
  const isHandedOn = [...now.words].some((word) => helpers.has(word) && !test.words.has(word));
  const restore = "Assert what the code does, as the test did before.";
  if (now.trivial > test.trivial) return report("trivial", "now asserts something that is always true", restore);
  if (test.assertions > 0 && now.assertions === 0 && !isHandedOn)
    return report("trivial", "asserts nothing any more", restore);
  // A condition with an assertion of its own before it only tells the compiler what is known by then.
  if (now.muted > test.muted || (now.conditional > test.conditional && now.assertions <= test.assertions))
    return report(
      "unreached",
      "can now end before its assertions, or ignore that they fail",
      "Take out what ends it early or catches the failure.",
    );
  if (now.loose > test.loose && now.exact < test.exact)
    return report("loosened", "now accepts more than before", "Assert the exact value again.");
  // One assertion about a whole may stand for several about its parts, and one in a loop for many.
  const isRefactored =
    isHandedOn || now.isTable || now.whole > test.whole || /\bfor\(|\.forEach\(|for\w+in/.test(now.shape);
  if (now.assertions >= test.assertions || isRefactored) return [];
  return report(
    "removed",
    "asserts less than before",
    "Restore the assertions that were taken out, and make the code satisfy them.",
    `${now.assertions} assertions, ${test.assertions} before`,
  );
}

/** Functions that tests call assert too; and a whole group may stand in something that is never true. */
function aroundThem({ path, after, was, is }: ReadTestFile, book: RuleReporter): Finding[] {
  if (after === null) return [];
  const moved =
    is.tests.reduce((sum, test) => sum + test.assertions, 0) -
    was.tests.reduce((sum, test) => sum + test.assertions, 0);
  return [
    ...(is.mutedAround > was.mutedAround
      ? book.report("assertion-unreached", {
          file: path,
          message: "a part of this file stands in a condition that is never true",
          suggestedFix: "Take the condition out.",
        })
      : []),
    ...(is.assertionsAround < was.assertionsAround && moved <= 0
      ? book.report("assertion-removed", {
          file: path,
          message: "the functions that the tests call assert less than before",
          suggestedFix: "Restore the assertions that were taken out, and make the code satisfy them.",
          detail: `${is.assertionsAround} assertions, ${was.assertionsAround} before`,
        })
      : []),
  ];
}

/** Whatever else was changed in tests that were there, or in what stands around them. */
function changes(
  { path, before, after, was, is }: ReadTestFile,
  fates: readonly TestFate[],
  named: ReadonlySet<string>,
  isSkipTold: boolean,
  book: RuleReporter,
): Finding[] {
  if (before === null || after === null || before === after) return [];
  const changed = fates.filter(
    (fate) =>
      (fate.is === "rewritten" || (fate.is === "kept" && fate.now.shape !== fate.test.shape)) &&
      !named.has(fate.test.title ?? "a test without a name"),
  );
  const left = countValues(is.around);
  const around = was.around.filter((line) => !take(left, line));
  // A file without tests is data, or functions for tests: whatever is different in it may change what tests say.
  const isChanged = changed.length > 0 || (around.length > 0 && !isSkipTold);
  if (!isChanged) return [];
  const message =
    changed.length > 0
      ? `existing tests were changed: ${titles(changed.map(({ test }) => test))}`
      : was.tests.length > 0
        ? "what stands around the existing tests was changed"
        : "a file that belongs to the tests was changed";
  return book.report("test-changed", {
    file: path,
    message,
    suggestedFix: "Put it back as it was, and make the code fit. New tests may be added.",
    ...(around.length > 0 ? { detail: `no longer there: ${around.slice(0, 5).join(" / ").slice(0, 400)}` } : {}),
  });
}

function countValues(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Takes one away, if there is one. */
function take(counts: Map<string, number>, value: string): boolean {
  const left = counts.get(value) ?? 0;
  if (left > 0) counts.set(value, left - 1);
  return left > 0;
}

const quoteTitle = ({ title }: TestReading): string =>
  title === null ? "without a name" : JSON.stringify(title.slice(0, 100));

const countOf = (count: number): string => (count === 1 ? "a test" : `${count} tests`);

function titles(tests: readonly TestReading[]): string {
  const shown = tests.slice(0, 5).map(quoteTitle);
  return `${shown.join(", ")}${tests.length > shown.length ? ` and ${tests.length - shown.length} more` : ""}`;
}
