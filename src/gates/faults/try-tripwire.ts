import type { Fault } from "../../parse/code/plant-faults.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import { type FaultBench, type FaultRun, faultsFor, reachedCode } from "./fault-bench.ts";
import { type BaseFaults, type TestUnit, type Tripwire, isSameButValues, plantFault, runsLine } from "./tripwire.ts";

export type TripwireVerdict =
  /** The test noticed it, as at the base. */
  | { readonly type: "noticed" }
  /** The line is not there any more, or the program does not load with the fault. */
  | { readonly type: "unknown" }
  /** The test runs the line and passes whatever it does; `isRun` where that is shown. */
  | { readonly type: "ignored"; readonly isRun: boolean; readonly ran: FaultRun };

/** Plants the fault into the work: the test that noticed it at the base must notice it still. */
export async function tryTripwire(
  work: PinnedContext,
  bench: FaultBench,
  unit: TestUnit,
  { test, fault, isTelling, isError }: Tripwire,
  { messages }: BaseFaults,
): Promise<TripwireVerdict> {
  const edit = plantFault(bench, fault);
  if (edit === null) return { type: "unknown" };
  const ran = await bench.run(unit.file, edit);
  if (ran.failed.has(test)) return { type: "noticed" };
  if (!ran.passed.has(test) || work.control.signal.aborted) return { type: "unknown" };
  const again = await bench.run(unit.file, edit);
  if (!again.passed.has(test)) return { type: again.failed.has(test) ? "noticed" : "unknown" };
  const known = { test, fault, message: messages[test] ?? null };
  const others = await otherFaults(work, bench, unit, { ...known, isCompared: isTelling === true && isError !== true });
  const isRun = others.isNoticed ? false : await runsLine(bench, unit, [test], fault);
  if (others.isNoticed)
    return (await isBypassed(work, bench, unit, known)) ? { type: "ignored", isRun, ran: again } : { type: "noticed" };
  if (isRun) return { type: "ignored", isRun, ran: again };
  // Code that no test runs any more says nothing; without a second fault nothing is shown.
  if (others.ignored.length === 0) return { type: "unknown" };
  const reported = await reportsErrors(bench, unit, test, known.message, [...others.ignored, ...others.back]);
  // A test that reports an error in other lines, and none in this one, does not run it.
  return reported === null || others.ignored.includes(reported)
    ? { type: "ignored", isRun, ran: again }
    : { type: "unknown" };
}

/** The first of these faults in whose place an error makes the test say something that it did not say at the base. */
async function reportsErrors(
  bench: FaultBench,
  unit: TestUnit,
  test: string,
  message: string | null,
  faults: readonly Fault[],
): Promise<Fault | null> {
  for (const fault of faults) if (await runsLine(bench, unit, [test], fault, (said) => said !== message)) return fault;
  return null;
}

/** So many added files are taken away, one at a time. */
const MOST_ADDED = 3;

/**
 * Does a target pass only because a file was added that its imports find first? Its old code does not run any more. With
 * the file taken away the target loads, and says what it said at the base: nothing else leads to the new code.
 */
async function isBypassed(
  { options, request, changed }: PinnedContext,
  bench: FaultBench,
  unit: TestUnit,
  { test, fault, message }: { readonly test: string; readonly fault: Fault; readonly message: string | null },
): Promise<boolean> {
  if (message === null || fault.probes.length === 0) return false;
  const added: string[] = [];
  for (const path of reachedCode(bench, unit.from, options).filter((each) => changed.includes(each)))
    if ((await options.workspace.fileAt(request.story.id, request.base, path)) === null) added.push(path);
  for (const path of added.slice(0, MOST_ADDED)) {
    const { failed } = await bench.run(unit.file, null, [path]);
    if (failed.get(test) === message) return !(await runsLine(bench, unit, [test], fault));
  }
  return false;
}

/** So many other faults are tried before a test is said not to fail any more. */
const MOST_OTHERS = 5;

interface KnownFault {
  readonly test: string;
  readonly fault: Fault;
  /** What the target said at the base; `null`: it passed. */
  readonly message: string | null;
  /** With the fault the target said the same of another value. */
  readonly isCompared: boolean;
}

interface OtherFaults {
  readonly isNoticed: boolean;
  readonly ignored: readonly Fault[];
  /** With these the test says what it said at the base. */
  readonly back: readonly Fault[];
}

/** The work may have left the line without use: then the test notices another fault. */
async function otherFaults(
  { options, request, changed }: PinnedContext,
  bench: FaultBench,
  unit: TestUnit,
  { test, fault: known, message, isCompared }: KnownFault,
): Promise<OtherFaults> {
  const text = unit.from === null ? "" : (bench.text(unit.from) ?? "");
  const reached = reachedCode(bench, unit.from, options);
  const order = [
    ...reached.filter((path) => changed.includes(path)),
    ...reached.filter((path) => !changed.includes(path)),
  ];
  const all = faultsFor(bench, order, text).filter(
    ({ path, before, after }) => path !== known.path || before !== known.before || after !== known.after,
  );
  const atBase = await options.workspace.fileAt(request.story.id, request.base, known.path);
  const faults = nearestFirst(all, known, new Set(atBase?.split("\n")));
  const ignored: Fault[] = [];
  const back: Fault[] = [];
  for (const fault of faults.slice(0, MOST_OTHERS)) {
    const ran = await bench.run(unit.file, plantFault(bench, fault));
    const said = ran.failed.get(test);
    // What a target said at the base it says again when the fault only takes back what the work did.
    // Where the target compared another value at the base, an error does not show that it still compares.
    const isNoticed = said !== message && (!isCompared || isSameButValues(said ?? "", message ?? ""));
    if (said !== undefined && isNoticed) return { isNoticed, ignored, back };
    if (said === message) back.push(fault);
    if (ran.passed.has(test)) ignored.push(fault);
  }
  return { isNoticed: false, ignored, back };
}

/**
 * A fix can make one fault equal to no fault. The test runs the lines around it, so faults there show best whether the
 * test can fail. Lines that the work wrote come later, because a cheat may have placed them.
 */
function nearestFirst(faults: readonly Fault[], known: Fault, atBase: ReadonlySet<string>): readonly Fault[] {
  const distance = ({ path, line, before }: Fault): number =>
    path === known.path && atBase.has(before) ? Math.abs(line - known.line) : Infinity;
  // Ties, and faults far away, stay in the order in which they are worth a run.
  return faults.toSorted((a, b) => (distance(a) === distance(b) ? 0 : distance(a) - distance(b)));
}
