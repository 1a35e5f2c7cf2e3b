import type { StoryId } from "../core/events/ids.ts";
import type { KeptCommit, CommitNote } from "./workspace.ts";

/** How a story's branch comes together with the branch it is for. What is delivered is always named by its commit. */
export interface Integration {
  /** The branch that work is for, as it is now. */
  target(): Promise<TargetCommit>;
  /** Could this commit be merged as it is? Nothing is changed by asking. */
  mergeStatus(story: StoryId, commit: string): Promise<MergeStatus>;
  /** What the story's branch is at; `null` where there is none. */
  tip(story: StoryId): Promise<string | null>;
  /**
   * Has the branch be at the verified commit. Commits of ours that the journal does not know, and `drop`, are taken off
   * it and kept as the story's dropped commit. Any other commit stays, and is returned: nothing may be delivered then.
   */
  align(story: StoryId, verified: KeptCommit, drop: string | null): Promise<UnverifiedCommit | null>;
  /**
   * Brings what the target has got since then into the verified commit, as a commit on the branch. Where both changed
   * the same place the file holds git's marks of a conflict, to be resolved later. Where the target's history was
   * replaced, the work is put onto the new history, and nothing of the old one comes back with it.
   */
  update(
    story: StoryId,
    verified: KeptCommit,
    note: CommitNote,
  ): Promise<KeptCommit & { readonly conflicts: readonly string[] }>;
  /**
   * Puts the verified commit onto the target. The result holds the very files that were verified: where the target has
   * moved meanwhile nothing is done, and that is `null`. Safe to repeat.
   */
  merge(story: StoryId, verified: KeptCommit, note: CommitNote): Promise<TargetCommit | null>;
  /**
   * Does the target hold this work? It does if the commit is in its history, or if the target, now or at one of its
   * newest commits, has every change of it already, as after a squash or a rebase: merging it there changes no file.
   */
  holds(story: StoryId, verified: KeptCommit): Promise<{ readonly target: TargetCommit; readonly isHeld: boolean }>;
  /** Sends exactly this commit, as the story's branch, to where others see it. */
  publish(
    story: StoryId,
    commit: string,
  ): Promise<{ readonly remote: string; readonly branch: string; readonly base: string }>;
}

export interface TargetCommit {
  readonly branch: string;
  readonly commit: string;
}

/** A commit on a story's branch that no gate has passed. */
export interface UnverifiedCommit {
  readonly commit: string;
  readonly subject: string;
  readonly author: string;
}

export interface MergeStatus {
  readonly target: TargetCommit;
  /** Does the branch hold everything that the target has? */
  readonly isCurrent: boolean;
  readonly conflicts: readonly string[];
}
