import type { StoryAction } from "../core/stories/command.ts";
import { type BriefVariant, GATE_REGISTRY } from "../core/gates/registry.ts";
import type { EscalationReason } from "../core/stories/escalation.ts";
import type { GateName, Judgement } from "../core/gates/gate.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Failing, StoryState } from "../core/stories/story-state.ts";
import { chargedGate, failureLimit, gateState, iterationLimit } from "./charge.ts";
import { bestRound, isStrictlyImproving, sincePass, roundsOf, stalledAtOnce, stalledByCause } from "./converge.ts";
import { escalateStory } from "./escalate.ts";
import { routeFailure } from "./route.ts";
import { scopeFor, unmetTargets } from "./scope-for.ts";

/**
 * Decides what follows a failed gate. Cheaper and more serious questions come first: can a command repair it, do the
 * reviewers contradict each other, is failure budget left, did the loop stall, what caused the failure, can rework fix
 * that cause, must a person approve. If nothing stops it, the work is sent back.
 */
export function afterFailure(state: StoryState, policy: Policy, failing: Failing, judgement: Judgement): StoryAction {
  const { gate } = failing;
  if (judgement.ciClass === "lint" && !gateState(state, gate).lintFixed) return { type: "fix-lint" };
  // A person already approved the rework: skip the rules that would ask again.
  if (failing.approved) return blameFirst(state, policy, failing, judgement) ?? sendBack(state, policy, judgement);
  return (
    tie(state, gate, judgement) ??
    checkFailureLimit(state, policy, judgement) ??
    checkStall(state, policy, failing) ??
    blameFirst(state, policy, failing, judgement) ??
    checkUnfixable(state, policy, failing, judgement) ??
    stalledWithCause(state, policy, gate) ??
    askApproval(state, policy, gate) ??
    sendBack(state, policy, judgement)
  );
}

/** Ends the loop as the policy says: ask a person, fail the story, or set it aside. */
export function giveUp(
  state: StoryState,
  policy: Policy,
  reason: EscalationReason,
  gate: GateName | null,
): StoryAction {
  const escalation = escalateStory(state, reason, gate);
  if (policy.onExhausted === "manual") return { type: "raise-escalation", escalation };
  const how = policy.onExhausted === "error" ? "exhausted" : "set-aside";
  return { type: "fail", how, reason: escalation.title };
}

function tie(state: StoryState, gate: GateName, judgement: Judgement): StoryAction | null {
  const conflict = judgement.conflicts?.find((each) => each.winner === null);
  if (conflict === undefined) return null;
  const [one, other] = conflict.between;
  const detail = `${one} and ${other} ask for opposite things at ${conflict.file}:${conflict.line}`;
  return { type: "raise-escalation", escalation: escalateStory(state, { type: "conflict", detail }, gate) };
}

function checkFailureLimit(state: StoryState, policy: Policy, judgement: Judgement): StoryAction | null {
  const gate = chargedGate(state, judgement);
  if (gate === null) return null;
  const { failures } = gateState(state, gate);
  const limit = failureLimit(state, gate);
  if (limit === null || failures < limit) return null;
  const graceLeft = policy.stall.grace - (state.grace[gate] ?? 0);
  const wouldRaise =
    (failureLimit({ ...state, grace: { ...state.grace, [gate]: (state.grace[gate] ?? 0) + 1 } }, gate) ?? 0) > limit;
  if (graceLeft > 0 && wouldRaise && isStrictlyImproving(roundsOf(state, gate), state.preExisting))
    return { type: "grant-grace", gate, failures };
  return giveUp(state, policy, { type: "budget", budget: `failures:${gate}`, used: failures, limit }, judgement.gate);
}

function checkStall(state: StoryState, policy: Policy, failing: Failing): StoryAction | null {
  const found = policy.circuitBreaker ? stalledAtOnce(state, policy, failing.gate) : null;
  if (found === null) return null;
  const best = bestRound(sincePass(roundsOf(state, failing.gate)), state.preExisting);
  if (found.stall === "regression-cascade" && !failing.restored && best !== null && best.tree !== state.tree)
    return { type: "restore-tree", tree: best.tree };
  return giveUp(state, policy, { type: "stall", ...found }, failing.gate);
}

function blameFirst(state: StoryState, policy: Policy, failing: Failing, judgement: Judgement): StoryAction | null {
  // The experiments and their result would reveal what a hidden check tests.
  const isHidden = (judgement.hidden?.failed ?? 0) > 0;
  // No attempt is left, so no agent would read the result.
  if (state.counters.attempts >= iterationLimit(state, policy)) return null;
  if (!policy.gates[failing.gate].blame || failing.blame !== null || isHidden) return null;
  return { type: "find-blame", gate: failing.gate, tree: judgement.tree };
}

/** Causes that rework cannot fix (S3.19 and S3.20). */
function checkUnfixable(state: StoryState, policy: Policy, failing: Failing, judgement: Judgement): StoryAction | null {
  // While a target is unmet, the fix may be outside the changes, so no person needs to say which of them is at fault.
  if (failing.blame?.verdict === "too-broad" && unmetTargets(state, judgement).length > 0) return null;
  const reason = unfixableReason(policy, failing);
  return reason === null ? null : { type: "raise-escalation", escalation: escalateStory(state, reason, failing.gate) };
}

function unfixableReason(policy: Policy, failing: Failing): EscalationReason | null {
  const { blame, gate } = failing;
  switch (blame?.verdict) {
    case "too-broad":
      return { type: "scope-too-broad", files: [...new Set(blame.suspects.map((suspect) => suspect.file))] };
    case "flaky":
    case "pre-existing":
      return { type: "non-deterministic", detail: blame.explanation };
    case "unknown":
      return policy.gates[gate].onUnexplained === "escalate"
        ? { type: "non-deterministic", detail: blame.explanation }
        : null;
    default:
      return null;
  }
}

function stalledWithCause(state: StoryState, policy: Policy, gate: GateName): StoryAction | null {
  const found = policy.circuitBreaker ? stalledByCause(state, policy, gate) : null;
  return found === null ? null : giveUp(state, policy, { type: "stall", ...found }, gate);
}

function askApproval(state: StoryState, policy: Policy, gate: GateName): StoryAction | null {
  if (policy.autonomy !== "conservative") return null;
  return { type: "raise-escalation", escalation: escalateStory(state, { type: "approval", of: "rework" }, gate) };
}

function sendBack(state: StoryState, policy: Policy, judgement: Judgement): StoryAction {
  const route = routeFailure(state, policy, judgement);
  const counted = chargedGate(state, judgement) ?? judgement.gate;
  return {
    type: "send-back",
    gate: judgement.gate,
    variant: variantFor(policy, judgement, route.phase !== "implement"),
    failure: gateState(state, counted).failures,
    failureLimit: failureLimit(state, counted),
    route,
    scope: scopeFor(state, policy, judgement, route),
  };
}

/** Chooses the form of the brief. */
function variantFor(policy: Policy, judgement: Judgement, isTextPhase: boolean): BriefVariant {
  if (isTextPhase) return "phase";
  const { brief, stagedBrief, hasStageReviewers, hasEnvironmentBrief } = GATE_REGISTRY[judgement.gate];
  if (hasStageReviewers && policy.preset === "story") return "phase";
  if (hasEnvironmentBrief && isEnvironmentSpecific(judgement)) return "environment";
  return policy.gates[judgement.gate].stages.length > 0 ? stagedBrief : brief;
}

/**
 * Whether a check passes in some environments and fails in others: that needs a different fix than a plain failure
 * (S0.25).
 */
function isEnvironmentSpecific(judgement: Judgement): boolean {
  const byCheck = new Map<string, Set<string>>();
  for (const run of judgement.runs ?? []) byCheck.set(run.check, (byCheck.get(run.check) ?? new Set()).add(run.result));
  return [...byCheck.values()].some((results) => results.has("pass") && results.has("fail"));
}
