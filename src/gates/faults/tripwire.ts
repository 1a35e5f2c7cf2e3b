import { isRecord } from "../../stdx/assert.ts";
import type { Fault } from "../../parse/code/plant-faults.ts";
import { withFault } from "../../parse/code/plant-faults.ts";
import type { GateRequest } from "../../ports/gate.ts";
import { isPlaceOf } from "../pinned/selected-tests.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import { type FaultBench, type FaultRun, allReport, testFileOf, faultsFor, reachedCode } from "./fault-bench.ts";

/** A fault that one test of the base is known to notice. */
export interface Tripwire {
  readonly test: string;
  readonly fault: Fault;
  /** The test is a target: it fails at the base, with the fault and without. */
  readonly isTarget: boolean;
  /** The target says something else with the fault. */
  readonly isTelling?: true;
}

/** What is known of some tests at the base. */
export interface BaseFaults {
  readonly tripwires: readonly Tripwire[];
  /** What targets say at the base, by name. */
  readonly messages: Readonly<Record<string, string>>;
  /** How long a run of these tests takes at least. */
  readonly leastMs?: number;
  /** A target with which the base passes, because it expects what the base gives. */
  readonly wrong?: WrongExpectation;
  /** Copies of a target that fail at the base whatever the product gives. */
  readonly compared?: ComparedCopies;
}

/** Changes of a target's own values after which it expects the value that made it fail. */
export interface WrongExpectation {
  readonly test: string;
  /** What it is called with these changes, where its title holds its values. */
  readonly called?: string;
  readonly edits: readonly Pick<Fault, "path" | "line" | "before" | "after">[];
}

/** A target with copies of it that do not ask the product: they show whether its comparisons can fail. */
export interface ComparedCopies {
  readonly test: string;
  readonly path: string;
  /** The target's own lines; copies are put behind these. */
  readonly block: string;
  readonly copies: readonly ComparedCopy[];
}

export interface ComparedCopy {
  readonly test: string;
  readonly text: string;
  /** What the base says of the plain data of its own value. Absent: a copy that fails with any comparison that works. */
  readonly said?: string;
}

/** Tests that are run together: those of one file, or all of them where a file cannot be run alone. */
export interface TestUnit {
  /** From the top of the repository; `null`: all. */
  readonly file: string | null;
  /** Where the code is looked for that these tests use; `null`: not known. */
  readonly from: string | null;
}

export interface TimeLimit {
  /** Is there time for one more run of these tests? */
  hasTime(unit: TestUnit): boolean;
}

/** So many faults are tried at the base. */
const MOST_TRIES = 4;

/**
 * Looks for faults that tests of the base notice: one that turns a passing test red; and for targets, which are red
 * already, one that makes them say something else, or stands where another makes them pass.
 */
export async function findTripwires(
  { options, request }: PinnedContext,
  bench: FaultBench,
  unit: TestUnit,
  time: TimeLimit,
  passedAtBase: readonly string[],
): Promise<BaseFaults> {
  const plain = isKnown(unit, request, passedAtBase)
    ? {
        passed: new Set(passedAtBase),
        failed: new Map<string, string>(),
        said: new Map<string, string>(),
        evidence: [],
      }
    : await bench.run(unit.file, null);
  const tests = [...plain.passed, ...plain.failed.keys()];
  const steady = [...plain.passed].filter((test) => !request.atBase.flaky.includes(test));
  const red = request.atBase.targets.filter((test) => plain.failed.has(test));
  const isSteady = async (test: string): Promise<boolean> =>
    (await bench.run(unit.file, null)).failed.get(test) === plain.failed.get(test);
  const text = unit.from === null ? "" : (bench.text(unit.from) ?? "");
  let open = tests.length === 0 ? [] : [...faultsFor(bench, reachedCode(bench, unit.from, options), text)];
  const tried: TriedFault[] = [];
  let green: Tripwire | null = null;
  let target: Tripwire | null = null;
  while (open.length > 0 && tried.length < MOST_TRIES && (tried.length === 0 || time.hasTime(unit))) {
    const fault = open.shift()!;
    const ran = await bench.run(unit.file, plantFault(bench, fault));
    tried.push({ fault, ran: allReport(ran, tests) ? ran : null });
    const turned = steady.find((test) => tried.at(-1)!.ran?.failed.has(test) === true);
    if (turned !== undefined) green ??= { test: turned, fault, isTarget: false };
    const noticed = red.map((test) => noticedBy(test, tried, plain)).find((each) => each !== null) ?? null;
    if (noticed !== null && (!noticed.isTelling || (await isSteady(noticed.test)))) target ??= noticed;
    if (red.length > 0 ? target !== null : green !== null) break;
    // Where a fault makes a target pass, others of the same line are what it notices.
    if (red.some((test) => tried.at(-1)!.ran?.passed.has(test) === true)) open = sameLineFirst(open, fault);
  }
  return {
    tripwires: [target, green].filter((each) => each !== null),
    messages: Object.fromEntries(red.map((test) => [test, plain.failed.get(test)!])),
  };
}

/** All tests of the unit are known to pass at the base: no run says more. */
const isKnown = ({ file }: TestUnit, { atBase }: GateRequest, passed: readonly string[]): boolean =>
  passed.length > 0 &&
  ![...(atBase.failing ?? []), ...atBase.flaky].some((test) => file === null || isPlaceOf(test, file));

/** A fault that was tried at the base; `null` where the program did not load with it. */
interface TriedFault {
  readonly fault: Fault;
  readonly ran: FaultRun | null;
}

const isSameLine = (one: Fault, other: Fault): boolean => one.path === other.path && one.line === other.line;

const sameLineFirst = (faults: readonly Fault[], line: Fault): Fault[] => [
  ...faults.filter((each) => isSameLine(each, line)),
  ...faults.filter((each) => !isSameLine(each, line)),
];

/** The fault by which a target that fails at the base shows that it watches a line. */
function noticedBy(test: string, tried: readonly TriedFault[], plain: FaultRun): Tripwire | null {
  const red = tried.filter(({ ran }) => ran?.failed.has(test) === true);
  const other = red.find(({ ran }) => ran!.failed.get(test) !== plain.failed.get(test));
  if (other !== undefined) return { test, fault: other.fault, isTarget: true, isTelling: true };
  const passing = tried.filter(({ ran }) => ran?.passed.has(test) === true);
  const beside = red.find(({ fault }) => passing.some((each) => isSameLine(each.fault, fault)));
  return beside === undefined ? null : { test, fault: beside.fault, isTarget: true };
}

/** The edit that plants a fault; `null` where its line is not there as it was. */
export function plantFault(
  bench: FaultBench,
  fault: Pick<Fault, "path" | "line" | "before" | "after">,
): { readonly path: string; readonly text: string } | null {
  const text = withFault(bench.text(fault.path) ?? "", fault);
  return text === null ? null : { path: fault.path, text };
}

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
  { test, fault }: Tripwire,
  { messages }: BaseFaults,
): Promise<TripwireVerdict> {
  const edit = plantFault(bench, fault);
  if (edit === null) return { type: "unknown" };
  const ran = await bench.run(unit.file, edit);
  if (ran.failed.has(test)) return { type: "noticed" };
  if (!ran.passed.has(test) || work.control.signal.aborted) return { type: "unknown" };
  const again = await bench.run(unit.file, edit);
  if (!again.passed.has(test)) return { type: again.failed.has(test) ? "noticed" : "unknown" };
  const others = await otherFaults(work, bench, unit, { test, fault, message: messages[test] ?? null });
  const isRun = others.isNoticed ? false : await runsLine(bench, unit, [test], fault);
  if (others.isNoticed)
    return (await isBypassed(work, bench, unit, { test, fault, message: messages[test] ?? null }))
      ? { type: "ignored", isRun, ran: again }
      : { type: "noticed" };
  // Code that no test runs any more says nothing; without a second fault nothing is shown.
  return isRun || others.ignored > 0 ? { type: "ignored", isRun, ran: again } : { type: "unknown" };
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
const MOST_OTHERS = 3;

/** The work may have left the line without use: then the test notices another fault. */
async function otherFaults(
  { options, changed }: PinnedContext,
  bench: FaultBench,
  unit: TestUnit,
  { test, fault: known, message }: { readonly test: string; readonly fault: Fault; readonly message: string | null },
): Promise<{ readonly isNoticed: boolean; readonly ignored: number }> {
  const text = unit.from === null ? "" : (bench.text(unit.from) ?? "");
  const reached = reachedCode(bench, unit.from, options);
  const order = [
    ...reached.filter((path) => changed.includes(path)),
    ...reached.filter((path) => !changed.includes(path)),
  ];
  const faults = faultsFor(bench, order, text).filter(
    ({ path, before, after }) => path !== known.path || before !== known.before || after !== known.after,
  );
  let ignored = 0;
  for (const fault of faults.slice(0, MOST_OTHERS)) {
    const ran = await bench.run(unit.file, plantFault(bench, fault));
    const said = ran.failed.get(test);
    // What a target said at the base it says again when the fault only takes back what the work did.
    if (said !== undefined && said !== message) return { isNoticed: true, ignored };
    if (ran.passed.has(test)) ignored++;
  }
  return { isNoticed: false, ignored };
}

/** Does one of the tests run this line? An error there makes it fail, whatever becomes of the line's result. */
export async function runsLine(
  bench: FaultBench,
  unit: TestUnit,
  tests: readonly string[],
  fault: Fault,
): Promise<boolean> {
  for (const after of fault.probes) {
    const edit = plantFault(bench, { ...fault, after });
    if (edit === null) continue;
    const { failed } = await bench.run(unit.file, edit);
    if (tests.some((test) => failed.has(test))) return true;
  }
  return false;
}

/** The tests of a file alone where its runner can be told so. */
export function unitOf(bench: FaultBench, test: string): TestUnit {
  const from = testFileOf(bench, test) ?? fileNaming(bench, test);
  return { file: from !== null && bench.isSelectable(from) ? from : null, from };
}

/** Some runners name a test without its file: it is the file that holds its title. */
function fileNaming({ paths, text }: FaultBench, test: string): string | null {
  const title = test.slice(test.lastIndexOf(" > ") + 3).replace(/^.*(?:::|\.|\/)/, "");
  if (title === "") return null;
  const fits = paths.filter((path) => /test|spec/i.test(path)).filter((path) => text(path)?.includes(title) === true);
  return fits[0] ?? null;
}

export function readBaseFaults(kept: unknown): BaseFaults | null {
  if (!isRecord(kept) || !Array.isArray(kept["tripwires"]) || !isRecord(kept["messages"])) return null;
  return kept as unknown as BaseFaults;
}
