import { placeOfFailure } from "../../core/gates/base-failures.ts";
import { mayChange } from "../../core/gates/base-test-verdict.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { TestedJudgement } from "../checks/checks-gate.ts";
import { missingTarget } from "./base-test-findings.ts";
import type { TestedWorkOptions } from "./pinned-run.ts";

/**
 * Targets that a run without a failure does not name, although it names its tests. Where the number of tests fell as
 * well, the run proves nothing; but a target that did not run is not met, and that is for the author to fix.
 */
export async function missingTargets(
  { workspace }: Pick<TestedWorkOptions, "workspace">,
  { atBase, licensed, story, base, tree }: GateRequest,
  { judgement, tests }: TestedJudgement,
): Promise<readonly Finding[]> {
  const isGreen = (judgement.runs ?? []).every(({ result }) => result === "pass");
  if (judgement.result !== "inconclusive" || !isGreen || !tests.isNamed || tests.passed.size === 0) return [];
  const passing = new Set(judgement.identities?.passing);
  const missing = atBase.targets.filter(
    (name) => name.includes(" > ") && !isWholeFile(name) && !passing.has(name) && !mayChange(name, licensed),
  );
  // Without a tree nothing is known of what changed.
  const changed = missing.length === 0 || tree === "" ? [] : await workspace.changedPaths(story.id, base, tree);
  return missing.map((name) => missingTarget(name, changed));
}

/** At the base the file did not load, so that none of its tests had a name: Node calls such a file a test, by its path. */
export function isWholeFile(target: string): boolean {
  const place = placeOfFailure(target);
  const title = target.slice(place.length + " > ".length);
  return title === place || title.endsWith(`/${place}`);
}
