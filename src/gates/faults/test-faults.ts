import type { ContestedTest } from "../../core/gates/contested-test.ts";
import type { CodeSymbol } from "../../core/blame/change.ts";
import { readSymbols } from "../../parse/code/symbols.ts";
import { valuesIn } from "../../parse/code/plant-faults.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import type { FaultBench } from "./fault-bench.ts";
import { targetsIn } from "./planted-faults.ts";
import { productRule, withoutTests } from "./reached-code.ts";
import { type TestUnit, type TimeLimit, plantFault } from "./tripwire.ts";

/** So many values of one test are changed. */
const MOST_PLACES = 6;
/** One value that makes no difference may be a title or a time limit. */
const LEAST_IGNORED = 2;

/**
 * Changes the values in a target's own code: what it expects and what it gives. What is expected mostly stands in the
 * last lines, so these come first: what a test is given may make no difference to it. A target that passes whatever its
 * values are does not compare: the work made its values equal to everything, or keeps the assertion from failing. Code that looks
 * at its own text does not see these faults, because they are planted in the test.
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
    // A file that runs alone takes little time; all tests together take as long as the suite.
    if (unit.file === null && !time.hasTime(unit)) continue;
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
  // Of a source file that holds tests, only these are changed.
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
      if (control.signal.aborted || (at + passes > 0 && unit.file === null && !time.hasTime(unit))) return false;
      const ran = await bench.run(unit.file, plantFault(bench, fault));
      // Where the lines of the target are not known, a value may be another test's: that one compares.
      if (ran.failed.has(target) || (!own.isCertain && ran.failed.size > 0)) return false;
      // A title is a text too: with another one the test does not report.
      if (ran.passed.has(target)) passes++;
    }
    if (passes === faults.length) ignored++;
  }
  return ignored >= LEAST_IGNORED;
}

/** The lines of the test itself: of all tests with its title, and of the whole file where none has it. */
function linesOf(
  path: string,
  text: string,
  target: string,
): { has(line: number): boolean; readonly isCertain: boolean } {
  const titles = target.split(" > ").slice(1);
  const title = titles.at(-1) ?? target;
  const short = title.replace(/^.*(?:::|\.)/, "");
  const { symbols } = readSymbols(text, path);
  const named = symbols.filter(({ name }) => name === title || name === short);
  // Of tests with one title, it is the one in the groups that its name tells.
  const isIn = (test: CodeSymbol, group: string): boolean =>
    symbols.some(({ name, start, end }) => name === group && start <= test.start && test.end <= end);
  const inGroups = named.filter((test) => titles.slice(0, -1).every((group) => isIn(test, group)));
  const own = inGroups.length > 0 ? inGroups : named;
  return {
    has: (line) => own.length === 0 || own.some(({ start, end }) => start <= line && line <= end),
    isCertain: own.length === 1,
  };
}
