import { matchesAnyGlob } from "../stdx/glob.ts";
import type { GateName } from "./gate.ts";
import type { Policy } from "./policy.ts";

/** Integrity judges the difference itself, CI and merge the commit: no path is outside of those. */
const LOOK_AT_EVERYTHING: readonly GateName[] = ["integrity", "ci", "merge"];

/** Which of these changed paths could have changed what the gate saw. Where there is none, what it proved still holds. */
export function affectingPaths(
  policy: Pick<Policy, "gates">,
  gate: GateName,
  changed: readonly string[],
): readonly string[] {
  if (LOOK_AT_EVERYTHING.includes(gate)) return changed;
  const { affectedBy, unaffectedBy } = policy.gates[gate];
  return changed.filter(
    (path) => (affectedBy.length === 0 || matchesAnyGlob(path, affectedBy)) && !matchesAnyGlob(path, unaffectedBy),
  );
}
