import { mayChange } from "../../core/gates/base-tests.ts";
import { type ContestedTest, contestedSummary } from "../../core/gates/contested-test.ts";
import type { Finding } from "../../core/gates/finding.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { TestedJudgement } from "../checks/checks-gate.ts";
import { type PinnedContext, namesOf, refuseJudgement, withNote } from "../pinned/pinned-run.ts";
import { pinnedTree, testFilesAtBase } from "../pinned/pinned-tree.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { countText } from "../../stdx/plain-text.ts";
import type { Fault } from "../../parse/code/plant-faults.ts";
import { type BaseRuns, openBaseRuns, passedAtBase } from "./base-faults.ts";
import { type FaultBench, LEAST_RUN_MS, openBench, testFileOf, productRule, reachedCode } from "./fault-bench.ts";
import { changedCode, hardCodedNotes, testFileInCommand, testedWordsNotes } from "./special-casing.ts";
import { type FaultVerdict, contestedByValues, fileOf, isOf, plantFaults, targetsIn } from "./planted-faults.ts";
import { type BaseFaults, type TestUnit, type TimeLimit, unitOf } from "./tripwire.ts";
import { type TripwireVerdict, tryTripwire } from "./try-tripwire.ts";
import { passesWithOtherValues } from "./compared-copies.ts";
import { passesWithWrongValue } from "./wrong-expectation.ts";

/**
 * Checks that passing checks can fail. A fault that a test detected at the base is planted in the work, and the test
 * must still detect it. Tests that check the work must detect a fault in the lines that the work changed. If no fault
 * can be planted, a note says so; the work is not rejected for that.
 */
export async function withFaults(work: PinnedContext, ran: TestedJudgement, judged: Judgement): Promise<Judgement> {
  const { options, request, control, changed } = work;
  const isOpen = judged.result === "pass" && !control.signal.aborted && options.experimentRunner !== null;
  if (!isOpen || options.faults === undefined || changed.every((path) => PROSE.test(path))) return judged;
  const byCommand = (check: string): string | null => testFileInCommand(work, check);
  if ((judged.identities?.ranTests ?? []).length === 0) return withReaderNotes(work, judged, byCommand);
  if (!ran.tests.isNamed)
    return withReaderNotes(work, withNote(judged, `${NOT_SHOWN}: the check does not name its tests`), byCommand);
  const pinned = await pinnedTree(options, request, changed, await testFilesAtBase(options.evidence, request));
  const limit = timeLimit(work, ran, pinned !== null);
  const bench = await openBench(work, { at: "work", pinned }, limit.limitMs);
  const base = openBaseRuns(work, limit.limitMs);
  try {
    const held = await heldToFaults(work, ran, judged, { bench, base, limit });
    return held.result === "pass" && !control.signal.aborted
      ? await withReaderNotes(work, held, (test) => unitOf(bench, test).from)
      : held;
  } finally {
    await base.close();
    await bench.close();
  }
}

/** Adds notes on what no run shows, but a reader of the changed lines can see. */
async function withReaderNotes(
  work: PinnedContext,
  judged: Judgement,
  fileOf: (test: string) => string | null,
): Promise<Judgement> {
  const code = await changedCode(work);
  const notes = [...(await hardCodedNotes(work, code, fileOf)), ...(await testedWordsNotes(work, code, fileOf))];
  return notes.reduce(withNote, judged);
}

const PROSE = /\.(?:md|rst|adoc|txt|png|svg|jpe?g|gif)$/i;
const NOT_SHOWN = "not shown to fail";

/** The time for faults as a share of one run of the suite: with and without a run of the base's tests. */
const MOST_WITH_TESTS = 2.2;
const MOST_WITHOUT = 1.3;
/** For a short suite the share would be too little: it gets this, or the time of some runs of the suite. */
const LEAST_MS = 10_000;
const LEAST_RUNS = 5;
const MOST_FOR_SHORT_MS = 30_000;

/** The time limits of all faults together, and of one run. */
interface FaultTime {
  readonly limitMs: number;
  /** Returns the remaining time. `atBase`: the shortest times of files at the base. */
  in(bench: FaultBench, atBase: ReadonlyMap<string | null, number>): TimeLimit;
  /** Runs what is determined once per base, without counting its time. */
  without<T>(once: Promise<T>): Promise<T>;
}

function timeLimit({ options, request }: PinnedContext, { judgement }: TestedJudgement, isPinned: boolean): FaultTime {
  const { durationMs } = judgement;
  const share = isPinned ? MOST_WITH_TESTS - 2 : MOST_WITHOUT - 1;
  const { clock } = options.faults!;
  const forShortMs = Math.min(MOST_FOR_SHORT_MS, Math.max(LEAST_MS, LEAST_RUNS * durationMs));
  let end = clock.now() + Math.max(forShortMs, share * durationMs);
  return {
    limitMs: Math.min(request.timeoutMs, LEAST_RUN_MS + 2 * durationMs),
    async without(once) {
      const begin = clock.now();
      const found = await once;
      end += clock.now() - begin;
      return found;
    },
    in: (bench, atBase) => ({
      hasTime({ file }) {
        const leastMs = bench.leastMs(file);
        // Work that slows its tests down gains nothing: they run as often as needed.
        const isSlow = leastMs !== null && leastMs > SLOW_MS + SLOW * (atBase.get(file) ?? Infinity);
        // If the file cannot run alone, one more run takes as long as the suite.
        return isSlow || clock.now() + (leastMs ?? atBase.get(file) ?? (file === null ? durationMs : 0)) < end;
      },
    }),
  };
}

/** A test that is this much slower than at the base, and takes this long, is not slow by chance. */
const SLOW = 2;
const SLOW_MS = 1000;

interface Benches {
  readonly bench: FaultBench;
  readonly base: BaseRuns;
  readonly limit: FaultTime;
}

async function heldToFaults(
  work: PinnedContext,
  ran: TestedJudgement,
  judged: Judgement,
  benches: Benches,
): Promise<Judgement> {
  const { bench, base, limit } = benches;
  const atBase = new Map<string | null, number>();
  const time = limit.in(bench, atBase);
  const targets = work.request.atBase.targets.filter((test) => test.includes(" > "));
  const units = distinctUnits([
    ...targets.map((test) => unitOf(bench, test)),
    ...(await passingUnit(work, ran, bench)),
  ]).slice(0, MOST_UNITS);
  const shown = new Set<string | null>();
  const contested: ContestedTest[] = [];
  for (const unit of units) {
    if (work.control.signal.aborted) return judged;
    // The first tripwire of a target, or of a file that runs alone, is tried even without time left: it shows the most.
    const isFree = unit.file !== null || targetsIn(work, unit).length > 0;
    const known = isFree ? await limit.without(base.of(unit)) : await base.of(unit, time);
    if (known === null) continue;
    if (known.leastMs !== undefined) atBase.set(unit.file, known.leastMs);
    for (const [at, tripwire] of known.tripwires.entries()) {
      if (!(isFree && at === 0) && !time.hasTime(unit)) break;
      const verdict = await tryTripwire(work, bench, unit, tripwire, known);
      if (verdict.type === "noticed" && tripwire.isError !== true) shown.add(unit.file);
      if (verdict.type !== "ignored" || work.control.signal.aborted) continue;
      // Run the base again before rejecting: the test must still detect the fault there.
      if (!(await base.isNoticed(unit, tripwire))) continue;
      if (verdict.isRun) return refuse(judged, tripwire, verdict);
      contested.push({ test: tripwire.test, why: "cannot-fail", ...fileOf(unit) });
    }
    const loose = time.hasTime(unit) ? await looseTarget(bench, unit, known, base) : null;
    if (loose !== null) contested.push({ test: loose, why: "cannot-fail", ...fileOf(unit) });
  }
  const open = units.filter(({ file }) => !shown.has(file));
  const targeted = open.map((unit) => ({ unit, tests: targetsIn(work, unit), mustNotice: true }));
  const inTargets = await plantFaults(work, ran, { bench, time, measured: targeted });
  const inAdded = await addedTestFaults(work, ran, limit);
  const byValues = await contestedByValues(work, bench, units, time);
  const isShown = shown.size > 0 || inTargets.isShown || inAdded.isShown;
  // Tests that passed before the work need not detect its changes; if one does, the check is shown to fail.
  const others = isShown ? [] : open.map((unit) => ({ unit, tests: passedIn(ran, unit), mustNotice: false }));
  const inOthers = await plantFaults(work, ran, { bench, time, measured: others });
  const verdict = {
    contested: distinctTests([...contested, ...inTargets.contested, ...inAdded.contested, ...byValues]),
    notShown: [...inTargets.notShown, ...inAdded.notShown],
    isShown: isShown || inOthers.isShown,
  };
  return withVerdict(work, judged, verdict);
}

/** Returns a target whose comparison accepts a wrong value; `null` if none is known. */
async function looseTarget(
  bench: FaultBench,
  unit: TestUnit,
  { compared, wrong }: BaseFaults,
  base: BaseRuns,
): Promise<string | null> {
  if (compared !== undefined && (await passesWithOtherValues(bench, unit, compared, base))) return compared.test;
  return wrong !== undefined && (await passesWithWrongValue(bench, unit, wrong, base)) ? wrong.test : null;
}

const distinctTests = (tests: readonly ContestedTest[]): readonly ContestedTest[] =>
  tests.filter(({ test }, at) => tests.findIndex((each) => each.test === test) === at);

/** Plants faults for test files that the work adds. The base does not have them, so the work's own tests are used. */
async function addedTestFaults(work: PinnedContext, ran: TestedJudgement, limit: FaultTime): Promise<FaultVerdict> {
  const { options, request, changed } = work;
  const files: string[] = [];
  for (const path of changed) {
    if (!matchesAnyGlob(path, options.testPaths) || !testsOf(ran, path).some((name) => name.includes(" > "))) continue;
    if ((await options.workspace.fileAt(request.story.id, request.base, path)) === null) files.push(path);
  }
  if (files.length === 0) return { contested: [], notShown: [], isShown: false };
  const bench = await openBench(work, { at: "work", pinned: null }, limit.limitMs);
  try {
    const measured = files.map((from) => {
      const unit = { from, file: bench.isSelectable(from) ? from : null };
      return { unit, tests: testsOf(ran, from), mustNotice: true };
    });
    return await plantFaults(work, ran, { bench, time: limit.in(bench, new Map()), measured });
  } finally {
    await bench.close();
  }
}

const testsOf = ({ tests }: TestedJudgement, file: string): readonly string[] =>
  [...tests.passed.keys()].filter((name) => isOf(name, file));

const passedIn = (ran: TestedJudgement, { from }: TestUnit): readonly string[] =>
  from === null ? [] : testsOf(ran, from);

/** One file with targets, and one with tests that passed at the base. */
const MOST_UNITS = 2;

const distinctUnits = (units: readonly TestUnit[]): readonly TestUnit[] =>
  units.filter(({ file }, at) => units.findIndex((each) => each.file === file) === at);

/** Returns the base's tests whose code the work changed; if none is known, the first ones. */
async function passingUnit(work: PinnedContext, ran: TestedJudgement, bench: FaultBench): Promise<readonly TestUnit[]> {
  const { options, changed } = work;
  const names = (await passedAtBase(work)).filter((test) => ran.tests.passed.has(test));
  const byFile = new Map(names.slice(0, MOST_LOOKED_AT).map((test) => [testFileOf(bench, test) ?? test, test]));
  const units = [...byFile.values()].map((test) => unitOf(bench, test));
  const isProduct = productRule(options);
  const product = new Set(changed.filter(isProduct));
  const near = units.find(
    ({ from }) => from !== null && reachedCode(bench, from, options).some((path) => product.has(path)),
  );
  const unit = near ?? units[0];
  return unit === undefined ? [] : [unit];
}

const MOST_LOOKED_AT = 200;

function refuse(
  judged: Judgement,
  { test, fault }: { readonly test: string; readonly fault: Fault },
  { ran }: Extract<TripwireVerdict, { readonly type: "ignored" }>,
): Judgement {
  const finding: Finding = identifyFinding({
    severity: "critical",
    category: "tests",
    source: "checks",
    symbol: test,
    message: `${test} can no longer fail: it passes with a fault in ${fault.path} that it noticed at the base`,
    detail: [
      `Planted in ${fault.path}, line ${fault.line}: \`${fault.before.trim()}\` became \`${fault.after.trim()}\`.`,
      "The test runs this line. Something in the work keeps its assertions from failing.",
    ].join("\n"),
    suggestedFix:
      "Take out what replaces or swallows assertions, and change the code so that the tests pass by themselves.",
  });
  return refuseJudgement(judged, [finding], ran.evidence);
}

function withVerdict(
  { request }: PinnedContext,
  judged: Judgement,
  { contested, notShown, isShown }: FaultVerdict,
): Judgement {
  const known = new Set((judged.contested ?? []).map(({ test }) => test));
  const fresh = contested.filter(({ test }) => !known.has(test));
  const licensed = fresh.filter(({ test }) => mayChange(test, request.licensed));
  const open = fresh.filter((each) => !licensed.includes(each));
  const notes = [
    ...(licensed.length === 0
      ? []
      : [`${countText(licensed.length, "test")} changed as allowed: ${namesOf(licensed)}`]),
    ...(notShown.length > 0
      ? [`${NOT_SHOWN}: ${notShown.join(", ")}`]
      : isShown || fresh.length > 0 || request.atBase.targets.length > 0
        ? []
        : [`${NOT_SHOWN}: the check`]),
  ];
  const held = notes.reduce(withNote, judged);
  if (open.length === 0) return held;
  return {
    ...held,
    contested: [...(held.contested ?? []), ...open],
    summary: `${held.summary}; ${contestedSummary(open)}`,
  };
}
