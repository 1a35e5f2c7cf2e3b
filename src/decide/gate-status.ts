import { GATES, type GateName, isReviewed, affectingPaths, isTestRework } from "../core/gates/gate.ts";
import type { Fingerprint } from "../core/events/ids.ts";
import type { Phase } from "../core/stories/story.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import type { Policy } from "../core/events/policy.ts";
import { gateState, withGate } from "./charge.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";

/** Is the gate open: by a pass that still holds, or by a person's waiver? Nothing else opens it. */
export function isOpen(state: StoryState, gate: GateName, base: string): boolean {
  return hasPassed(state, gate, base) || isWaived(state, gate);
}

function hasPassed(state: StoryState, gate: GateName, base: string): boolean {
  const { last, fresh, base: judgedBase } = gateState(state, gate);
  if (last === null || !fresh || last.result !== "pass") return false;
  // A merge check speaks of one base; when the base has moved it speaks of nothing.
  return !GATE_REGISTRY[gate].judgesWithTarget || judgedBase === base;
}

/**
 * A waiver covers the findings it names, whatever tree they are found in again, and no other: one more blocking
 * finding closes the gate. A waiver that names none covers one tree, whatever the gate said of it.
 */
function isWaived(state: StoryState, gate: GateName): boolean {
  const own = state.waivers.filter((waiver) => waiver.gate === gate);
  if (own.length === 0) return false;
  if (own.some((waiver) => waiver.tree !== null && waiver.tree === state.tree)) return true;
  const { last, fresh } = gateState(state, gate);
  if (last === null || !fresh || last.result !== "fail" || last.blocking.length === 0) return false;
  return unwaivedFindings(state, gate, last.blocking).length === 0;
}

/** Those of the findings that no waiver of the gate covers. */
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

/** The first gate of the present phase that is not open. */
export function nextGate(state: StoryState, base: string): GateName | null {
  return gatesOfPhase(state, state.phase).find((gate) => !isOpen(state, gate, base)) ?? null;
}

/**
 * Marks the gates whose evidence a change can have touched. Those are judged again; every other gate keeps what
 * it proved, because nothing it looked at is different.
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

/** The same after a rework. One that was for tests alone leaves the passes of reviewers as they are. */
export function invalidateAfterRework(state: StoryState, changed: readonly string[]): StoryState {
  const next = invalidateGates(state, changed);
  if (state.policy === null || !isTestRework(state.policy, state.rework?.gate ?? null, changed)) return next;
  return GATES.filter(isReviewed).reduce(
    (kept, each) => (gateState(state, each).fresh ? withGate(kept, each, { fresh: true }) : kept),
    next,
  );
}

/** Could a change to these paths have changed what the gate saw? */
export function affects(policy: Policy, gate: GateName, changed: readonly string[]): boolean {
  return affectingPaths(policy, gate, changed).length > 0;
}
