import { isRecord } from "../../stdx/assert.ts";
import type { Fault } from "../../parse/code/plant-faults.ts";
import { withFault } from "../../parse/code/plant-faults.ts";
import type { GateRequest } from "../../ports/gate.ts";
import { isPlaceOf } from "../pinned/selected-tests.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import { type FaultBench, type FaultRun, allReport, testFileOf, faultsFor, reachedCode } from "./fault-bench.ts";

/** A fault that one test of the base is known to detect. */
export interface Tripwire {
  readonly test: string;
  readonly fault: Fault;
  /** Whether the test is a target: it fails at the base, with and without the fault. */
  readonly isTarget: boolean;
  /** Whether the target fails with another message because of the fault. */
  readonly isTelling?: true;
  /** What it says is not what its comparison says of another value: the fault may be an error for every test. */
  readonly isError?: true;
}

/** What is known of some tests at the base. */
export interface BaseFaults {
  readonly tripwires: readonly Tripwire[];
  /** The messages of targets at the base, by name. */
  readonly messages: Readonly<Record<string, string>>;
  /** The shortest time of a run of these tests. */
  readonly leastMs?: number;
  /** Changes with which a target passes at the base, because it then expects the base's result. */
  readonly wrong?: WrongExpectation;
  /** Copies of a target that fail at the base, whatever the product returns. */
  readonly compared?: ComparedCopies;
}

/** Changes of a target's own literals, after which it expects the base's wrong result. */
export interface WrongExpectation {
  readonly test: string;
  /** The test's name after these changes, if its title contains its values. */
  readonly called?: string;
  readonly edits: readonly Pick<Fault, "path" | "line" | "before" | "after">[];
}

/** Copies of a target that do not call the product: they show whether its comparisons can fail. */
export interface ComparedCopies {
  readonly test: string;
  readonly path: string;
  /** The target's own lines; copies are inserted after them. */
  readonly block: string;
  readonly copies: readonly ComparedCopy[];
}

export interface ComparedCopy {
  readonly test: string;
  readonly text: string;
  /** The base's message for the right value as plain data. Absent: the copy fails with every working comparison. */
  readonly said?: string;
}

/** Tests that run together: those of one file, or all tests if the file cannot run alone. */
export interface TestUnit {
  /** Relative to the top of the repository; `null`: all tests. */
  readonly file: string | null;
  /** The file from which the used code is searched; `null`: unknown. */
  readonly from: string | null;
}

export interface TimeLimit {
  /** Whether there is time for one more run of these tests. */
  hasTime(unit: TestUnit): boolean;
}

/** How many faults are tried at the base. */
const MOST_TRIES = 4;

/**
 * Finds faults that tests of the base detect. A passing test must fail with the fault. A target already fails, so the
 * fault must change its message, or be on a line where another fault makes it pass.
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
    if (noticed !== null && (!noticed.isTelling || (await isSteady(noticed.test)))) {
      if (noticed.isError !== true) target = noticed;
      else target ??= noticed;
    }
    if (red.length > 0 ? target !== null && target.isError !== true : green !== null) break;
    // Where a fault makes a target pass, others of the same line are what it notices.
    if (red.some((test) => tried.at(-1)!.ran?.passed.has(test) === true)) open = sameLineFirst(open, fault);
  }
  return {
    tripwires: [target, green].filter((each) => each !== null),
    messages: Object.fromEntries(red.map((test) => [test, plain.failed.get(test)!])),
  };
}

/** Whether all tests of the unit are known to pass at the base, so that a run adds nothing. */
const isKnown = ({ file }: TestUnit, { atBase }: GateRequest, passed: readonly string[]): boolean =>
  passed.length > 0 &&
  ![...(atBase.failing ?? []), ...atBase.flaky].some((test) => file === null || isPlaceOf(test, file));

/** A fault that was tried at the base; `ran` is `null` if the program did not load with it. */
interface TriedFault {
  readonly fault: Fault;
  readonly ran: FaultRun | null;
}

const isSameLine = (one: Fault, other: Fault): boolean => one.path === other.path && one.line === other.line;

const sameLineFirst = (faults: readonly Fault[], line: Fault): Fault[] => [
  ...faults.filter((each) => isSameLine(each, line)),
  ...faults.filter((each) => !isSameLine(each, line)),
];

/** Returns the fault which shows that a target, which fails at the base, depends on a line. */
function noticedBy(test: string, tried: readonly TriedFault[], plain: FaultRun): Tripwire | null {
  const red = tried.filter(({ ran }) => ran?.failed.has(test) === true);
  const message = plain.failed.get(test) ?? "";
  const telling = red.filter(({ ran }) => ran!.failed.get(test) !== message);
  const compared = telling.find(({ ran }) => isSameButValues(ran!.failed.get(test)!, message));
  if (compared !== undefined) return { test, fault: compared.fault, isTarget: true, isTelling: true };
  const passing = tried.filter(({ ran }) => ran?.passed.has(test) === true);
  const beside = red.find(({ fault }) => passing.some((each) => isSameLine(each.fault, fault)));
  if (beside !== undefined && !telling.includes(beside)) return { test, fault: beside.fault, isTarget: true };
  const [error] = telling;
  return error === undefined ? null : { test, fault: error.fault, isTarget: true, isTelling: true, isError: true };
}

/** Two messages of one comparison: only texts and numbers in them differ. */
export const isSameButValues = (one: string, other: string): boolean => withoutValues(one) === withoutValues(other);

const withoutValues = (said: string): string =>
  said.replaceAll(/(["'`])(?:(?!\1)[^\n])*\1/g, "").replaceAll(/[^\p{L}]+/gu, " ");

/** The edit that plants a fault; `null` where its line is not there as it was. */
export function plantFault(
  bench: FaultBench,
  fault: Pick<Fault, "path" | "line" | "before" | "after">,
): { readonly path: string; readonly text: string } | null {
  const text = withFault(bench.text(fault.path) ?? "", fault);
  return text === null ? null : { path: fault.path, text };
}

/** Does one of the tests run this line? An error there makes it fail, whatever becomes of the line's result. */
export async function runsLine(
  bench: FaultBench,
  unit: TestUnit,
  tests: readonly string[],
  fault: Fault,
  isError: (said: string) => boolean = () => true,
): Promise<boolean> {
  for (const after of fault.probes) {
    const edit = plantFault(bench, { ...fault, after });
    if (edit === null) continue;
    const { failed } = await bench.run(unit.file, edit);
    if (tests.some((test) => failed.has(test) && isError(failed.get(test)!))) return true;
  }
  return false;
}

/** Returns the unit of a test: its file alone if the runner supports that. */
export function unitOf(bench: FaultBench, test: string): TestUnit {
  const from = testFileOf(bench, test) ?? fileNaming(bench, test);
  return { file: from !== null && bench.isSelectable(from) ? from : null, from };
}

/** Returns the file that contains a test's title, because some runners name a test without its file. */
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
