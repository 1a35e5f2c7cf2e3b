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
}

/** So many faults are tried for one test file. */
const MOST_FAULTS = 5;
/** One fault that is not noticed may be no fault at all. */
const LEAST_IGNORED = 2;

/** Plants faults in the lines that the work changed, until a test of each file that holds a target notices one. */
export async function plantFaults(
  work: PinnedContext,
  ran: TestedJudgement,
  {
    bench,
    time,
    units,
  }: {
    readonly bench: FaultBench;
    readonly time: TimeLimit;
    readonly units: readonly TestUnit[];
  },
): Promise<FaultVerdict> {
  const contested: ContestedTest[] = [];
  const notShown: string[] = [];
  let tries = 0;
  for (const unit of units) {
    const tests = targetsIn(work, unit);
    if (tests.length === 0) continue;
    const place = unit.file ?? placeOfFailure(tests[0]!);
    const faults = await changedFaults(work, bench, unit);
    const reported = [...ran.tests.passed.keys()].filter((name) => unit.file === null && !isChanged(work, name));
    const ignored: Fault[] = [];
    let isNoticed = false;
    for (const fault of faults.slice(0, MOST_FAULTS)) {
      if (isNoticed || work.control.signal.aborted || (tries > 0 && !time.hasTime())) break;
      tries++;
      const run = await bench.run(unit.file, plantFault(bench, fault));
      if (!allReport(run, [...tests, ...reported])) continue;
      isNoticed = tests.some((test) => run.failed.has(test));
      if (!isNoticed) ignored.push(fault);
    }
    if (isNoticed) continue;
    if (ignored.length >= LEAST_IGNORED && (await runsLine(bench, unit, tests[0]!, ignored[0]!)))
      contested.push(...tests.map((test) => ({ test, why: "cannot-fail" as const, ...fileOf(unit) })));
    else notShown.push(place);
  }
  return { contested, notShown };
}

const fileOf = ({ from }: TestUnit): { readonly file?: string } => (from === null ? {} : { file: from });

const targetsIn = ({ request }: PinnedContext, { file }: TestUnit): readonly string[] =>
  request.atBase.targets.filter((test) => test.includes(" > ") && (file === null || isOf(test, file)));

const isOf = (test: string, file: string): boolean => {
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
