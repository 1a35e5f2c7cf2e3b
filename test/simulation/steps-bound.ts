import { ENGINE_DEATHS, FAILURE_CEILING } from "../../src/core/stories/budget.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { targetMovesLimit } from "../../src/decide/next-delivery.ts";

/**
 * An upper bound on the steps of one story's run, from its policy alone, when no person answers anything. It is not
 * tight and need not be: it shows that the loop is bounded by what is configured and by nothing else.
 */
export function stepsBound(policy: Policy): number {
  const { limits, stall, phases } = policy;
  const gates = phases.flatMap((plan) => plan.gates);
  const failuresOf = (gate: (typeof gates)[number]): number => {
    const set = limits.failures[gate];
    return set === null
      ? limits.iterations
      : policy.circuitBreaker
        ? Math.min(FAILURE_CEILING, set + stall.grace)
        : FAILURE_CEILING;
  };
  // Every counted attempt is the first of a phase or the answer to a charged failure.
  const failures = [...new Set(gates)].reduce((sum, gate) => sum + failuresOf(gate), 0);
  const worked = Math.min(limits.iterations, phases.length * (failures + 1));
  const lost =
    worked * (limits.agentFailures + limits.rateLimits + limits.refusals) +
    limits.timeouts +
    limits.dependencyWaits +
    limits.blocked;
  const roles = Object.keys(policy.roles.fallback).length + 1;
  const asked = (worked + lost + roles) * limits.clarifications;
  // A target that moves closes the gates again, so often after each attempt.
  const rounds = (worked + 1) * (1 + targetMovesLimit(policy));
  const judged =
    rounds * (gates.length + 1) * (1 + limits.errors + limits.inconclusives) + limits.ciRetries + 1 + limits.blocked;
  // Blame, brief, restore, grace, delivery, acceptance and the like: at most this many around one judgement.
  const aroundOne = 8 * limits.errors;
  const repairs = (limits.blocked + 1) * limits.remediations * 2;
  const undisturbed = worked + lost + roles + asked + judged * aroundOne + repairs + 10;
  // Each step can be lost to a death of the engine and done again, until one death too many in the same step asks.
  return undisturbed * ENGINE_DEATHS + 1;
}
