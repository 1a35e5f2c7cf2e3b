import type { RunState } from "../domain/run-state.ts";
import { entries } from "../stdx/sorted-map.ts";

/** Has an agent worked, or begun to, on a story that is not over? */
export function isUnderWay(state: RunState): boolean {
  for (const [, { ending, startedAt }] of entries(state.stories))
    if (ending === null && startedAt !== null) return true;
  return false;
}
