import { placeOfFailure } from "../../core/gates/base-failures.ts";
import type { ContestedTest } from "../../core/gates/contested-test.ts";
import { type Fault, valuesIn } from "../../parse/code/plant-faults.ts";
import { readSymbols } from "../../parse/code/symbols.ts";
import type { TestedJudgement } from "../checks/checks-gate.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import type { CodeSymbol } from "../../core/blame/change.ts";
import { type FaultBench, allReport, faultsFor, productRule, reachedCode, withoutTests } from "./fault-bench.ts";
import { type TestUnit, type TimeLimit, plantFault, runsLine } from "./tripwire.ts";

/** What planted faults show about the tests that check the work. */
export interface FaultVerdict {
  readonly contested: readonly ContestedTest[];
  /** Test files, or tests, that were not shown to fail, each with the reason. */
  readonly notShown: readonly string[];
  /** Whether a test detected a fault. */
  readonly isShown: boolean;
}

/** Tests that run together, and whether they must detect a fault. */
export interface MeasuredTests {
  readonly unit: TestUnit;
  readonly tests: readonly string[];
  /**
   * Whether these tests must detect a fault, because they include a target or were added by the work. For other tests
   * it is only reported.
   */
  readonly mustNotice: boolean;
}

/** How many faults are tried per test file. */
const MOST_FAULTS = 5;
/** A single undetected fault may change nothing. */
const LEAST_IGNORED = 2;

/** Plants faults in the lines that the work changed, until a test of each file detects one. */
export async function plantFaults(
  work: PinnedContext,
  ran: TestedJudgement,
  {
    bench,
    time,
    measured,
  }: {
    readonly bench: FaultBench;
    readonly time: TimeLimit;
    readonly measured: readonly MeasuredTests[];
  },
): Promise<FaultVerdict> {
  const contested: ContestedTest[] = [];
  const notShown: string[] = [];
  let isShown = false;
  let tries = 0;
  for (const { unit, tests, mustNotice } of measured) {
    if (tests.length === 0) continue;
    const faults = await changedFaults(work, bench, unit);
    const reported = [...ran.tests.passed.keys()].filter((name) => unit.file === null && !isChanged(work, name));
    const ignored: Fault[] = [];
    let isNoticed = false;
    for (const fault of faults.slice(0, MOST_FAULTS)) {
      // If the tests must detect a fault, one is tried even without time left.
      const isFree = mustNotice && tries === 0;
      if (isNoticed || work.control.signal.aborted || !(isFree || time.hasTime(unit))) break;
      tries++;
      const run = await bench.run(unit.file, plantFault(bench, fault));
      if (!allReport(run, [...tests, ...reported])) continue;
      isNoticed = tests.some((test) => run.failed.has(test));
      if (!isNoticed) ignored.push(fault);
    }
    isShown ||= isNoticed;
    if (isNoticed || !mustNotice) continue;
    if (await runLines(bench, unit, tests, ignored))
      contested.push(...tests.map((test) => ({ test, why: "cannot-fail" as const, ...fileOf(unit) })));
    else notShown.push(unit.file ?? placeOfFailure(tests[0]!));
  }
  return { contested, notShown, isShown };
}

/** Whether the tests run the lines of enough of these faults. */
async function runLines(
  bench: FaultBench,
  unit: TestUnit,
  tests: readonly string[],
  ignored: readonly Fault[],
): Promise<boolean> {
  let run = 0;
  for (const fault of ignored.length < LEAST_IGNORED ? [] : ignored) {
    if (await runsLine(bench, unit, tests, fault)) run++;
    if (run === LEAST_IGNORED) return true;
  }
  return false;
}

export const fileOf = ({ from }: TestUnit): { readonly file?: string } => (from === null ? {} : { file: from });

export const targetsIn = ({ request }: PinnedContext, { file }: TestUnit): readonly string[] =>
  request.atBase.targets.filter((test) => test.includes(" > ") && (file === null || isOf(test, file)));

export const isOf = (test: string, file: string): boolean => {
  const place = placeOfFailure(test);
  return file === place || file.endsWith(`/${place}`);
};

const isChanged = ({ changed }: PinnedContext, name: string): boolean => changed.some((path) => isOf(name, path));

/** Returns faults in product lines that the work added or changed; lines that the test uses come first. */
async function changedFaults(
  { options, request, changed }: PinnedContext,
  bench: FaultBench,
  { from }: TestUnit,
): Promise<readonly Fault[]> {
  const isProduct = productRule(options);
  const product = changed.filter(isProduct);
  const before = new Map<string, ReadonlySet<string>>();
  for (const path of product) {
    const text = await options.workspace.fileAt(request.story.id, request.base, path);
    before.set(path, new Set((text ?? "").split("\n")));
  }
  const reached = reachedCode(bench, from, options);
  const near = product.filter((path) => reached.includes(path));
  const text = from === null ? "" : (bench.text(from) ?? "");
  const isNew = (path: string, line: string): boolean => !before.get(path)!.has(line);
  const faults = faultsFor(bench, near.length > 0 ? near : product, text, isNew);
  // Faults that only restore a line of the base come last: their result is known from the base.
  const restores = ({ path, after }: Fault): boolean => before.get(path)!.has(after);
  return [...faults.filter((fault) => !restores(fault)), ...faults.filter(restores)];
}

/** How many values of one test are changed. */
const MOST_PLACES = 6;
/** A single value without effect may be a title or a time limit. */
const LEAST_IGNORED_VALUES = 2;

/**
 * Changes the literals in a target's own code, both expected values and inputs. Expected values are mostly in the last
 * lines, so these come first; inputs may not affect the result. A target that passes whatever its values are does not
 * compare: the work made its values equal to everything, or keeps the assertion from failing. Product code cannot
 * detect these faults by reading its own source, because they are planted in the test.
 */
export async function contestedByValues(
  work: PinnedContext,
  bench: FaultBench,
  units: readonly TestUnit[],
  time: TimeLimit,
): Promise<readonly ContestedTest[]> {
  const contested: ContestedTest[] = [];
  for (const unit of units) {
    const [target] = targetsIn(work, unit);
    if (target === undefined || unit.from === null || work.control.signal.aborted) continue;
    if (!time.hasTime(unit)) continue;
    if (await ignoresItsValues(work, bench, unit, unit.from, target, time))
      contested.push({ test: target, why: "cannot-fail", file: unit.from });
  }
  return contested;
}

async function ignoresItsValues(
  { control, options }: PinnedContext,
  bench: FaultBench,
  unit: TestUnit,
  from: string,
  target: string,
  time: TimeLimit,
): Promise<boolean> {
  const text = bench.text(from) ?? "";
  // In a source file with inline tests, only the tests are changed.
  const product = productRule(options)(from) ? withoutTests(from, text) : new Set<string>();
  const lines = text.split("\n");
  const own = linesOf(from, text, target);
  const isOpen = (line: number): boolean => own.has(line) && !product.has(lines[line - 1]!);
  const places = valuesIn(from, text, isOpen)
    .toSorted((a, b) => b.faults[0].line - a.faults[0].line)
    .slice(0, MOST_PLACES);
  let ignored = 0;
  for (const [at, { faults }] of places.entries()) {
    let passes = 0;
    for (const fault of faults) {
      if (control.signal.aborted || (at + passes > 0 && !time.hasTime(unit))) return false;
      const ran = await bench.run(unit.file, plantFault(bench, fault));
      // If the target's lines are unknown, the value may belong to another test, which detected the change.
      if (ran.failed.has(target) || (!own.isCertain && ran.failed.size > 0)) return false;
      // A title is a string too: with another title the test does not report a result.
      if (ran.passed.has(target)) passes++;
    }
    if (passes === faults.length) ignored++;
  }
  return ignored >= LEAST_IGNORED_VALUES;
}

/**
 * The lines of the test itself: of all tests with its title, else of the function or the title that it is a row of
 * (`TestAdd/negative`, `test_add[2-1]`, `adds %i and %i`), and of the whole file where none is found.
 */
export function linesOf(
  path: string,
  text: string,
  target: string,
): { has(line: number): boolean; readonly isCertain: boolean } {
  const titles = target.split(" > ").slice(1);
  const title = titles.at(-1) ?? target;
  const short = title.replace(/^.*(?:::|\.)/, "");
  const { symbols } = readSymbols(text, path);
  const titled = symbols.filter(({ name }) => name === title || name === short);
  const outer = tableOf(title);
  const table = symbols.filter(({ name }) => name === outer || name === tableOf(short));
  const named = titled.length > 0 ? titled : table.length > 0 ? table : symbols.filter(isTemplateOf(title));
  // Of tests with one title, it is the one in most of the groups and classes that its name tells.
  const groups = [...titles.slice(0, -1), ...title.split(/::|\./).slice(0, -1)];
  const depthOf = (test: CodeSymbol): number =>
    groups.filter((group) => symbols.some((each) => each.name === group && isInside(test, each))).length;
  const depth = Math.max(...named.map(depthOf));
  const own = named.filter((test) => depthOf(test) === depth);
  const ranges = own.length > 0 ? own : tablesOf(text, title);
  return {
    has: (line) => ranges.length === 0 || ranges.some(({ start, end }) => start <= line && line <= end),
    isCertain: own.length === 1 && titled.length > 0,
  };
}

/** The function that a test is a row of. */
const tableOf = (title: string): string => /^[^/[]*/.exec(title)![0];

/** What stands for a value in the title of a table's rows. */
const VALUE = /%[a-z#]|\$\{[^}]*\}|\$[\w.]+/i;

/** Is this the title of the table, with values in place of its marks? */
const isTemplateOf =
  (title: string) =>
  ({ name, kind }: CodeSymbol): boolean => {
    return kind === "test" && isTemplate(name, title);
  };

function isTemplate(name: string, title: string): boolean {
  const parts = name.split(VALUE);
  if (parts.length < 2 || parts.join("").trim() === "") return false;
  const pattern = parts.map((part) => part.replaceAll(/[^\w\s]/g, "\\$&")).join(".*");
  return new RegExp(`^${pattern}$`, "s").test(title);
}

/** Where a table is longer than a line, its title stands behind it: `])("adds %i", …`. The lines up to its end. */
function tablesOf(text: string, title: string): readonly { readonly start: number; readonly end: number }[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    const isTitle = [...line.matchAll(/(["'`])((?:(?!\1).)+)\1/g)].some(([, , name]) => isTemplate(name!, title));
    if (!isTitle) return [];
    const indent = line.search(/\S/);
    const end = lines.findIndex((each, next) => next > at && each.trim() !== "" && each.search(/\S/) <= indent);
    return [{ start: at + 1, end: end < 0 ? lines.length : end + 1 }];
  });
}

const isInside = (inner: CodeSymbol, outer: CodeSymbol): boolean =>
  outer.start <= inner.start && inner.end <= outer.end;
