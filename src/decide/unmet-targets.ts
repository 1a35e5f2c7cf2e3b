import { baseFailuresOf } from "../core/gates/base-failures.ts";
import type { Judgement } from "../core/gates/gate.ts";
import type { StoryState } from "../core/stories/story-state.ts";

/**
 * Targets of the story that a judgement does not show to pass: they failed, were skipped, or the check ended before its
 * tests. A gate that says nothing of single tests leaves none open.
 */
export function unmetTargets(state: StoryState, { gate, identities }: Judgement): readonly string[] {
  if (identities === undefined) return [];
  const { failing, passing, ranTests } = identities;
  const levels = Object.values(state.baseRuns?.[gate]?.names ?? {});
  // Where passing tests are not named, one that did not fail in a run of tests counts as passed.
  const isSilent = ranTests.length > 0 && !levels.includes("all");
  return baseFailuresOf(state).targets.filter(
    (target) => failing.includes(target) || !(isSilent || passing.includes(target)),
  );
}
