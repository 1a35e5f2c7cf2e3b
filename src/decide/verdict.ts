import { failureFingerprint } from "../core/gates/finding-identity.ts";
import { type Finding, failsGate, mustBeFixed } from "../core/gates/finding.ts";
import type { GateName, ReviewConflict, StageResult, ReviewInput, ReviewOutcome, Verdict } from "../core/gates/gate.ts";
import type { Fingerprint } from "../core/events/ids.ts";
import type { GateRules } from "../core/events/policy.ts";
import { type Result, worstResult } from "../core/events/error.ts";

/** Combines the verdicts into one result. A reviewer's explicit FAIL counts, and so do the thresholds. */
export function judge({ gate, tree, rules, verdicts, kept, overturned }: ReviewInput): ReviewOutcome {
  const counted = verdicts.map((verdict) => standing(verdict, overturned));
  const stages = counted.map(({ stage, reviewer, findings, summary, result }) => ({
    stage,
    reviewer,
    ...(summary === "" ? {} : { summary }),
    result: stageResult(result, findings, rules),
  }));
  const findings = counted.flatMap((verdict) =>
    verdict.findings.map((finding) => ({ ...finding, stage: verdict.stage })),
  );
  const result = worstResult([...kept, ...stages].map((stage) => stage.result));
  const blocking = result === "fail" ? blockingFindings(findings, stages, rules) : [];
  const summary = summaryOf(gate, result, stages, blocking.length);
  return {
    gate,
    tree,
    result,
    findings,
    blocking,
    stages: [...kept, ...stages],
    conflicts: reviewConflicts(findings),
    summary,
    ...(result === "fail"
      ? {
          failure: failureFingerprint(
            findings.filter((finding) => blocking.includes(finding.id)),
            summary,
          ),
        }
      : {}),
  };
}

/**
 * Removes overturned findings from a verdict. If a FAIL has no findings left, the reviewer and the one who overturned
 * them contradict each other: the result is inconclusive, and a person decides.
 */
function standing(verdict: Verdict, overturned: readonly Fingerprint[]): Verdict {
  const findings = verdict.findings.filter((finding) => !overturned.includes(finding.id));
  const isEmptied = verdict.result === "fail" && verdict.findings.length > 0 && findings.length === 0;
  return { ...verdict, findings, result: isEmptied ? "inconclusive" : verdict.result };
}

/**
 * An explicit FAIL fails the stage whatever its findings; an explicit PASS does not outweigh findings over the
 * threshold.
 */
function stageResult(said: Result, findings: readonly Finding[], rules: GateRules): Result {
  if (said !== "pass") return said;
  return failsGate(findings, rules) ? "fail" : "pass";
}

/** Returns the findings that must be fixed, for each failed stage: a reviewer's own findings explain its FAIL. */
function blockingFindings(
  findings: readonly (Finding & { readonly stage: string })[],
  stages: readonly StageResult[],
  rules: GateRules,
): Fingerprint[] {
  const failed = stages.filter((stage) => stage.result === "fail").map((stage) => stage.stage);
  const blocking = new Set(
    [...new Set(failed)].flatMap((stage) =>
      mustBeFixed(
        findings.filter((finding) => finding.stage === stage),
        rules,
      ),
    ),
  );
  // In the order in which they were reported.
  return [...new Set(findings.filter((finding) => blocking.has(finding)).map((finding) => finding.id))];
}

function summaryOf(gate: GateName, result: Result, stages: readonly StageResult[], blocking: number): string {
  const at = stages.filter((stage) => stage.result === result && stage.stage !== gate).map((stage) => stage.stage);
  const where = at.length > 0 && result !== "pass" ? ` (${at.join(", ")})` : "";
  const count = result === "fail" ? `, ${blocking} to fix` : "";
  return `${gate}: ${result}${where}${count}`;
}

/**
 * Finds reviewers who ask for opposite changes in one location. Security wins over the product owner, who wins over
 * code quality; between equals a person decides.
 */
export function reviewConflicts(findings: readonly Finding[]): ReviewConflict[] {
  const conflicts: ReviewConflict[] = [];
  for (const near of byFile(findings)) {
    for (const [i, one] of near.entries()) {
      for (const other of near.slice(i + 1)) {
        if (isSamePlace(one, other) && viewOf(one) !== viewOf(other) && areOpposed(one, other))
          conflicts.push(between(one, other));
      }
    }
  }
  return conflicts;
}

/** More findings than this in one file are not compared with each other: that would be slow. */
const MOST_PER_FILE = 200;
const NEAR_LINES = 5;

function byFile(findings: readonly Finding[]): Finding[][] {
  const files = new Map<string, Finding[]>();
  for (const finding of findings) {
    if (finding.file === undefined) continue;
    const known = files.get(finding.file) ?? [];
    if (known.length < MOST_PER_FILE) files.set(finding.file, [...known, finding]);
  }
  return [...files.values()];
}

function isSamePlace(one: Finding, other: Finding): boolean {
  if (one.symbol !== undefined && one.symbol === other.symbol) return true;
  if (one.line === undefined || other.line === undefined) return one.line === other.line;
  return Math.abs(one.line - other.line) <= NEAR_LINES;
}

function viewOf(finding: Finding): string {
  return finding.stage ?? finding.source;
}

/** Pairs of demands that exclude each other, each by the stems of the words that people use for it. */
const OPPOSITES: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:add|introduc|insert|extend|includ)\w*/i, /\b(?:remov|delet|drop|eliminat|omit)\w*/i],
  [
    /\b(?:extract|split|separat|abstract|decoupl|generali[sz])\w*/i,
    /\b(?:inlin|merg|combin|simpl|flatten|collaps)\w*/i,
  ],
  [/\b(?:increas|rais|lengthen|more|longer)\w*/i, /\b(?:decreas|reduc|lower|shorten|less|fewer|shorter)\w*/i],
  [/\b(?:public|expos|export)\w*/i, /\b(?:privat|hid|encapsulat|internal)\w*/i],
  [/\b(?:enabl|allow|permit|accept)\w*/i, /\b(?:disabl|forbid|deny|block|reject)\w*/i],
];

function areOpposed(one: Finding, other: Finding): boolean {
  const a = demandOf(one);
  const b = demandOf(other);
  return OPPOSITES.some(
    ([left, right]) =>
      (left.test(a) && right.test(b) && !right.test(a)) || (right.test(a) && left.test(b) && !left.test(a)),
  );
}

/** Returns what a finding asks for: its fix if it has one, because the message often states the problem only. */
function demandOf(finding: Finding): string {
  return (finding.suggestedFix ?? finding.message).slice(0, 500);
}

const PRIORITY: readonly RegExp[] = [/secur/i, /product|owner|\bpo\b/i, /code|quality|style|domain|spec/i];

function between(one: Finding, other: Finding): ReviewConflict {
  const ranks = [rankOf(viewOf(one)), rankOf(viewOf(other))] as const;
  const winner = ranks[0] === ranks[1] ? null : ranks[0] < ranks[1] ? viewOf(one) : viewOf(other);
  return {
    file: one.file ?? "",
    line: one.line ?? other.line ?? 1,
    between: [viewOf(one), viewOf(other)],
    says: [demandOf(one), demandOf(other)],
    winner,
  };
}

function rankOf(view: string): number {
  const at = PRIORITY.findIndex((pattern) => pattern.test(view));
  return at === -1 ? PRIORITY.length : at;
}
