import type { GateName, Judgement } from "../domain/gate.ts";
import type { TreeId } from "../domain/ids.ts";
import type { StoryState } from "../domain/story-state.ts";

/** Gates whose pass says that the tests are as they should be: they were seen to fail first, or were read. */
const SEE_TESTS: readonly GateName[] = ["tdd", "review", "audit"];

/**
 * The gate passed these files: their tests are pinned from now on, beside those of the base. A run of the tests that
 * contests some of them has left the ruling to a reviewer or a person, so it pins nothing.
 */
export function withTestsSeen(state: StoryState, { gate, tree, contested = [] }: Judgement): StoryState {
  if (!SEE_TESTS.includes(gate) || (gate === "tdd" && contested.length > 0)) return state;
  return { ...state, seenTree: tree };
}

/** The engine itself moved the files. What was seen and has not changed since is seen as it is now. */
export function withTestsMoved(before: StoryState, after: StoryState): StoryState {
  const isSeen = before.seenTree !== undefined && before.seenTree === before.tree;
  return isSeen && after.tree !== null ? { ...after, seenTree: after.tree } : withoutTestsSeen(after);
}

/** Older files are back, or files of another base: what was seen does not belong to them. */
export function withoutTestsSeen(state: StoryState): StoryState {
  const { seenTree: _gone, ...rest } = state;
  return rest;
}

/** A person has looked at these files. */
export const withTestsSeenBy = (state: StoryState, tree: TreeId | null): StoryState =>
  tree === null ? state : { ...state, seenTree: tree };
