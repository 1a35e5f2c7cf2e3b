import { isConclusive } from "../../core/events/error.ts";
import { failureKinds, placeOfFailure } from "../../core/gates/base-failures.ts";
import { type BaseTestVerdict, judgeBaseTests, mayChange } from "../../core/gates/base-tests.ts";
import { type ContestedTest, contestedSummary } from "../../core/gates/contested-test.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import { type SuiteResults, readSuiteResults } from "../../core/gates/test-names.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { ExperimentCheckout } from "../../ports/experiment-runner.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { faultNameOf } from "../checks/check-faults.ts";
import type { ChecksGate, TestedJudgement } from "../checks/checks-gate.ts";
import { prepareBaseFaults } from "../faults/base-faults.ts";
import { withFaults } from "../faults/with-faults.ts";
import { countText } from "../../stdx/plain-text.ts";
import { NO_TEST, fewerTests, goneTests, missingTarget, unmetTarget, noTestFinding } from "./base-test-findings.ts";
import { heldToExit } from "./exit-tripwire.ts";
import { movedNames, withNewTests } from "./new-tests.ts";
import {
  type TestedWorkOptions,
  type PinnedContext,
  failuresIn,
  inCheckout,
  namesNoTest,
  namesOf,
  refuseJudgement,
  withNote,
} from "./pinned-run.ts";
import { type PinnedTree, openPinned, pinnedTree, setPinned, testFilesAtBase } from "./pinned-tree.ts";
import { renamedTests } from "./match-tests.ts";
import { heldToSeen, isWholeFile, missingTargets } from "./seen-tests.ts";
import { unlessWritten, writtenTests } from "./selected-tests.ts";

/**
 * Verifies a pass of the checks with the base's own tests. If the work changed tests or what runs them, the base's
 * versions are run with it, and every test that passed at the base must still run. A failed target is rejected, other
 * failures are contested (a reviewer or a person decides), and tests that no longer run are reported as gone.
 */
export function withTestedWork(checks: ChecksGate, options: TestedWorkOptions): Gate {
  return {
    ...checks,
    prepare: (request, control) => prepareBaseFaults({ checks, options, request, control, changed: [] }),
    async run(request, control) {
      const ran = await checks.judgeTests(request, control);
      const missing = await missingTargets(options, request, ran);
      if (missing.length > 0) return refuseJudgement(ran.judgement, missing);
      // Without a tree, the changed paths are unknown.
      if (ran.judgement.result !== "pass" || request.tree === "" || control.signal.aborted) return ran.judgement;
      const changed = await options.workspace.changedPaths(request.story.id, request.base, request.tree);
      const { work, judged: atBase } = await withSteps({ checks, options, request, control, changed }, ran);
      const held = await heldToExit(work, ran, await heldToSeen(work, ran, atBase));
      const judged = await withFaults(work, ran, await withNewTests(work, ran, held));
      if (judged.result !== "pass" || request.atBase.targets.length > 0) return judged;
      const tests = changed.filter((path) => matchesAnyGlob(path, options.testPaths));
      const isShown = changed.length === 0 || (await someStillThere(options, request, tests));
      if (isShown || options.isTestDemandedElsewhere === true) return judged;
      return request.requireTest ? refuseJudgement(judged, [noTestFinding()]) : withNote(judged, NO_TEST);
    },
  };
}

async function someStillThere(
  { workspace }: TestedWorkOptions,
  { story, tree }: GateRequest,
  paths: readonly string[],
): Promise<boolean> {
  for (const path of paths) if ((await workspace.fileAt(story.id, tree, path)) !== null) return true;
  return false;
}

/**
 * Handles files that the check runs and that may be part of the work, such as a build script. The base's version is
 * used first. If the base's tests then fail, but all pass by name with the work's version of the file, the file is part
 * of the work; planted faults then show that its tests can still fail. A check that does not name its tests cannot show
 * that.
 */
async function withSteps(
  work: PinnedContext,
  ran: TestedJudgement,
): Promise<{ readonly work: PinnedContext; readonly judged: Judgement }> {
  const judged = await heldToBase(work, ran);
  const isHeld = judged.result === "pass" && judged.contested === undefined;
  const isNamed = ran.tests.isNamed && ran.tests.passed.size > 0;
  if (isHeld || !isNamed || work.options.faults === undefined || work.control.signal.aborted) return { work, judged };
  const { options, request, changed } = work;
  const pinned = await pinnedTree(options, request, changed, await testFilesAtBase(options.evidence, request));
  const steps = pinned?.steps?.filter((path) => !NO_STEP.test(path)) ?? [];
  if (steps.length === 0) return { work, judged };
  const asWork = { ...work, options: { ...options, product: [...options.product, ...steps] } };
  const again = await heldToBase(asWork, ran);
  if (again.result !== "pass" || again.contested !== undefined) return { work, judged };
  return { work: asWork, judged: withNote(again, `part of the check and of the work: ${steps.join(", ")}`) };
}

/** A makefile defines the check itself; a path with these characters would act as a pattern. */
const NO_STEP = /(?:^|\/)(?:GNUm|m|M)akefile$|[*?{}]/;

async function heldToBase(work: PinnedContext, ran: TestedJudgement): Promise<Judgement> {
  const { options, request, control, changed } = work;
  const pinned = await pinnedTree(options, request, changed, await testFilesAtBase(options.evidence, request));
  if (pinned === null) return baseVerdict(work, ran, { pinned: null, ran: null, checkout: null });
  if (options.experimentRunner === null)
    return request.atBase.targets.length === 0
      ? ran.judgement
      : unproven(ran.judgement, "there is no throwaway copy to run them in");
  const checkout = await openPinned(options.experimentRunner, request, pinned, control.signal);
  try {
    const tree = await setPinned(checkout, request, pinned);
    const own = await work.checks.judgeTests(inCheckout(request, checkout, tree), control);
    const written = await writtenTests(checkout, options);
    const judged = await baseVerdict(work, ran, { pinned, ran: own, checkout });
    return judged.result === "pass" ? unlessWritten(judged, request, written) : judged;
  } finally {
    await checkout.close();
  }
}

/** The run with the base's tests; all fields are `null` if the work changed none, because the run would be the same. */
interface PinnedRun {
  readonly pinned: PinnedTree | null;
  readonly ran: TestedJudgement | null;
  readonly checkout: ExperimentCheckout | null;
}

async function baseVerdict(work: PinnedContext, ran: TestedJudgement, own: PinnedRun): Promise<Judgement> {
  const { request, control } = work;
  if (control.signal.aborted) return ran.judgement;
  const base = await baseResults(work, own);
  const unmet = await unmetTargets(work, ran, own, base);
  if (unmet.refused.length > 0) return refuseJudgement(ran.judgement, unmet.refused, own.ran?.judgement.evidence);
  const isInconclusive = own.ran !== null && !isConclusive(own.ran.judgement.result);
  if (isInconclusive && request.atBase.targets.length > 0) return unproven(ran.judgement, own.ran.judgement.summary);
  let verdict = await verdictOn(work, ran, own, base);
  // Run again before a test is reported as gone: it may have been left out by accident.
  if (verdict.gone.length > 0 || verdict.fewer !== null) {
    const again = await work.checks.judgeTests({ ...request, last: null }, control);
    verdict = await verdictOn(work, { ...ran, tests: mostOf(ran.tests, again.tests) }, own, base);
  }
  const gone = [
    ...goneTests(verdict.gone, work.changed),
    ...(verdict.fewer === null ? [] : [fewerTests(verdict.fewer)]),
  ];
  if (gone.length > 0) return refuseJudgement(ran.judgement, gone, own.ran?.judgement.evidence);
  const contested = [...unmet.contested, ...verdict.contested];
  const licensed = [...unmet.licensed, ...verdict.licensed];
  return withContested(ran.judgement, { ...verdict, contested, licensed }, own.ran?.judgement ?? null);
}

async function verdictOn(
  { options, request, changed }: PinnedContext,
  ran: TestedJudgement,
  own: PinnedRun,
  base: SuiteResults | null,
): Promise<BaseTestVerdict> {
  const kindOf = failureKinds(request.atBase);
  const isRenamed = await renamedTests(options, request, changed, ran.tests);
  return judgeBaseTests({
    base,
    candidate: ran.tests,
    pinned: own.ran === null ? null : { results: own.ran.tests, failures: failuresIn(own.ran, base) },
    isExcused: (test) => kindOf(test) !== "new",
    isRenamed,
    licensed: request.licensed,
  });
}

/** Returns the base's results of every test: stored since the story began, or from a run now if they matter. */
async function baseResults(work: PinnedContext, own: PinnedRun): Promise<SuiteResults | null> {
  const { options, request, control, checks } = work;
  const kept = request.baseRun?.tests === undefined ? null : await options.evidence.read(request.baseRun.tests);
  const known = kept === null ? null : readSuiteResults(kept);
  if (known !== null || own.checkout === null || own.ran?.judgement.result === "pass") return known;
  const tree = await own.checkout.set(request.base, new Map());
  return (await checks.judgeTests(inCheckout(request, own.checkout, tree), control)).tests;
}

interface TargetVerdict {
  readonly refused: readonly Finding[];
  readonly contested: readonly ContestedTest[];
  /** Targets that pass in the work's version, and that the work may change. */
  readonly licensed: readonly ContestedTest[];
}

/**
 * Checks that each target passes in its base version. A target that does not load because the work moved what it uses
 * is contested.
 */
async function unmetTargets(
  work: PinnedContext,
  ran: TestedJudgement,
  own: PinnedRun,
  base: SuiteResults | null,
): Promise<TargetVerdict> {
  const { request } = work;
  const { judgement, tests } = own.ran ?? ran;
  const red = judgement.findings.filter(({ id }) => judgement.blocking.includes(id));
  const refusals: Finding[] = [];
  const contested: ContestedTest[] = [];
  const licensed: ContestedTest[] = [];
  const isPassed = new Set(judgement.identities?.passing);
  for (const name of request.atBase.targets) {
    const finding = red.find((each) => faultNameOf(each) === name || isLoadFailure(each, name) || isInFile(each, name));
    if (finding === undefined) {
      // A test that is not among all passed tests of a run that names them did not run. A check that named every test
      // at the base must name them again.
      const isNamed = tests.isNamed || base?.isNamed === true;
      const hasRun = isWholeFile(name) ? hasPassedIn(placeOfFailure(name), tests) : isPassed.has(name);
      const isMissing = judgement.result === "pass" && isNamed && name.includes(" > ") && !hasRun;
      if (isMissing) refusals.push(missingTarget(name, work.changed));
    } else if (mayChange(name, request.licensed))
      licensed.push({ test: name, why: isLoadFailure(finding, name) ? "not-loaded" : "fails" });
    else if (isLoadFailure(finding, name) && (await isAboutMoved(work, own, finding)))
      contested.push({ test: name, why: "not-loaded", file: placeOfFailure(name) });
    else refusals.push(unmetTarget(name, finding, own.pinned));
  }
  return { refused: refusals, contested, licensed };
}

/** Whether a failure is in a whole-file target, whose tests have names by now. */
const isInFile = ({ file }: Finding, target: string): boolean => isWholeFile(target) && file === placeOfFailure(target);

const hasPassedIn = (file: string, { passed }: SuiteResults): boolean =>
  [...passed.keys()].some((identity) => identity.startsWith(`${file} > `));

/** Whether the run's output mentions something that the work moved. Not every runner prints it with the failure. */
async function isAboutMoved(
  { options, request, changed }: PinnedContext,
  own: PinnedRun,
  finding: Finding,
): Promise<boolean> {
  const pinned = new Set(own.pinned?.taken);
  const product = changed.filter((path) => !pinned.has(path));
  const printed = await Promise.all((own.ran?.judgement.evidence ?? []).map((id) => options.evidence.read(id)));
  const moved = await movedNames(options, request, product);
  return moved.someIn([finding.message, finding.detail ?? "", ...printed.map((text) => text ?? "")].join("\n"));
}

/** Whether the target's file, or its whole check, failed before it named a test. */
function isLoadFailure(finding: Finding, target: string): boolean {
  const place = placeOfFailure(target);
  if (finding.category === "check" && finding.file === undefined) return finding.source === place;
  return finding.file === place && namesNoTest(finding);
}

/** Merges the results of two runs of one tree: a test that passed once did run. */
function mostOf(one: SuiteResults, other: SuiteResults): SuiteResults {
  const passed = new Map(one.passed);
  for (const [name, times] of other.passed) passed.set(name, Math.max(times, passed.get(name) ?? 0));
  return { ...one, passed, ran: one.ran === null || other.ran === null ? null : Math.max(one.ran, other.ran) };
}

/** Adds the base tests' results to a pass: contested tests, and notes on tests that may change or were renamed. */
function withContested(
  judged: Judgement,
  { contested, licensed, renamed }: Pick<BaseTestVerdict, "contested" | "licensed" | "renamed">,
  pinned: Judgement | null,
): Judgement {
  const notes = [
    ...(licensed.length === 0
      ? []
      : [`${countText(licensed.length, "test")} changed as allowed: ${namesOf(licensed)}`]),
    ...(renamed.length === 0 ? [] : [`${countText(renamed.length, "test")} renamed or moved: ${renamed.join(", ")}`]),
  ];
  const evidence = [...new Set([...judged.evidence, ...(pinned?.evidence ?? [])])];
  const held = notes.reduce(withNote, { ...judged, evidence });
  if (contested.length === 0) return held;
  // No note: the acceptance records who let them through.
  const summary = `${held.summary}; ${contestedSummary(contested)}`;
  return { ...held, contested, summary };
}

function unproven(judged: Judgement, why: string): Judgement {
  const { notes: _notes, ...rest } = judged;
  const summary = `checks: inconclusive (the targets could not be run with the base's version of their tests: ${why})`;
  return { ...rest, result: "inconclusive", summary };
}
