import type { StoryId } from "../domain/ids.ts";
import type { Kept, KeepNote } from "./workspace.ts";

/** How a story's branch comes together with the branch it is for. */
export interface Integration {
  /** The branch that work is for, as it is now. */
  target(): Promise<Target>;
  /** Could it be merged as it is? Nothing is changed by asking. */
  standing(story: StoryId): Promise<BranchStanding>;
  /**
   * Brings what the target has got since then into the story's branch, as a commit of both. Where both changed the
   * same place the file holds git's marks of a conflict, for somebody to resolve. Safe to repeat.
   */
  update(story: StoryId, note: KeepNote): Promise<Kept & { readonly conflicts: readonly string[] }>;
  /**
   * Puts the story's work onto the target. The result holds the very files that were judged: where the target has
   * moved meanwhile nothing is done, and that is `null`. Safe to repeat.
   */
  merge(story: StoryId, note: KeepNote): Promise<Target | null>;
  /** Sends the story's branch to where others see it. */
  publish(story: StoryId): Promise<{ readonly remote: string; readonly branch: string; readonly base: string }>;
}

export interface Target {
  readonly branch: string;
  readonly commit: string;
}

export interface BranchStanding {
  readonly target: Target;
  /** Does the branch hold everything that the target has? */
  readonly isCurrent: boolean;
  readonly conflicts: readonly string[];
}
