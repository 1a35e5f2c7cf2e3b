import type { Escalation } from "../domain/escalation.ts";
import type { FailedTask, TrackedLocation } from "../domain/rework-log.ts";
import { byText } from "../stdx/sorted-map.ts";
import { reasonInWords } from "./escalation.ts";
import { instant, jsonText } from "./json-text.ts";

/** S0: the tasks that were given up, in the order that happened. */
export function writeFailedTasks(tasks: readonly FailedTask[]): string {
  return jsonText(
    tasks.map(({ taskId, reason, reviewAttempts, auditAttempts }) => ({
      task_id: taskId,
      reason,
      review_attempts: reviewAttempts,
      audit_attempts: auditAttempts,
    })),
  );
}

/** S3: attempts, outcomes and cost by place; `file#symbol` where the symbol is known. */
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

/** S1: one file per escalation, for the audit trail. */
export function writeEscalationRecord(escalation: Escalation, sliceId: string, atMs: number): string {
  return jsonText({
    slice_id: sliceId,
    escalation_id: escalation.id,
    timestamp: instant(atMs),
    gate: escalation.gate,
    kind: escalation.kind,
    reason: reasonInWords(escalation.reason),
    attempts: escalation.attempts.map(({ attempt, tried, failed, findings = [], findingsLeftOut = 0 }) => ({
      attempt,
      action: tried,
      result: failed,
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
    })),
    current_state: { branch: escalation.branch, last_commit: escalation.commit },
    root_cause: escalation.assessment,
    recommendation: escalation.recommendation,
    question: escalation.question,
    options: escalation.options.map(({ verb, does, cost }) => ({ verb, does, cost })),
  });
}
