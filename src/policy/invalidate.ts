import { matchesAnyGlob } from "../stdx/glob.ts";
import type { GateName } from "../domain/gate.ts";
import { GATES } from "../domain/gate.ts";
import type { Policy } from "../domain/policy.ts";
import type { StoryState } from "../domain/story-state.ts";
import { gateState, withGate } from "./charge.ts";

/**
 * Marks the gates whose evidence a change can have touched. Those are judged again; every other gate keeps what
 * it proved, because nothing it looked at is different.
 */
export function invalidated(state: StoryState, changed: readonly string[]): StoryState {
  const policy = state.policy;
  if (policy === null || changed.length === 0) return state;
  let next = state;
  for (const gate of GATES) {
    if (gateState(next, gate).fresh && affects(policy, gate, changed)) next = withGate(next, gate, { fresh: false });
  }
  return next;
}

/** Could a change to these paths have changed what the gate saw? */
export function affects(policy: Policy, gate: GateName, changed: readonly string[]): boolean {
  // Integrity judges the difference itself, CI and merge the commit: no path is outside of those.
  if (gate === "integrity" || gate === "ci" || gate === "merge") return changed.length > 0;
  const { affectedBy, unaffectedBy } = policy.gates[gate];
  return changed.some(
    (path) => (affectedBy.length === 0 || matchesAnyGlob(path, affectedBy)) && !matchesAnyGlob(path, unaffectedBy),
  );
}
