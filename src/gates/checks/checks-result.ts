import { type BaseFailures, failureKinds } from "../../core/gates/base-failures.ts";
import { countText } from "../../stdx/plain-text.ts";
import { failureFingerprint } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { Judgement, TestIdentities } from "../../core/gates/gate.ts";
import { type Result, byWeight, worstResult } from "../../core/events/error.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { SuiteFindings } from "../pinned/base-test-findings.ts";
import { type TestReport, isSameFailure } from "../../parse/tests/test-report-parts.ts";
import { cellName, notVerified } from "./environments.ts";
import { passedWith } from "./check-ending.ts";
import { type CheckFault, isBlocking, namedFaults } from "./check-faults.ts";
import { compareRuns, flakeFinding } from "./flakes.ts";
import type { CheckOutcome, CheckRunOptions } from "./run-check.ts";

/** Makes one judgement of all runs and additional findings. */
export function checksJudgement(
  request: GateRequest,
  outcomes: readonly CheckOutcome[],
  beside: SuiteFindings,
  identities: TestIdentities,
): Omit<Judgement, "durationMs"> {
  const said = [
    ...outcomes.map(({ run }) => ({ about: cellName(run), result: run.result, details: run.details })),
    ...beside.said,
  ];
  const result = worstResult(said.map((each) => each.result));
  const faults = outcomes.flatMap((outcome) => outcome.faults);
  const flaky = outcomes.flatMap((outcome) => outcome.flaky);
  // The same fault in two environments is one finding.
  const findings = distinct([
    ...faults.map(({ finding }) => finding),
    ...beside.faults,
    ...flaky.map(flakeFinding),
    ...beside.notes,
  ]);
  const inTheWay = [...faults.filter(isBlocking).map(({ finding }) => finding), ...beside.faults];
  const blocking = result === "fail" ? [...new Set(inTheWay.map(({ id }) => id))] : [];
  const unverified = new Set(outcomes.filter((each) => each.isUnverified === true).map(({ run }) => run.environment));
  const passNotes = [...passedWith([...faults, ...flaky]), ...noLongerFailing(request, faults)];
  const notes = result === "pass" ? [...passNotes, ...[...unverified].map(notVerified)] : [];
  const summary = summaryOf(said, result, blocking.length, notes);
  return {
    gate: "checks",
    tree: request.tree,
    result,
    findings,
    blocking,
    runs: outcomes.map(({ run }) => run),
    summary,
    evidence: evidenceOf(outcomes),
    identities,
    ...(beside.tests === null ? {} : { tests: beside.tests }),
    ...(beside.coverage === null ? {} : { coverage: beside.coverage }),
    ...(Object.keys(beside.most).length === 0 ? {} : { most: beside.most }),
    ...(flaky.length === 0 ? {} : { flaky: [...new Set(flaky.map(({ name }) => name))] }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(result === "fail" ? { failure: failureFingerprint(distinct(inTheWay), summary) } : {}),
  };
}

/** Returns a note about known failures that no longer fail, so that they can be removed from the list. */
function noLongerFailing({ atBase }: GateRequest, faults: readonly CheckFault[]): string[] {
  const kindOf = failureKinds(atBase);
  const failing = new Set(faults.map(({ name }) => name));
  const names = (atBase.failing ?? []).filter((name) => kindOf(name) === "known" && !failing.has(name));
  if (names.length === 0) return [];
  const what = names.length === 1 ? "no longer fails, its entry can go" : "no longer fail, their entries can go";
  return [`${countText(names.length, "known failure")} ${what}: ${names.join(", ")}`];
}

export function nothingJudged({ tree }: GateRequest, result: Result, summary: string): Omit<Judgement, "durationMs"> {
  return { gate: "checks", tree, result, summary, findings: [], blocking: [], runs: [], evidence: [] };
}

const distinct = (findings: readonly Finding[]): Finding[] => [
  ...new Map(findings.map((finding) => [finding.id, finding])).values(),
];

/** Returns the evidence, failures first, because a brief is cut at its end. */
function evidenceOf(outcomes: readonly CheckOutcome[]): Judgement["evidence"] {
  const sorted = outcomes.toSorted((a, b) => byWeight(a.run.result, b.run.result));
  return [...new Set(sorted.flatMap((outcome) => outcome.evidence))];
}

function summaryOf(
  said: readonly { readonly about: string; readonly result: Result; readonly details: string }[],
  result: Result,
  blocking: number,
  notes: readonly string[],
): string {
  if (result === "pass") return `checks: ${["pass", ...notes].join(", ")} (${said.length} of ${said.length})`;
  const named = said.filter((each) => each.result === result);
  const shown = named.slice(0, 3).map(({ about, details }) => `${about}: ${details}`);
  const more = named.length > shown.length ? `; and ${named.length - shown.length} more` : "";
  return `checks: ${result} (${shown.join("; ")}${more})${result === "fail" ? `, ${blocking} to fix` : ""}`;
}

/**
 * Verifies a failed run at the base by running the bare command: `faults` are what failed both times, `flaky` what did
 * not. If the bare command passes, either the check is flaky or the reporters break it. So the check runs bare and with
 * reporters once more: only two failures with reporters and two passes without are the reporters' fault. Then the bare
 * command counts, here and in every later run.
 */
export async function confirmAtBase(
  first: CheckOutcome,
  again: (how?: CheckRunOptions) => Promise<CheckOutcome>,
): Promise<CheckOutcome> {
  if (!isRed(first)) return first;
  const bare = await again({ isBare: true });
  if (bare.run.result === "pass") {
    const isSteady = (await again({ isBare: true })).run.result === "pass" && isRed(await again());
    return isSteady ? { ...bare, isUnreported: true } : compareRuns(first, bare, new Set());
  }
  if (first.run.result !== "fail" || bare.run.result !== "fail") return first;
  const second = { ...bare, faults: namedAs(first.faults, bare.faults) };
  // The output alone may not name every failure; if their number is the same, they are the same failures.
  const isSame = second.faults.length === first.faults.length || second.faults.some(({ isOpaque }) => isOpaque);
  if (!isSame) return compareRuns(first, second, new Set());
  return first.run.exitCode === bare.run.exitCode ? first : { ...bare, isUnreported: true };
}

/** Whether a run may be repeated as failed. A command that was ended at its time limit is not repeated. */
const isRed = ({ run }: CheckOutcome): boolean =>
  run.result === "fail" || (run.result === "error" && run.exitCode !== null);

/** Renames the faults of a bare run as the run with reporters named them. */
function namedAs(known: readonly CheckFault[], faults: readonly CheckFault[]): CheckFault[] {
  const left = new Set(known);
  return faults.map((fault) => {
    const same = [...left].find((each) => each.name === fault.name || isSameFailure(namedIn(each), namedIn(fault)));
    if (same === undefined) return fault;
    left.delete(same);
    return { ...fault, name: same.name, finding: same.finding };
  });
}

/** Without the file: the output says where an error was thrown, and a report in which file the test is. */
const namedIn = ({ finding }: CheckFault) => ({ test: finding.symbol ?? null, file: null, line: finding.line ?? null });

/**
 * Adds the contents of reports whose check is unknown because several checks ran at once. Failures that no check has
 * reported go to the first check that failed without naming a failure, or else to the first that failed.
 */
export function withLateReports(
  outcomes: readonly CheckOutcome[],
  reports: readonly TestReport[],
  atBase: BaseFailures,
): { readonly outcomes: CheckOutcome[]; readonly contradiction: string | null } {
  const reported = reports.flatMap((report) => report.failures);
  const known = outcomes.flatMap((outcome) => [...outcome.faults, ...outcome.flaky]);
  const unmatched = reported.filter(
    (failure) => !known.some(({ finding }) => isSameFailure(asReported(finding), failure)),
  );
  if (unmatched.length === 0) return { outcomes: [...outcomes], contradiction: null };
  const isRed = ({ run, faults }: CheckOutcome): boolean => run.result === "fail" || faults.length > 0;
  const silent = outcomes.findIndex((each) => isRed(each) && each.faults.some((fault) => fault.isOpaque));
  const at = silent === -1 ? outcomes.findIndex(isRed) : silent;
  if (at === -1) {
    const count = countText(unmatched.length, "failure");
    return { outcomes: [...outcomes], contradiction: `the reports name ${count}, and every check exited with 0` };
  }
  const red = outcomes[at]!;
  const faults = [...red.faults.filter((fault) => !fault.isOpaque), ...namedFaults(red.run.check, unmatched, atBase)];
  return { outcomes: outcomes.with(at, { ...red, faults }), contradiction: null };
}

const asReported = (finding: { readonly symbol?: string; readonly file?: string; readonly line?: number }) => ({
  test: finding.symbol ?? null,
  file: finding.file ?? null,
  line: finding.line ?? null,
});
