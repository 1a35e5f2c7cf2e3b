import type { Finding } from "../domain/finding.ts";
import type { ReworkRecord, ReworkTrigger } from "../domain/rework-log.ts";
import { toReviewScale } from "../domain/severity.ts";
import { unreachable } from "../stdx/assert.ts";
import { instant, jsonText } from "./json-text.ts";

/** `rework-log.json` as S1 defines it. */
export function writeReworkLog(sliceId: string, records: readonly ReworkRecord[]): string {
  return jsonText({
    slice_id: sliceId,
    rework_entries: records.map((record) => ({
      gate: record.gate,
      attempt: record.attempt,
      timestamp: instant(record.at),
      trigger: triggerOf(record.trigger),
      action_taken: record.actionTaken,
      outcome: record.outcome,
    })),
  });
}

function triggerOf(trigger: ReworkTrigger): object {
  switch (trigger.type) {
    case "findings":
      // S1 writes the names of its stages with underscores.
      return { stage: trigger.stage.replaceAll("-", "_"), findings: trigger.findings.map(findingOf) };
    case "survivors":
      return {
        survivors: trigger.survivors.map(({ file, line, mutation, recommendedTest }) => ({
          file,
          line,
          mutation,
          recommended_test: recommendedTest,
        })),
        score: trigger.score,
      };
    case "tdd":
      return { phase: trigger.phase?.toUpperCase() ?? null, output: trigger.output, concerns: trigger.concerns };
    case "ci":
      return { classification: trigger.classification, step: trigger.step, output: trigger.output };
    case "checks":
      return { failures: trigger.failures.map(({ check, environment, details }) => ({ check, environment, details })) };
    case "criteria":
      return {
        failed_criteria: trigger.failed.map(({ criterion, reason }) => ({ criterion, reason })),
        findings: trigger.findings.map(findingOf),
      };
    case "reasons":
      return { reasons: trigger.reasons };
    default:
      return unreachable(trigger);
  }
}

/** All four keys are always there; a finding without a place says so with `null`. */
function findingOf(finding: Finding): object {
  return {
    severity: toReviewScale(finding.severity),
    file: finding.file ?? null,
    line: finding.line ?? null,
    description: finding.message,
  };
}
