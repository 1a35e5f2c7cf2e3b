import type { TestReading, TestText } from "./test-text.ts";
import type { FilePair } from "./file-changes.ts";

export interface ReadTestFile extends FilePair {
  readonly was: TestText;
  readonly is: TestText;
}

/** What became of a test that was there before. */
export type TestFate =
  | { readonly is: "kept"; readonly test: TestReading; readonly now: TestReading }
  /** Under another name, or with others in one table. */
  | { readonly is: "rewritten"; readonly test: TestReading; readonly now: TestReading }
  | { readonly is: "moved"; readonly test: TestReading; readonly now: TestReading; readonly to: string }
  /** It moved to where no runner finds it. */
  | { readonly is: "hidden"; readonly test: TestReading; readonly to: string }
  | { readonly is: "lost"; readonly test: TestReading };

/** What became of each test, file by file. Each test that is there now accounts for one that was there, and no more. */
export function fateOfTests(files: readonly ReadTestFile[]): ReadonlyMap<string, readonly TestFate[]> {
  const fresh: NewTest[] = [];
  const open = new Map<string, readonly TestReading[]>();
  const fates = new Map<string, TestFate[]>();
  for (const { path, was, is } of files) {
    const kept = pairUp(was.tests, is.tests);
    fates.set(path, [...kept.pairs]);
    open.set(path, kept.gone);
    fresh.push(...kept.fresh.map((test) => ({ path, test, literals: is.literals, isTaken: false })));
  }
  const textsNow = new Map(files.filter(({ before }) => before === null).map(({ path, after }) => [after, path]));
  const byPath = groupBy(fresh, ({ path }) => path);
  const byTitle = groupBy(fresh, ({ test }) => test.title);
  const byShape = groupBy(fresh, ({ test }) => test.shape);
  for (const file of files) {
    const mine = fates.get(file.path)!;
    const lost = open.get(file.path)!;
    const all = lost.length === 0 ? [] : (byPath.get(file.path) ?? []);
    // Each is held against each: where that would take long, a test that is not there under its name is lost.
    const here = all.length * lost.length > MOST_COMPARED ? [] : all;
    for (const test of lost) mine.push(fateOf(test, file.path, { here, byTitle, byShape }));
    // A file without tests moved if another one now holds the very same.
    const to = file.after === null ? textsNow.get(file.before) : undefined;
    if (mine.length === 0 && to !== undefined) mine.push({ is: "moved", test: NO_TEST, now: NO_TEST, to });
  }
  return fates;
}

const MOST_COMPARED = 40_000;

interface NewTest {
  readonly path: string;
  readonly test: TestReading;
  /** Every value in its file: the table of a loop stands outside of the test. */
  readonly literals: ReadonlySet<string>;
  isTaken: boolean;
}

interface TestLookup {
  readonly here: readonly NewTest[];
  readonly byTitle: ReadonlyMap<string | null, readonly NewTest[]>;
  readonly byShape: ReadonlyMap<string | null, readonly NewTest[]>;
}

function fateOf(test: TestReading, path: string, { here, byTitle, byShape }: TestLookup): TestFate {
  const same = test.title === null ? undefined : byTitle.get(test.title)?.find(({ isTaken }) => !isTaken);
  const moved = same ?? byShape.get(test.shape)?.find((each) => !each.isTaken && test.shape.length >= SHORTEST_SHAPE);
  if (moved !== undefined) {
    moved.isTaken = true;
    if (moved.path === path) return { is: "rewritten", test, now: moved.test };
    if (!isFound(path, moved.path)) return { is: "hidden", test, to: moved.path };
    return { is: "moved", test, now: moved.test, to: moved.path };
  }
  const table = here.find((each) => each.test.isTable && isRowOf(test, each));
  if (table !== undefined) return { is: "rewritten", test, now: table.test };
  const alike = here.find((each) => !each.isTaken && !each.test.isTable && isAlike(test, each.test));
  if (alike === undefined) return { is: "lost", test };
  alike.isTaken = true;
  return { is: "rewritten", test, now: alike.test };
}

/** A body shorter than this is like many others. */
const SHORTEST_SHAPE = 20;

/** Those that are the same first, then by their names; each accounts for one. */
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

/** The same test under another name with something changed in it: it asserts no less, and most of its words are the same. */
function isAlike(before: TestReading, after: TestReading): boolean {
  if (after.assertions < before.assertions || after.trivial > before.trivial) return false;
  const shared = [...before.words].filter((word) => after.words.has(word)).length;
  return shared * 2 > before.words.size;
}

/** Every value that the test used stands in the table. */
function isRowOf(test: TestReading, table: NewTest): boolean {
  return table.test.assertions > 0 && [...test.literals].every((literal) => table.literals.has(literal));
}

/** Is the new name one that a runner looks for, if it looked for the old one? */
function isFound(before: string, after: string): boolean {
  const [was, is] = [nameOf(before), nameOf(after)];
  if (
    /(?:^|\/)(?:\.[^/]|(?:node_modules|dist|build|coverage|_?(?:archived?|attic|backup|disabled|skipped))\/)/.test(
      after,
    )
  )
    return false;
  if (familyOf(was) !== familyOf(is)) return false;
  return CONVENTIONS.every((convention) => !convention.test(was) || CONVENTIONS.some((each) => each.test(is)));
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** By these parts of a name runners find tests. */
const CONVENTIONS = [
  /[._-]test\.\w+$/,
  /[._-]spec\.\w+$/,
  /^test_\w+\.py$/,
  /^test[._-]/,
  /_test\.\w+$/,
  /Tests?\.\w+$/,
];

function familyOf(name: string): string {
  const ending = name.slice(name.lastIndexOf(".") + 1);
  return /^[cm]?[jt]sx?$/.test(ending) ? "js" : ending;
}

const NO_TEST: TestReading = {
  title: null,
  shape: "",
  words: new Set(),
  literals: new Set(),
  isTable: false,
  isSkipped: false,
  assertions: 0,
  exact: 0,
  whole: 0,
  loose: 0,
  trivial: 0,
  muted: 0,
  conditional: 0,
  rows: null,
};
