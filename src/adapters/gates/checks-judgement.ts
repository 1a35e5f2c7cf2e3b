import { failureKinds } from "../../domain/base-failures.ts";
import { counted } from "../../domain/counted.ts";
import { failureFingerprint, type Finding } from "../../domain/finding.ts";
import type { Judgement, TestIdentities } from "../../domain/gate.ts";
import { byWeight, worstResult, type Result } from "../../domain/result.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { BesideTheRuns } from "./beside-the-runs.ts";
import { cellName, notVerified } from "./environments.ts";
import { passedWith } from "./check-ending.ts";
import { isBlocking, type Fault } from "./check-faults.ts";
import { flakeFinding } from "./flakes.ts";
import type { CheckOutcome } from "./run-check.ts";

/** One judgement of all that was run, and of what is to be said beside it. */
export function checksJudgement(
  request: GateRequest,
  outcomes: readonly CheckOutcome[],
  beside: BesideTheRuns,
  identities: TestIdentities,
): Omit<Judgement, "durationMs"> {
  const said = [
    ...outcomes.map(({ run }) => ({ about: cellName(run), result: run.result, details: run.details })),
    ...beside.said,
  ];
  const result = worstResult(said.map((each) => each.result));
  const faults = outcomes.flatMap((outcome) => outcome.faults);
  const flaky = outcomes.flatMap((outcome) => outcome.flaky);
  // The same fault in two environments is one thing to mend.
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

/** A known failure that is gone: whoever listed it can take it off the list. */
function noLongerFailing({ atBase }: GateRequest, faults: readonly Fault[]): string[] {
  const kindOf = failureKinds(atBase);
  const failing = new Set(faults.map(({ name }) => name));
  const names = (atBase.failing ?? []).filter((name) => kindOf(name) === "known" && !failing.has(name));
  if (names.length === 0) return [];
  const what = names.length === 1 ? "no longer fails, its entry can go" : "no longer fail, their entries can go";
  return [`${counted(names.length, "known failure")} ${what}: ${names.join(", ")}`];
}

export function nothingJudged({ tree }: GateRequest, result: Result, summary: string): Omit<Judgement, "durationMs"> {
  return { gate: "checks", tree, result, summary, findings: [], blocking: [], runs: [], evidence: [] };
}

const distinct = (findings: readonly Finding[]): Finding[] => [
  ...new Map(findings.map((finding) => [finding.id, finding])).values(),
];

/** What failed comes first: a brief is cut at its end. */
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
