import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { Policy } from "../events/policy.ts";
import type { GateName } from "./gate.ts";
import { GATE_REGISTRY } from "./registry.ts";

/** Which of these changed paths could have changed what the gate saw. Where there is none, what it proved still holds. */
export function affectingPaths(
  policy: Pick<Policy, "gates">,
  gate: GateName,
  changed: readonly string[],
): readonly string[] {
  if (GATE_REGISTRY[gate].seesEveryPath) return changed;
  const { affectedBy, unaffectedBy } = policy.gates[gate];
  return changed.filter(
    (path) => (affectedBy.length === 0 || matchesAnyGlob(path, affectedBy)) && !matchesAnyGlob(path, unaffectedBy),
  );
}

/**
 * A rework that was for tests, and changed nothing else, leaves the passes of reviewers alone: what they looked at is as
 * it was, and the tests are judged by the gates that run them (S1.49).
 */
export function isTestRework(
  policy: Pick<Policy, "scope">,
  sentBackBy: GateName | "person" | null,
  changed: readonly string[],
): boolean {
  if (sentBackBy === null || sentBackBy === "person" || GATE_REGISTRY[sentBackBy].reworkScope !== "tests") return false;
  return changed.every((path) => matchesAnyGlob(path, policy.scope.testPaths));
}

/** What is kept of a check's run: four lines about it, and then what it printed. */
export interface CheckLog {
  readonly check: string;
  readonly environment: string;
  readonly command: string;
  readonly ending: string;
  readonly output: string;
}

export function checkLogText({ check, environment, command, ending, output }: CheckLog): string {
  return `check: ${check}\nenvironment: ${environment}\n$ ${command}\n${ending}\n\n${output}`;
}

/** What the check itself printed. A text of another kind is all output. */
export function printedIn(log: string): string {
  if (!log.startsWith("check: ")) return log;
  const end = log.indexOf("\n\n");
  return end < 0 ? "" : log.slice(end + 2);
}
