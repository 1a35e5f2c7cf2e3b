import { GATES, type GateName, isReviewed, affectingPaths, isTestRework } from "../core/gates/gate.ts";
import type { Fingerprint } from "../core/events/ids.ts";
import type { Phase } from "../core/stories/story.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import type { Policy } from "../core/events/policy.ts";
import { gateState, withGate } from "./charge.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";

/** Whether the gate lets the work through: by a pass that still holds, or by a person's waiver. Nothing else does. */
export function isOpen(state: StoryState, gate: GateName, base: string): boolean {
  return hasPassed(state, gate, base) || isWaived(state, gate);
}

function hasPassed(state: StoryState, gate: GateName, base: string): boolean {
  const { last, fresh, base: judgedBase } = gateState(state, gate);
  if (last === null || !fresh || last.result !== "pass") return false;
  // A merge check holds for one base: if the base has moved, it proves nothing.
  return !GATE_REGISTRY[gate].judgesWithTarget || judgedBase === base;
}

/**
 * Whether a waiver lets the current result through. A waiver covers the findings that it names, on every tree, and no
 * others: one more blocking finding fails the gate again. A waiver without findings covers one tree with any result.
 */
function isWaived(state: StoryState, gate: GateName): boolean {
  const own = state.waivers.filter((waiver) => waiver.gate === gate);
  if (own.length === 0) return false;
  if (own.some((waiver) => waiver.tree !== null && waiver.tree === state.tree)) return true;
  const { last, fresh } = gateState(state, gate);
  if (last === null || !fresh || last.result !== "fail" || last.blocking.length === 0) return false;
  return unwaivedFindings(state, gate, last.blocking).length === 0;
}

/** Returns the findings that no waiver of the gate covers. */
export function unwaivedFindings(
  state: StoryState,
  gate: GateName,
  findings: readonly Fingerprint[],
): readonly Fingerprint[] {
  const covered = new Set(state.waivers.flatMap((waiver) => (waiver.gate === gate ? waiver.findings : [])));
  return findings.filter((finding) => !covered.has(finding));
}

export function gatesOfPhase(state: StoryState, phase: Phase): readonly GateName[] {
  return state.policy?.phases.find((plan) => plan.phase === phase)?.gates ?? [];
}

/** Returns the first gate of the current phase that does not let the work through. */
export function nextGate(state: StoryState, base: string): GateName | null {
  return gatesOfPhase(state, state.phase).find((gate) => !isOpen(state, gate, base)) ?? null;
}

/**
 * Marks gates as stale if a change can affect their evidence. They run again; every other gate keeps its result,
 * because nothing that it looked at changed.
 */
export function invalidateGates(state: StoryState, changed: readonly string[]): StoryState {
  const policy = state.policy;
  if (policy === null || changed.length === 0) return state;
  let next = state;
  for (const gate of GATES) {
    if (gateState(next, gate).fresh && affects(policy, gate, changed)) next = withGate(next, gate, { fresh: false });
  }
  return next;
}

/** Does the same after a rework. A rework of tests alone keeps the passes of reviewers. */
export function invalidateAfterRework(state: StoryState, changed: readonly string[]): StoryState {
  const next = invalidateGates(state, changed);
  if (state.policy === null || !isTestRework(state.policy, state.rework?.gate ?? null, changed)) return next;
  return GATES.filter(isReviewed).reduce(
    (kept, each) => (gateState(state, each).fresh ? withGate(kept, each, { fresh: true }) : kept),
    next,
  );
}

/** Whether a change of these paths could change what the gate saw. */
export function affects(policy: Policy, gate: GateName, changed: readonly string[]): boolean {
  return affectingPaths(policy, gate, changed).length > 0;
}
