import { failureFingerprint, type Finding } from "../domain/finding.ts";
import type { GateName, StageResult } from "../domain/gate.ts";
import type { Hearing, Judged, Verdict } from "../domain/hearing.ts";
import type { Fingerprint } from "../domain/ids.ts";
import type { GateRules } from "../domain/policy.ts";
import type { Result } from "../domain/result.ts";
import { atLeast, SEVERITIES, type FailOn } from "../domain/severity.ts";
import { reviewConflicts } from "./review-conflicts.ts";

/** Makes one result of everything that was said. What a reviewer says plainly counts, and so do the thresholds. */
export function judge({ gate, tree, rules, verdicts, kept, overturned }: Hearing): Judged {
  const heard = verdicts.map((verdict) => standing(verdict, overturned));
  const stages = heard.map(({ stage, reviewer, findings, summary, result }) => ({
    stage,
    reviewer,
    summary,
    result: stageResult(result, findings, rules),
  }));
  const findings = heard.flatMap((verdict) =>
    verdict.findings.map((finding) => ({ ...finding, stage: verdict.stage })),
  );
  const result = worstOf([...kept, ...stages].map((stage) => stage.result));
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
 * An overturned finding is left out. A reviewer who still says FAIL with nothing else to show stands against the
 * one who overturned it: neither is believed, and a person decides.
 */
function standing(verdict: Verdict, overturned: readonly Fingerprint[]): Verdict {
  const findings = verdict.findings.filter((finding) => !overturned.includes(finding.id));
  const isEmptied = verdict.result === "fail" && verdict.findings.length > 0 && findings.length === 0;
  return { ...verdict, findings, result: isEmptied ? "inconclusive" : verdict.result };
}

/** A plain FAIL fails whatever its findings weigh; a plain PASS does not outweigh findings over the threshold. */
function stageResult(said: Result, findings: readonly Finding[], rules: GateRules): Result {
  if (said !== "pass") return said;
  if (rules.everyFinding && findings.length > 0) return "fail";
  return isOverThreshold(findings, rules.failOn) ? "fail" : "pass";
}

/** Each threshold counts the findings of its severity and of every graver one. */
export function isOverThreshold(findings: readonly Finding[], failOn: FailOn): boolean {
  return SEVERITIES.some((severity) => {
    const allowed = failOn[severity];
    return allowed !== undefined && findings.filter((finding) => atLeast(finding.severity, severity)).length >= allowed;
  });
}

/** A failure of the work weighs most: it is something to act on. Then what kept the gate from judging. */
function worstOf(results: readonly Result[]): Result {
  const order: readonly Result[] = ["fail", "blocked", "error", "inconclusive"];
  if (results.length === 0) return "inconclusive";
  return order.find((result) => results.includes(result)) ?? "pass";
}

/**
 * What must be mended: the findings at or above the lightest severity that has a threshold. Where a reviewer
 * failed the work over lighter ones alone, all of that reviewer's, because nothing else explains the FAIL.
 */
function blockingFindings(
  findings: readonly (Finding & { readonly stage: string })[],
  stages: readonly StageResult[],
  rules: GateRules,
): Fingerprint[] {
  const failed = new Set(stages.filter((stage) => stage.result === "fail").map((stage) => stage.stage));
  const floor = SEVERITIES.findLast((severity) => rules.failOn[severity] !== undefined);
  const isGrave = (finding: Finding): boolean => floor !== undefined && atLeast(finding.severity, floor);
  const blocking = findings.filter((finding) => {
    if (!failed.has(finding.stage)) return false;
    if (rules.everyFinding || isGrave(finding)) return true;
    return !findings.some((other) => other.stage === finding.stage && isGrave(other));
  });
  return [...new Set(blocking.map((finding) => finding.id))];
}

function summaryOf(gate: GateName, result: Result, stages: readonly StageResult[], blocking: number): string {
  const at = stages.filter((stage) => stage.result === result && stage.stage !== gate).map((stage) => stage.stage);
  const where = at.length > 0 && result !== "pass" ? ` (${at.join(", ")})` : "";
  const count = result === "fail" ? `, ${blocking} to fix` : "";
  return `${gate}: ${result}${where}${count}`;
}
