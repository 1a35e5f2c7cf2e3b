import type { ContestedTest } from "../../core/gates/contested-test.ts";
import { readSymbols } from "../../parse/code/symbols.ts";
import { valuesIn } from "../../parse/code/plant-faults.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import type { FaultBench } from "./fault-bench.ts";
import { targetsIn } from "./planted-faults.ts";
import { productRule, withoutTests } from "./reached-code.ts";
import { type TestUnit, type TimeLimit, plantFault } from "./tripwire.ts";

/** So many values of one test are changed. */
const MOST_PLACES = 3;
/** One value that makes no difference may be a title or a time limit. */
const LEAST_IGNORED = 2;

/**
 * Changes the values in a target's own code: what it expects and what it gives. A target that passes whatever these are
 * does not compare: the work made its values equal to everything, or keeps the assertion from failing. Code that looks
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
  const isOwn = linesOf(from, text, target);
  const places = valuesIn(from, text, (line) => isOwn(line) && !product.has(lines[line - 1]!)).slice(0, MOST_PLACES);
  let ignored = 0;
  for (const [at, { faults }] of places.entries()) {
    let passes = 0;
    for (const fault of faults) {
      if (control.signal.aborted || (at + passes > 0 && unit.file === null && !time.hasTime(unit))) return false;
      const ran = await bench.run(unit.file, plantFault(bench, fault));
      if (ran.failed.has(target)) return false;
      // A title is a text too: with another one the test does not report.
      if (ran.passed.has(target)) passes++;
    }
    if (passes === faults.length) ignored++;
  }
  return ignored >= LEAST_IGNORED;
}

/** The lines of the test itself; all of the file where it is not found by its title. */
function linesOf(path: string, text: string, target: string): (line: number) => boolean {
  const title = target.slice(target.lastIndexOf(" > ") + 3);
  const short = title.replace(/^.*(?:::|\.)/, "");
  const own = readSymbols(text, path).symbols.find(({ name }) => name === title || name === short);
  return own === undefined ? () => true : (line) => own.start <= line && line <= own.end;
}
