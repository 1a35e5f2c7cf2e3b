import { placeOfFailure } from "../../core/gates/base-failures.ts";
import { countText } from "../../stdx/plain-text.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { Coverage, Measures, TestCounts } from "../../core/gates/gate.ts";
import { type Result, isConclusive } from "../../core/events/error.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { GateRequest } from "../../ports/gate.ts";
import { sumOfCounts } from "../../parse/tests/test-output.ts";
import { readTestsRemoved } from "../../parse/tests/test-report-parts.ts";
import { type KnownFlake, quarantineOf } from "../checks/flakes.ts";
import { type CoverageRules, coverageFaults, coverageIn, measuredBefore, mostOf, ranOf } from "../checks/measures.ts";
import type { ReportBaseline, SeenReports } from "../checks/read-reports.ts";
import type { CheckOutcome } from "../checks/run-check.ts";
import type { PinnedTree } from "./pinned-tree.ts";

export const NO_TEST = "no test shows this change";

const pathsOf = (pinned: PinnedTree | null): readonly string[] =>
  pinned === null ? [] : [...pinned.taken, ...pinned.texts.keys()];

export function unmetTarget(name: string, { detail, message }: Finding, pinned: PinnedTree | null): Finding {
  const place = placeOfFailure(name);
  const paths = pathsOf(pinned);
  const file = paths.find((path) => path === place || path.endsWith(`/${place}`));
  return identifyFinding({
    severity: "critical",
    category: "target",
    source: "checks",
    symbol: name,
    message: `the target ${name} fails with the base's version of its tests`,
    detail: [`Put back for this run: ${paths.join(", ")}`, message, ...(detail === undefined ? [] : [detail])].join(
      "\n",
    ),
    suggestedFix: `Restore ${file ?? paths.join(", ")} as it was, and change the code so that the test passes.`,
    ...(file === undefined ? {} : { file }),
  });
}

export function missingTarget(name: string, changed: readonly string[]): Finding {
  const file = changedFileOf(name, changed);
  return identifyFinding({
    severity: "critical",
    category: "target",
    source: "checks",
    symbol: name,
    message: `the target ${name} does not run`,
    detail: "It failed at the base. With the work the check passes, and this test is not among those that ran.",
    suggestedFix: "Make the test run again, and change the code so that it passes.",
    ...(file === undefined ? {} : { file }),
  });
}

/** Returns the test's file if the work changed it, because it may have to be restored. */
function changedFileOf(test: string, changed: readonly string[]): string | undefined {
  const place = placeOfFailure(test);
  return changed.find((path) => path === place || path.endsWith(`/${place}`));
}

/** The most tests that are named one by one: a list of hundreds helps no reader. */
const MOST_NAMED = 20;

export function goneTests(names: readonly string[], changed: readonly string[]): Finding[] {
  const rest = names.length - MOST_NAMED;
  const findings = names.slice(0, MOST_NAMED).map((name) => goneTest(name, changed));
  if (rest <= 0) return findings;
  const message = `${countText(rest, "more test")} passed at the base and no longer run`;
  return [...findings, identifyFinding({ severity: "critical", category: "tests", source: "checks", message })];
}

function goneTest(name: string, changed: readonly string[]): Finding {
  const file = changedFileOf(name, changed);
  return identifyFinding({
    severity: "critical",
    category: "tests",
    source: "checks",
    symbol: name,
    message: `${name} passed at the base and no longer runs`,
    suggestedFix:
      "Make it run again. If the work must remove it, the story's `tests:` or --tests-may-change has to allow that.",
    ...(file === undefined ? {} : { file }),
  });
}

export function fewerTests({ before, now }: { readonly before: number; readonly now: number }): Finding {
  return identifyFinding({
    severity: "critical",
    category: "tests",
    source: "checks",
    message: "fewer tests run than at the base",
    detail: `${countText(before, "test")} ran at the base, ${now} with the work and the base's tests.`,
    suggestedFix: "Make all tests of the base run again.",
  });
}

export function noTestFinding(): Finding {
  return identifyFinding({
    severity: "critical",
    category: "tests",
    source: "checks",
    message: NO_TEST,
    suggestedFix: "Add a test that fails without this change, or change one so that it does.",
  });
}

/** Findings about all checks together, after each has its own result. */
export interface SuiteFindings {
  readonly said: readonly { readonly about: string; readonly result: Result; readonly details: string }[];
  /** The blocking findings. */
  readonly faults: readonly Finding[];
  readonly notes: readonly Finding[];
  readonly tests: TestCounts | null;
  readonly coverage: Coverage | null;
  readonly most: Measures;
}

interface FinishedRuns {
  readonly outcomes: readonly CheckOutcome[];
  readonly reports: SeenReports;
  readonly began: ReportBaseline;
  readonly contradiction: string | null;
}

/**
 * Checks for missing or old reports, coverage, and the number of tests, and adds known flaky tests. Anything that only
 * takes a pass away is checked only on a pass, because a failed run often leaves no report.
 */
export async function suiteFindings(
  options: { readonly coverage?: CoverageRules; readonly evidence: Evidence },
  request: GateRequest,
  { outcomes, reports, began, contradiction }: FinishedRuns,
  flakes: ReadonlyMap<string, KnownFlake>,
): Promise<SuiteFindings> {
  const runs = outcomes.map(({ run }) => run);
  const isGreen = runs.every(({ result }) => result === "pass");
  const before = measuredBefore(request.last, runs);
  const unproven = (about: string, details: string) => ({ about, result: "inconclusive" as const, details });
  const said: SuiteFindings["said"][number][] = [];
  const faults: Finding[] = [];
  if (isGreen) {
    if (contradiction !== null) said.push(unproven("reports", contradiction));
    said.push(...(await reports.problems()).map((problem) => unproven("reports", problem)));
    const quarantined = quarantineOf(flakes.values(), request);
    const flaky = [...flakes.values()].filter(
      ({ name, trees }) => trees.includes(request.tree) && !quarantined.has(name),
    );
    if (flaky.length > 0)
      said.push(
        unproven("flaky", `${flaky[0]!.name} failed on this very tree before, so that passing now proves nothing`),
      );
  }
  const measured = options.coverage === undefined ? null : await coverageIn(request.path, options.coverage, began);
  if (measured !== null && "problem" in measured && isGreen) said.push(unproven("coverage", measured.problem));
  const coverage = measured !== null && "coverage" in measured ? measured.coverage : null;
  if (coverage !== null && options.coverage !== undefined) {
    faults.push(...coverageFaults(coverage, options.coverage, before));
    said.push(...faults.map(({ message }) => ({ about: "coverage", result: "fail" as const, details: message })));
  }
  const tests = testsOf(outcomes);
  const fewer = isGreen ? await fewerTestsRan(tests, before, request, options.evidence) : null;
  if (fewer?.problem !== undefined) said.push(unproven("tests", fewer.problem));
  const { tests: _, ...others } = before;
  return {
    said,
    faults,
    notes: fewer?.note === undefined ? [] : [fewer.note],
    tests,
    coverage,
    most: mostOf(fewer?.note === undefined ? before : others, tests, coverage),
  };
}

/**
 * Reports that fewer tests ran than before, which proves less; a note instead if the author gives a reason, which a
 * person can read.
 */
async function fewerTestsRan(
  tests: TestCounts | null,
  before: Measures,
  request: GateRequest,
  evidence: Evidence,
): Promise<{ problem?: string; note?: Finding } | null> {
  if (before.tests === undefined || before.tests === 0) return null;
  if (tests === null)
    return { problem: `before, ${countText(before.tests, "test")} ran, and now the output does not say how many` };
  if (ranOf(tests) >= before.tests) return null;
  const numbers = `${countText(before.tests, "test")} ran before, and ${ranOf(tests)} now`;
  const message = request.message === null ? null : await evidence.read(request.message);
  const reason = message === null ? null : readTestsRemoved(message);
  if (reason === null)
    return { problem: `${numbers}, without a reason (the author gives one with a line \`Tests removed: <reason>\`)` };
  return {
    note: identifyFinding({
      severity: "info",
      category: "tests",
      source: "checks",
      message: "fewer tests ran than before, and the author says why",
      detail: `${numbers}: ${reason}`,
    }),
  };
}

/** Returns the number of tests; `null` if a check was inconclusive, because numbers are compared between rounds. */
function testsOf(outcomes: readonly CheckOutcome[]): TestCounts | null {
  const ran = outcomes.every(({ run }) => isConclusive(run.result));
  return ran ? sumOfCounts(outcomes.flatMap((outcome) => outcome.tests ?? [])) : null;
}
