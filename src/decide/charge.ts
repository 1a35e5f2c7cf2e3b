import { FAILURE_CEILING } from "../core/stories/budget.ts";
import type { Policy } from "../core/events/policy.ts";
import type { GateName, Judgement } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import type { GateState, StoryState } from "../core/stories/story-state.ts";
import { UNJUDGED } from "../fold/new-state.ts";

/**
 * The one place that charges rework budgets. Charging is part of the fold, not a separate step: every replay of the
 * journal gets the same counts, and a crash cannot fall between failure and charge.
 */
export function chargeFailure(state: StoryState, judgement: Judgement): StoryState {
  const gate = chargedGate(state, judgement);
  return gate === null ? state : addFailures(state, gate, 1);
}

/** Takes a charge back when blame shows that the failure was not the work's. */
export function refundFailure(state: StoryState, judgement: Judgement): StoryState {
  const gate = chargedGate(state, judgement);
  return gate === null ? state : addFailures(state, gate, -1);
}

/**
 * The gate whose budget a judgement is charged to; `null` for none. Only a failure of the work is charged. A CI run
 * that failed by a test or a build counts as a test failure (S1.32), one that failed by the runner is not charged, and a
 * lint failure gets one repair by command first.
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

/** The gate of the story that answers for tests: that of the TDD cycle before one that only runs them. */
function testGateOf(state: StoryState): GateName | undefined {
  const gates = (state.policy?.phases.flatMap((plan) => plan.gates) ?? []).filter(
    (gate) => GATE_REGISTRY[gate].runsTests,
  );
  return gates.find((gate) => GATE_REGISTRY[gate].hasTddPhases) ?? gates[0];
}

/** The most attempts of a story. */
export const iterationLimit = ({ raised }: StoryState, { limits }: Policy): number =>
  raised.iterations ?? limits.iterations;

/** How many failed judgements of a gate end the loop; `null` where another bound does that. */
export function failureLimit(state: StoryState, gate: GateName): number | null {
  const policy = state.policy;
  if (policy === null) return null;
  const { maxReworks } = state.story;
  const own = maxReworks === undefined ? policy.limits.failures[gate] : maxReworks + 1;
  if (own === null) return null;
  // Without the breaker the configured limit is ignored, and the hard ceiling still holds.
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
