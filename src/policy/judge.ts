import { failureFingerprint, type Finding } from "../domain/finding.ts";
import type { GateName, StageResult } from "../domain/gate.ts";
import type { Hearing, Judged, Verdict } from "../domain/hearing.ts";
import type { Fingerprint } from "../domain/ids.ts";
import type { GateRules } from "../domain/policy.ts";
import { worstResult, type Result } from "../domain/result.ts";
import { failsGate, mustBeFixed } from "../domain/thresholds.ts";
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
  return failsGate(findings, rules) ? "fail" : "pass";
}

/** What must be fixed, of each stage that failed: every reviewer's own findings explain its FAIL. */
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
  // In the order in which they were said.
  return [...new Set(findings.filter((finding) => blocking.has(finding)).map((finding) => finding.id))];
}

function summaryOf(gate: GateName, result: Result, stages: readonly StageResult[], blocking: number): string {
  const at = stages.filter((stage) => stage.result === result && stage.stage !== gate).map((stage) => stage.stage);
  const where = at.length > 0 && result !== "pass" ? ` (${at.join(", ")})` : "";
  const count = result === "fail" ? `, ${blocking} to fix` : "";
  return `${gate}: ${result}${where}${count}`;
}
