import type { Finding } from "../../core/gates/finding.ts";
import { type TestReading, type TestText, isTellingShape, readTestText } from "../../parse/tests/test-text.ts";
import type { FilePair } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

interface TestLook {
  readonly files: readonly FilePair[];
  /** Whether a file is a test file. In other files, only inline tests count, not the code around them. */
  isTest(path: string): boolean;
}

/**
 * Returns findings for existing tests, and files that belong to them, that were changed. Tests that were added,
 * reformatted or moved to another file do not count. Whether changed tests still prove something is decided by running
 * them.
 */
export function changedTests({ files, isTest }: TestLook, book: RuleReporter): Finding[] {
  const reading = (path: string, text: string | null): TestText => {
    if (text === null) return EMPTY;
    const read = readTestText(path, text);
    return isTest(path) ? read : { ...read, around: [] };
  };
  const read = files.map((file): ReadTestFile => ({
    ...file,
    was: reading(file.path, file.before),
    is: reading(file.path, file.after),
  }));
  const fates = fateOfTests(read);
  return read
    .filter(({ path, was, is }) => isTest(path) || was.tests.length + is.tests.length > 0)
    .flatMap((file) => inFile(file, fates.get(file.path) ?? [], book));
}

const EMPTY: TestText = { tests: [], around: [] };

function inFile(file: ReadTestFile, fates: readonly TestFate[], book: RuleReporter): Finding[] {
  const what = file.after === null ? whatIsLost(file, fates) : whatChanged(file, fates);
  if (what === null) return [];
  return book.report("test-changed", {
    file: file.path,
    suggestedFix: "Put it back as it was, and make the code fit. New tests may be added.",
    ...what,
  });
}

interface TestChange {
  readonly message: string;
  readonly detail?: string;
}

/** Returns what a deleted file lost. Tests that moved with their whole content are not lost. */
function whatIsLost({ was }: ReadTestFile, fates: readonly TestFate[]): TestChange | null {
  const lost = fates.filter(({ is }) => is === "lost").length;
  if (lost > 0)
    return { message: `the test file was deleted, and ${lost === 1 ? "the test" : `the ${lost} tests`} in it` };
  const isThere = was.tests.length > 0 || fates.some(({ is }) => is === "moved");
  return isThere ? null : { message: "a file that belongs to the tests was deleted" };
}

function whatChanged({ before, after, was, is }: ReadTestFile, fates: readonly TestFate[]): TestChange | null {
  if (before === null || before === after) return null;
  const lost = fates.filter((fate) => fate.is === "lost").map(({ test }) => test);
  const changed = fates.filter(isChanged).map(({ test }) => test);
  const left = countValues(is.around);
  const around = was.around.filter((line) => !take(left, line));
  const detail =
    around.length === 0 ? {} : { detail: `no longer there: ${around.slice(0, 5).join(" / ").slice(0, 400)}` };
  if (lost.length > 0)
    return {
      message: `${lost.length === 1 ? "a test is" : `${lost.length} tests are`} no longer there: ${titles(lost)}`,
      ...detail,
    };
  if (changed.length > 0) return { message: `existing tests were changed: ${titles(changed)}`, ...detail };
  if (around.length === 0) return null;
  // A file without tests is test data or helpers: any difference may change results.
  const message =
    was.tests.length > 0
      ? "what stands around the existing tests was changed"
      : "a file that belongs to the tests was changed";
  return { message, ...detail };
}

/** Whether a test was changed. Removing a mark such as a skip is no change, because the test then runs. */
function isChanged(fate: TestFate): boolean {
  if (fate.is === "renamed") return true;
  return fate.is === "kept" && (fate.now.shape !== fate.test.shape || !fate.test.head.startsWith(fate.now.head));
}

function countValues(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Decrements a value's count. Returns whether it was above zero. */
function take(counts: Map<string, number>, value: string): boolean {
  const left = counts.get(value) ?? 0;
  if (left > 0) counts.set(value, left - 1);
  return left > 0;
}

function titles(tests: readonly TestReading[]): string {
  const shown = tests
    .slice(0, 5)
    .map(({ title }) => (title === null ? "without a name" : JSON.stringify(title.slice(0, 100))));
  return `${shown.join(", ")}${tests.length > shown.length ? ` and ${tests.length - shown.length} more` : ""}`;
}

interface ReadTestFile extends FilePair {
  readonly was: TestText;
  readonly is: TestText;
}

/** The fate of a test that existed before. */
type TestFate =
  | { readonly is: "kept"; readonly test: TestReading; readonly now: TestReading }
  | { readonly is: "renamed" | "moved" | "lost"; readonly test: TestReading };

/** Returns the fate of each test, by file. Each current test matches at most one earlier test. */
function fateOfTests(files: readonly ReadTestFile[]): ReadonlyMap<string, readonly TestFate[]> {
  const fresh: NewTest[] = [];
  const open = new Map<string, readonly TestReading[]>();
  const fates = new Map<string, TestFate[]>();
  for (const { path, was, is } of files) {
    const kept = pairUp(was.tests, is.tests);
    fates.set(path, [...kept.pairs]);
    open.set(path, kept.gone);
    fresh.push(...kept.fresh.map((test) => ({ path, test, isTaken: false })));
  }
  const textsNow = new Set(files.filter(({ before }) => before === null).map(({ after }) => after));
  const byTitle = groupBy(fresh, ({ test }) => test.title);
  const byShape = groupBy(fresh, ({ test }) => test.shape);
  for (const { path, before, after, was } of files) {
    const mine = fates.get(path)!;
    for (const test of open.get(path)!) mine.push(fateOf(test, path, byTitle, byShape));
    // A file without tests was moved if another file now has exactly its text.
    if (was.tests.length === 0 && after === null && textsNow.has(before)) mine.push({ is: "moved", test: NO_TEST });
  }
  return fates;
}

interface NewTest {
  readonly path: string;
  readonly test: TestReading;
  isTaken: boolean;
}

type NewTests = ReadonlyMap<string | null, readonly NewTest[]>;

function fateOf(test: TestReading, path: string, byTitle: NewTests, byShape: NewTests): TestFate {
  const same = test.title === null ? undefined : byTitle.get(test.title)?.find(({ isTaken }) => !isTaken);
  const found = same ?? byShape.get(test.shape)?.find((each) => !each.isTaken && isTellingShape(test.shape));
  if (found === undefined) return { is: "lost", test };
  found.isTaken = true;
  const isAsBefore = found.path !== path && found.test.shape === test.shape && found.test.head === test.head;
  return { is: isAsBefore ? "moved" : "renamed", test };
}

/** Pairs tests, first by title and body, then by title. Each test is used once. */
function pairUp(was: readonly TestReading[], is: readonly TestReading[]) {
  const pairs: TestFate[] = [];
  const used = new Set<TestReading>();
  let gone = was;
  for (const key of [({ title, shape }: TestReading) => `${title}\0${shape}`, ({ title }: TestReading) => title]) {
    const left = groupBy(
      is.filter((test) => !used.has(test)),
      key,
    );
    for (const group of left.values()) group.reverse();
    gone = gone.filter((test) => {
      const now = left.get(key(test))?.pop();
      if (now === undefined) return true;
      used.add(now);
      pairs.push({ is: "kept", test, now });
      return false;
    });
  }
  return { pairs, gone, fresh: is.filter((test) => !used.has(test)) };
}

function groupBy<T>(items: readonly T[], key: (item: T) => string | null): Map<string | null, T[]> {
  const groups = new Map<string | null, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}

const NO_TEST: TestReading = { title: null, head: "", shape: "" };
