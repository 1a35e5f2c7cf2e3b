import { type Finding, toReviewScale, type TriedFinding, locationText } from "../../core/gates/finding.ts";
import type {
  EscalationContext,
  FailedTask,
  ReworkRecord,
  ReworkTrigger,
  TrackedLocation,
} from "../../core/stories/rework-log.ts";
import { unreachable } from "../../stdx/assert.ts";
import { instant, jsonText } from "../../stdx/canonical-json.ts";
import type { Escalation, GivenAnswers } from "../../core/stories/escalation.ts";
import { byText } from "../../stdx/sorted-map.ts";
import { reasonInWords } from "./escalation.ts";

/** `rework-log.json` as S1.44 defines it. */
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
      // S1.45 writes the names of its stages with underscores.
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

/** All four keys are always present; a finding without a location has `null`. */
function findingOf(finding: Finding): object {
  return {
    severity: toReviewScale(finding.severity),
    file: finding.file ?? null,
    line: finding.line ?? null,
    description: finding.message,
  };
}

/** S0.34: the failed tasks, in order of time. */
export function writeFailedTasks(tasks: readonly FailedTask[]): string {
  return jsonText(
    tasks.map(({ taskId, reason, reviewAttempts, auditAttempts, takenUpBy }) => ({
      task_id: taskId,
      reason,
      review_attempts: reviewAttempts,
      audit_attempts: auditAttempts,
      ...(takenUpBy === undefined ? {} : { taken_up_by: takenUpBy }),
    })),
  );
}

/** S3.27: attempts, outcomes and cost per location; `file#symbol` if the symbol is known. */
export function writeLocationTracking(locations: readonly TrackedLocation[]): string {
  // A null prototype, because a file may be called "__proto__".
  const byPlace = Object.create(null) as Record<string, object>;
  const keyed = locations.map((location) => ({ key: keyOf(location), location }));
  for (const { key, location } of keyed.sort((a, b) => byText(a.key, b.key))) {
    byPlace[key] = {
      attempts: location.attempts,
      lastAttempt: instant(location.lastAttemptAt),
      outcomes: location.outcomes,
      totalCost: location.totalCostUsd,
    };
  }
  return jsonText(byPlace);
}

const keyOf = ({ file, symbol }: TrackedLocation): string => (symbol === undefined ? file : `${file}#${symbol}`);

/** Why an attempt failed: a gate's own text has only a count, so the findings are added. */
function whyItFailed(failed: string, findings: readonly TriedFinding[]): string {
  const titles = findings.map((finding) => {
    const place = locationText(finding);
    return place === "" ? finding.title : `${place}: ${finding.title}`;
  });
  return titles.length === 0 ? failed : titles.join("; ");
}

/** S1.36: one file per escalation, for the audit trail. */
export function writeEscalationRecord(
  escalation: Escalation,
  sliceId: string,
  atMs: number,
  context: EscalationContext | null,
  answers: GivenAnswers = [],
): string {
  const outputsOf = (attempt: number): object[] =>
    (context?.outputs ?? []).flatMap(({ attempt: of, ...each }) => (of === attempt ? [each] : []));
  return jsonText({
    slice_id: sliceId,
    escalation_id: escalation.id,
    timestamp: instant(atMs),
    slice:
      context === null
        ? null
        : { description: context.title, definition: context.definition, acceptance_criteria: context.criteria },
    gate: escalation.gate,
    kind: escalation.kind,
    reason: reasonInWords(escalation),
    status: triageStatus(answers),
    answers: answers.map(({ verb, by, message, at }) => ({ verb, by, message, timestamp: instant(at) })),
    attempts: escalation.attempts.map(({ attempt, tried, failed, findings = [], findingsLeftOut = 0 }) => ({
      attempt,
      action: tried,
      result: failed,
      why_it_failed: whyItFailed(failed, findings),
      findings: findings.map(({ id, gate, title, file = null, line = null, status, seenIn }) => ({
        id,
        gate,
        title,
        file,
        line,
        status,
        seen_in_attempt: seenIn,
      })),
      findings_left_out: findingsLeftOut,
      outputs: outputsOf(attempt),
    })),
    current_state: { branch: escalation.branch, last_commit: escalation.commit },
    root_cause: escalation.assessment,
    recommendation: escalation.recommendation,
    question: escalation.question,
    options: escalation.options.map(({ verb, does, cost }) => ({ verb, does, cost })),
  });
}

/** The four states of an item of triage (S3.32). */
function triageStatus(answers: GivenAnswers): "pending" | "acted" | "dismissed" | "deferred" {
  const last = answers.at(-1)?.verb;
  if (last === undefined) return "pending";
  return last === "dismiss" ? "dismissed" : last === "defer" ? "deferred" : "acted";
}
