import type { PinnedContext } from "../pinned/pinned-run.ts";
import { type FaultBench, openBench } from "./fault-bench.ts";
import { readSuiteResults } from "../../core/gates/test-names.ts";
import { isPlaceOf } from "../pinned/selected-tests.ts";
import {
  type BaseFaults,
  type TestUnit,
  type TimeLimit,
  type Tripwire,
  findTripwires,
  plantFault,
  readBaseFaults,
  unitOf,
} from "./tripwire.ts";
import { findComparedCopies } from "./compared-copies.ts";
import { findWrongExpectation } from "./wrong-expectation.ts";

/** Faults that the base's tests detect. Determined once per base, and stored. */
export interface BaseRuns {
  /**
   * Returns what is known of some tests, and finds out the rest within the time limit; `null` if there is no time.
   * Default: no limit.
   */
  of(unit: TestUnit, time?: TimeLimit): Promise<BaseFaults | null>;
  /** Whether the base's test still detects the fault. */
  isNoticed(unit: TestUnit, tripwire: Tripwire): Promise<boolean>;
  bench(): Promise<FaultBench>;
  close(): Promise<void>;
}

/** The time limit for finding faults at the base; at least one is tried. */
const LOOKED_FOR_MS = 30_000;
/** The time limit for finding a value of the base that a target may be changed to expect. */
const WRONG_VALUE_MS = 10_000;

export function openBaseRuns(work: PinnedContext, limitMs: number): BaseRuns {
  const { options, request } = work;
  const { store, clock } = options.faults!;
  let opened: Promise<FaultBench> | null = null;
  const bench = (): Promise<FaultBench> => (opened ??= openBench(work, { at: "base" }, limitMs));
  return {
    async of(unit, limit) {
      const tests = JSON.stringify([unit.file ?? "", request.atBase.targets]);
      const kept = readBaseFaults(await store.find(request.base, tests));
      if (kept !== null) return kept;
      if (limit?.hasTime(unit) === false) return null;
      const end = clock.now() + LOOKED_FOR_MS;
      const time = { hasTime: (of: TestUnit) => clock.now() < end && limit?.hasTime(of) !== false };
      // Without a time limit, start with a plain run: its duration tells when a fault that never ends is given up.
      const known = limit === undefined ? [] : await passedAtBase(work);
      const passed = known.filter((test) => unit.file === null || isPlaceOf(test, unit.file));
      const found = await findTripwires(work, await bench(), unit, time, passed);
      const leastMs = (await bench()).leastMs(unit.file);
      // Incomplete results are not stored, because a later search may find more.
      const isComplete = found.tripwires.length > 0 || time.hasTime(unit);
      // A file that runs alone takes little time; all tests together take as long as the suite.
      const hasTime = unit.file !== null || time.hasTime(unit);
      const compared = hasTime ? await comparisonsAtBase(work, await bench(), unit) : {};
      const all = { ...found, ...compared, ...leastIn(leastMs) };
      if (!work.control.signal.aborted && isComplete) await store.keep(request.base, tests, all);
      return all;
    },
    async isNoticed(unit, { test, fault, isTelling }) {
      const own = await bench();
      const edit = plantFault(own, fault);
      if (edit === null) return false;
      const said = (await own.run(unit.file, edit)).failed.get(test);
      return said !== undefined && (isTelling !== true || said !== (await this.of(unit))?.messages[test]);
    },
    bench,
    close: async () => (await opened)?.close(),
  };
}

const leastIn = (ms: number | null): Pick<BaseFaults, "leastMs"> => (ms === null ? {} : { leastMs: ms });

/**
 * Returns evidence that a target compares values: copies of it or, if none can be written, values of the base that it
 * may be changed to expect.
 */
async function comparisonsAtBase(
  work: PinnedContext,
  bench: FaultBench,
  unit: TestUnit,
): Promise<Pick<BaseFaults, "compared" | "wrong">> {
  const { clock } = work.options.faults!;
  const compared = await findComparedCopies(work, bench, unit, clock);
  if (compared !== null) return { compared };
  const until = clock.now() + WRONG_VALUE_MS;
  const wrong = await findWrongExpectation(work, bench, unit, { hasTime: () => clock.now() < until });
  return wrong === null ? {} : { wrong };
}

/** Returns the names of tests that passed at the base. */
export async function passedAtBase({ options, request }: PinnedContext): Promise<readonly string[]> {
  const kept = request.baseRun?.tests === undefined ? null : await options.evidence.read(request.baseRun.tests);
  const known = kept === null ? null : readSuiteResults(kept);
  return known?.isNamed === true ? [...known.passed.keys()].filter((test) => test.includes(" > ")) : [];
}

/** Looks for faults that a target and a passing test detect, while an agent works. */
export async function prepareBaseFaults(work: PinnedContext): Promise<void> {
  const { options, request } = work;
  if (options.faults === undefined || options.experimentRunner === null) return;
  const targets = request.atBase.targets.filter((test) => test.includes(" > "));
  const tests = [...targets.slice(0, 1), ...(await passedAtBase(work)).slice(0, 1)];
  if (tests.length === 0) return;
  const base = openBaseRuns(work, Math.min(request.timeoutMs, 5 * 60_000));
  const bench = await openBench(work, { at: "base" }, request.timeoutMs);
  try {
    for (const test of tests) if (!work.control.signal.aborted) await base.of(unitOf(bench, test));
  } finally {
    await bench.close();
    await base.close();
  }
}
