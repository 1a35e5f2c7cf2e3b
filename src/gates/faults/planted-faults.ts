import { placeOfFailure } from "../../core/gates/base-failures.ts";
import type { ContestedTest } from "../../core/gates/contested-test.ts";
import type { Fault } from "../../parse/code/plant-faults.ts";
import type { TestedJudgement } from "../checks/checks-gate.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import { type FaultBench, allReport } from "./fault-bench.ts";
import { faultsFor, productRule, reachedCode } from "./reached-code.ts";
import { type TestUnit, type TimeLimit, plantFault, runsLine } from "./tripwire.ts";

/** What planted faults say of the tests that the work is measured by. */
export interface FaultVerdict {
  readonly contested: readonly ContestedTest[];
  /** Test files, or tests, that were not shown to fail, each with the reason. */
  readonly notShown: readonly string[];
  /** A test noticed a fault. */
  readonly isShown: boolean;
}

/** Tests that are run together, and what it means when none of them notices a fault. */
export interface MeasuredTests {
  readonly unit: TestUnit;
  readonly tests: readonly string[];
  /** They hold a target, or the work added them: then they must notice one. For others it is only said. */
  readonly mustNotice: boolean;
}

/** So many faults are tried for one test file. */
const MOST_FAULTS = 5;
/** One fault that is not noticed may be no fault at all. */
const LEAST_IGNORED = 2;

/** Plants faults in the lines that the work changed, until a test of each file notices one. */
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
      // Where tests must notice one, one fault is tried whatever it takes.
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

/** Do the tests run the lines of enough of these faults? */
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

const fileOf = ({ from }: TestUnit): { readonly file?: string } => (from === null ? {} : { file: from });

export const targetsIn = ({ request }: PinnedContext, { file }: TestUnit): readonly string[] =>
  request.atBase.targets.filter((test) => test.includes(" > ") && (file === null || isOf(test, file)));

export const isOf = (test: string, file: string): boolean => {
  const place = placeOfFailure(test);
  return file === place || file.endsWith(`/${place}`);
};

const isChanged = ({ changed }: PinnedContext, name: string): boolean => changed.some((path) => isOf(name, path));

/** Faults in the lines of the product that the work added or changed, those that the test uses first. */
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
  // A fault that only brings a line of the base back says what the base has said.
  const restores = ({ path, after }: Fault): boolean => before.get(path)!.has(after);
  return [...faults.filter((fault) => !restores(fault)), ...faults.filter(restores)];
}
