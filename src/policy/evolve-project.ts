import { spend } from "../domain/budget.ts";
import type { Answer, Event, Recorded } from "../domain/event.ts";
import type { Remediation } from "../domain/remediation.ts";
import type { RunState } from "../domain/run-state.ts";
import { broken } from "./remediate.ts";

/** One event of the project's own stream: rules, surroundings, the run's money. */
export function evolveProject(before: RunState, { event, at }: Recorded): RunState {
  const run: RunState = { ...before, seq: before.seq + 1 };
  switch (event.type) {
    case "policy.set":
      return { ...run, policy: event.policy };
    case "base.moved":
      return { ...run, base: event.commit };
    case "run.resumed":
      return { ...run, halted: null };
    case "escalation.raised":
      return { ...run, escalation: event.escalation, escalations: run.escalations + 1 };
    case "person.answered":
      return answered(run, event.answer);
    case "budget.warned":
      return { ...run, warned: [...run.warned, event.budget] };
    case "infrastructure.blocked":
      return run.remediation === null ? { ...run, remediation: broken(event.issue, at) } : run;
    default:
      return remediated(run, event);
  }
}

function remediated(run: RunState, event: Event): RunState {
  const { remediation } = run;
  if (event.type === "remediation.finished" || event.type === "health.checked") {
    const paid = { ...run, spent: spend(run.spent, event, true) };
    return remediation === null ? paid : { ...paid, remediation: ended(remediation, event) };
  }
  if (event.type !== "remediation.started" || remediation === null) return run;
  // The try is counted before it begins: a crash must not grant a free one.
  return { ...run, remediation: { ...remediation, tries: event.attempt, stage: "repairing" } };
}

function ended(
  remediation: Remediation,
  event: Extract<Event, { type: "remediation.finished" | "health.checked" }>,
): Remediation | null {
  if (event.type === "remediation.finished") {
    const tried = { attempt: event.attempt, fixes: event.fixes, healthy: false, remaining: [] };
    return { ...remediation, stage: "repaired", history: [...remediation.history, tried] };
  }
  if (event.healthy) return null;
  const history = remediation.history.map((each, index) =>
    index === remediation.history.length - 1 ? { ...each, remaining: event.remaining } : each,
  );
  return { ...remediation, stage: "waiting", history };
}

/** A person's word about the surroundings, or about the money of the whole run. */
function answered(run: RunState, answer: Answer): RunState {
  const next: RunState = { ...run, escalation: null };
  switch (answer.verb) {
    case "retry":
      if (run.remediation === null) return next;
      return {
        ...next,
        remediation: {
          ...run.remediation,
          tries: 0,
          stage: "waiting",
          guidance: [...run.remediation.guidance, answer.message],
        },
      };
    case "declare-healthy":
      return { ...next, remediation: null };
    case "halt":
      return { ...next, halted: { by: answer.by, reason: answer.message } };
    case "raise-budget":
      if (answer.budget === undefined || answer.limit === undefined) return next;
      return { ...next, raised: { ...run.raised, [answer.budget]: answer.limit } };
    default:
      return run;
  }
}
