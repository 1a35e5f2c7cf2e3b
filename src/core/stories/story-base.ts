import { EVERY_FAILURE, failureKinds, matchesTest, type BaseFailures } from "../gates/base-failures.ts";
import type { Story } from "./story.ts";
import type { StoryState } from "./story-state.ts";

/** What failed at the base of a story, sorted by the configuration, by the story, and by what people answered. */
export function baseFailuresOf(state: StoryState): BaseFailures {
  const { preExisting: failing, flakyAtBase: flaky = [], policy, story } = state;
  const known = [...(policy?.knownFailures ?? []), ...(state.known ?? [])];
  const named = (story.target ?? []).filter((pattern) => pattern !== EVERY_FAILURE);
  const isNamed = (name: string): boolean => named.some((pattern) => matchesTest(name, pattern));
  const isKnown = (name: string): boolean => known.some(({ test }) => matchesTest(name, test));
  const wantsAll = (story.target ?? []).includes(EVERY_FAILURE);
  const isTarget = (name: string): boolean =>
    isNamed(name) || (state.targets ?? []).includes(name) || (wantsAll && !isKnown(name));
  // A target is never quarantined: a flaky test that the story names must become steady.
  const targets = [...failing.filter(isTarget), ...flaky.filter(isNamed)];
  return { failing, flaky: flaky.filter((name) => !isNamed(name)), known, targets };
}

/** Failures at the base of a story without a target that no person has classified. */
export function unsortedFailures(state: StoryState): readonly string[] {
  if (state.flakyAtBase === undefined || (state.story.target ?? []).length > 0) return [];
  const base = baseFailuresOf(state);
  const kindOf = failureKinds(base);
  return (base.failing ?? []).filter((name) => kindOf(name) === "unrelated");
}

/** Targets of the story that match nothing which fails at the base: there is nothing to make pass. */
export function targetsNotFailing(state: StoryState): readonly string[] {
  const { preExisting, flakyAtBase, story } = state;
  if (flakyAtBase === undefined) return [];
  const red = [...preExisting, ...flakyAtBase];
  return (story.target ?? []).filter(
    (pattern) => pattern !== EVERY_FAILURE && !red.some((name) => matchesTest(name, pattern)),
  );
}

/**
 * A story as its file says it now, with the license to change tests that it had when it started. A later edit of the
 * file gives none: an agent may have made it.
 */
export function keepingLicense({ startedAt, story: before }: StoryState, now: Story): Story {
  if (startedAt === null) return now;
  const { tests: _later, ...others } = now;
  return before.tests === undefined ? others : { ...others, tests: before.tests };
}
