import { FAILURE_CEILING } from "../core/stories/budget.ts";
import type { Policy } from "../core/events/policy.ts";
import type { GateName, Judgement } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import type { GateState, StoryState } from "../core/stories/story-state.ts";
import { UNJUDGED } from "../fold/new-state.ts";

/**
 * Charges a failure to its rework budget. No other code charges. The fold calls it, so every replay of the journal gets
 * the same counts, and a crash cannot fall between failure and charge.
 */
export function chargeFailure(state: StoryState, judgement: Judgement): StoryState {
  const gate = chargedGate(state, judgement);
  return gate === null ? state : addFailures(state, gate, 1);
}

/** Reverses a charge when blame shows that the work did not cause the failure. */
export function refundFailure(state: StoryState, judgement: Judgement): StoryState {
  const gate = chargedGate(state, judgement);
  return gate === null ? state : addFailures(state, gate, -1);
}

/**
 * Returns the gate whose budget a judgement is charged to; `null` for none. Only failures of the work are charged. A
 * failed CI run counts as a test failure if a test or the build failed (S1.32), and is not charged if the runner
 * failed. A lint failure is first repaired by a command.
 */
export function chargedGate(state: StoryState, judgement: Judgement): GateName | null {
  if (judgement.result !== "fail") return null;
  const { gate } = judgement;
  if (!GATE_REGISTRY[gate].classifiesRuns) return gate;
  switch (judgement.ciClass) {
    case "infrastructure":
    case "flaky":
      return null;
    case "test":
    case "build":
      return testGateOf(state) ?? gate;
    case "lint":
      return gateState(state, gate).lintFixed ? gate : null;
    default:
      return gate;
  }
}

/**
 * Returns the story's gate that is responsible for tests: the TDD gate, if there is one, before a gate that only runs
 * them.
 */
function testGateOf(state: StoryState): GateName | undefined {
  const gates = (state.policy?.phases.flatMap((plan) => plan.gates) ?? []).filter(
    (gate) => GATE_REGISTRY[gate].runsTests,
  );
  return gates.find((gate) => GATE_REGISTRY[gate].hasTddPhases) ?? gates[0];
}

/** Returns how many attempts a story may have. */
export const iterationLimit = ({ raised }: StoryState, { limits }: Policy): number =>
  raised.iterations ?? limits.iterations;

/** Returns how many failed judgements of a gate end the loop; `null` if only other limits apply. */
export function failureLimit(state: StoryState, gate: GateName): number | null {
  const policy = state.policy;
  if (policy === null) return null;
  const { maxReworks } = state.story;
  const own = maxReworks === undefined ? policy.limits.failures[gate] : maxReworks + 1;
  if (own === null) return null;
  // Without the circuit breaker the configured limit is ignored, but the hard ceiling still applies.
  if (!policy.circuitBreaker) return FAILURE_CEILING;
  const limit = state.raised[`failures:${gate}`] ?? own;
  return Math.min(FAILURE_CEILING, limit + (state.grace[gate] ?? 0));
}

export function gateState(state: StoryState, gate: GateName): GateState {
  return state.gates[gate] ?? UNJUDGED;
}

export function withGate(state: StoryState, gate: GateName, change: Partial<GateState>): StoryState {
  return { ...state, gates: { ...state.gates, [gate]: { ...gateState(state, gate), ...change } } };
}

function addFailures(state: StoryState, gate: GateName, by: 1 | -1): StoryState {
  const { failures, failuresEver } = gateState(state, gate);
  return withGate(state, gate, { failures: Math.max(0, failures + by), failuresEver: Math.max(0, failuresEver + by) });
}
