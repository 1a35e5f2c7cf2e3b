import type { RoleName, StoryId, TreeId } from "../core/events/ids.ts";
import type { Phase } from "../core/stories/story.ts";

/** Where a story's code is, and its history. Remand commits; only git is asked what changed. */
export interface Workspace {
  /**
   * Makes the story's place, or finds it again, with its dependencies in it. Safe to repeat after a crash. A place that
   * is new begins with the work of the stories it comes after, where that is not in what everything starts from. The
   * signal ends the command that installs what it needs.
   */
  prepare(story: StoryId, after?: readonly StoryId[], signal?: AbortSignal): Promise<PreparedWorkspace>;
  /** Commits everything that is there now as one attempt. Safe to repeat: with nothing new it finds the commit again. */
  keep(story: StoryId, note: CommitNote): Promise<KeptCommit>;
  /**
   * Takes in what a person left: files that were changed in the place, or commits on the branch. `known` is the newest
   * state that the journal knows. With a `branch`, its commits are taken in instead. Safe to repeat.
   */
  adopt(story: StoryId, known: KeptCommit, note: CommitNote, branch?: string): Promise<KeptCommit>;
  /**
   * Is what was done so far in that which runs now on this machine? It is not where another machine began it: only
   * what was kept travels. Without this there is one machine only.
   */
  isHere?(story: StoryId): Promise<boolean>;
  /** The state of the files now, without committing them. */
  currentState(story: StoryId): Promise<{ readonly tree: TreeId; readonly commit: string }>;
  /** Paths that differ between two trees or commits. */
  changedPaths(story: StoryId, from: string, to: string): Promise<readonly string[]>;
  /** The difference as text, in git's unified form. */
  diff(story: StoryId, from: string, to: string): Promise<string>;
  /** The text of a file in a tree or commit; `null` where there is none. */
  fileAt(story: StoryId, at: string, path: string): Promise<string | null>;
  /** Brings an earlier tree back as the newest state. */
  restore(story: StoryId, tree: TreeId, note: CommitNote): Promise<KeptCommit>;
  /** Puts some files back as they are in an earlier tree or commit; everything else stays. Safe to repeat. */
  restorePaths(story: StoryId, paths: readonly string[], from: string, note: CommitNote): Promise<KeptCommit>;
  /**
   * Drops what an interrupted attempt left behind, so that the next one starts from what was kept. In a person's
   * own checkout it leaves everything as it is: the owner of those changes is unknown there.
   */
  forget(story: StoryId): Promise<void>;
  /** Takes the place away. Work that is on no branch of a person's is never deleted: its branch stays. */
  dispose(story: StoryId): Promise<void>;
}

export interface PreparedWorkspace {
  readonly path: string;
  readonly branch: string;
  readonly tree: TreeId;
  readonly commit: string;
  /** The commit the work started from. */
  readonly base: string;
}

export interface CommitNote {
  readonly attempt: number;
  readonly subject: string;
  /** The head of the journal at that time, so that the chain can be checked against git. */
  readonly journalHead: string;
  /** Who worked, and in which phase: so that a line can be told whose it is by its commit alone. */
  readonly role?: RoleName;
  readonly phase?: Phase;
}

export interface KeptCommit {
  readonly tree: TreeId;
  readonly commit: string;
}

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
