import type { RunState } from "../domain/run-state.ts";
import { decide, nextWake } from "../policy/decide.ts";
import { LANES } from "../domain/lane.ts";

/** Is every story settled, or waits for a person? Nothing runs, nothing is to be done, and no time is waited for. */
export function isSettled(state: RunState, now: number): boolean {
  if (state.policy === null || LANES.some((lane) => state.busy[lane] > 0)) return false;
  return state.remediation === null && decide(state, state.policy, now).length === 0 && nextWake(state, now) === null;
}
