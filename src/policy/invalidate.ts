import { affectingPaths } from "../domain/evidence-paths.ts";
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
  return affectingPaths(policy, gate, changed).length > 0;
}
