import type { AttemptOutcome } from "../domain/attempt.ts";
import type { StoryAction } from "../domain/command.ts";
import type { EscalationReason } from "../domain/escalation.ts";
import type { Limits, Policy } from "../domain/policy.ts";
import type { Counters, StoryState } from "../domain/story-state.ts";
import { escalateStory } from "./escalate.ts";

/**
 * The last dispatch gave nothing to judge. Says whether a person has to look; `null` means: dispatch again. None of
 * this is the work's failure, so every way of ending has its own bound, and they all end at a person.
 */
export function afterAgentFailure(state: StoryState, policy: Policy): StoryAction | null {
  const outcome = state.counters.lastFailure;
  if (outcome === null) return null;
  const reason = reasonToStop(outcome, state.counters, policy.limits) ?? retryNeedsApproval(state, policy, outcome);
  return reason === null ? null : { type: "raise-escalation", escalation: escalateStory(state, reason, null) };
}

function reasonToStop(outcome: AttemptOutcome, counters: Counters, limits: Limits): EscalationReason | null {
  const failure = (times: number, limit: number, detail: string): EscalationReason | null =>
    times < limit ? null : { type: "agent-failure", outcome: OUTCOME_WORDS[outcome.type], times, detail };
  switch (outcome.type) {
    case "incomplete":
      return incompleteReason(outcome, counters, limits);
    case "unclear":
    case "crashed":
      return failure(counters.agentFailures, limits.agentFailures, outcome.detail);
    case "timed-out":
      return failure(counters.timeouts, limits.timeouts, `no answer within ${Math.round(outcome.afterMs / 1000)} s`);
    case "rate-limited":
      return failure(counters.rateLimits, limits.rateLimits, "the provider keeps limiting the rate");
    case "refused":
      return failure(counters.refusals, limits.refusals, outcome.detail);
    case "unusable":
      return failure(1, 1, `${outcome.detail} — ${outcome.fix}`);
    default:
      return null;
  }
}

function incompleteReason(
  outcome: Extract<AttemptOutcome, { type: "incomplete" }>,
  counters: Counters,
  limits: Limits,
): EscalationReason | null {
  const isForAPerson = outcome.category === "missing_info" || outcome.category === "out_of_scope";
  if (!isForAPerson && counters.dependencyWaits < limits.dependencyWaits) return null;
  return { type: "incomplete", category: outcome.category, blocker: outcome.blocker, needed: outcome.needed };
}

function retryNeedsApproval(state: StoryState, policy: Policy, outcome: AttemptOutcome): EscalationReason | null {
  const isRetry =
    outcome.type === "unclear" ||
    outcome.type === "crashed" ||
    outcome.type === "timed-out" ||
    outcome.type === "refused";
  if (policy.autonomy !== "conservative" || !isRetry || state.counters.approvedRetry) return null;
  return { type: "approval", of: "retry" };
}

const OUTCOME_WORDS: Readonly<Record<AttemptOutcome["type"], string>> = {
  ready: "finished",
  incomplete: "stopped unfinished",
  blocked: "was blocked",
  unclear: "said nothing readable",
  crashed: "crashed",
  "timed-out": "timed out",
  "rate-limited": "was rate-limited",
  refused: "refused",
  unusable: "cannot be used",
  missing: "is missing",
  stopped: "was stopped",
  "cut-short": "was ended by a budget",
};
