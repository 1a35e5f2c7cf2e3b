import type { RoleName, StoryId, TreeId } from "../core/events/ids.ts";
import type { Phase } from "../core/stories/story.ts";

/** The code of a story, and its history. Remand commits; what changed comes from git alone. */
export interface Workspace {
  /**
   * Makes the story's worktree with its dependencies, or finds it again. Safe to repeat after a crash. A new worktree
   * begins with the work of the stories that it depends on, if the target does not have that yet. The signal ends the
   * command that installs dependencies.
   */
  prepare(story: StoryId, after?: readonly StoryId[], signal?: AbortSignal): Promise<PreparedWorkspace>;
  /** Commits all current changes as one attempt. Safe to repeat: without changes it finds the earlier commit. */
  keep(story: StoryId, note: CommitNote): Promise<KeptCommit>;
  /**
   * Adopts what a person left: changed files in the worktree, or commits on the branch. `known` is the newest state in
   * the journal. With a `branch`, its commits are adopted instead. Safe to repeat.
   */
  adopt(story: StoryId, known: KeptCommit, note: CommitNote, branch?: string): Promise<KeptCommit>;
  /**
   * Whether the story's uncommitted work is on this machine. If another machine began it, only its commits are
   * available here. Absent if there is only one machine.
   */
  isHere?(story: StoryId): Promise<boolean>;
  /** Returns the state of the files now, without committing them. */
  currentState(story: StoryId): Promise<{ readonly tree: TreeId; readonly commit: string }>;
  /** Returns paths that differ between two trees or commits. */
  changedPaths(story: StoryId, from: string, to: string): Promise<readonly string[]>;
  /** Returns the difference as text, in git's unified format. */
  diff(story: StoryId, from: string, to: string): Promise<string>;
  /** Returns the text of a file in a tree or commit; `null` if there is none. */
  fileAt(story: StoryId, at: string, path: string): Promise<string | null>;
  /** Restores an earlier tree as the newest state. */
  restore(story: StoryId, tree: TreeId, note: CommitNote): Promise<KeptCommit>;
  /** Restores some files from an earlier tree or commit; all others stay. Safe to repeat. */
  restorePaths(story: StoryId, paths: readonly string[], from: string, note: CommitNote): Promise<KeptCommit>;
  /**
   * Drops what an interrupted attempt left behind, so that the next attempt starts from the last commit. In a person's
   * own checkout it changes nothing, because the changes may be that person's.
   */
  forget(story: StoryId): Promise<void>;
  /** Removes the worktree. Work that is on no branch of a person is never deleted: the story's branch stays. */
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
  /** The role and the phase of the work, so that the commit alone tells who wrote a line. */
  readonly role?: RoleName;
  readonly phase?: Phase;
}

export interface KeptCommit {
  readonly tree: TreeId;
  readonly commit: string;
}

/** Merges a story's branch with its target. Deliveries are always named by commit. */
export interface Integration {
  /** Returns the target branch as it is now. */
  target(): Promise<TargetCommit>;
  /** Returns whether this commit could be merged as it is, without changing anything. */
  mergeStatus(story: StoryId, commit: string): Promise<MergeStatus>;
  /** Returns the commit of the story's branch; `null` if there is no branch. */
  tip(story: StoryId): Promise<string | null>;
  /**
   * Sets the branch to the verified commit. Remand's own commits that the journal does not know, and `drop`, are
   * removed from it and kept as the story's dropped commit. Any other commit stays and is returned: then nothing may be
   * delivered.
   */
  align(story: StoryId, verified: KeptCommit, drop: string | null): Promise<UnverifiedCommit | null>;
  /**
   * Merges the target's newer commits into the verified commit, as a commit on the branch. Where both changed the same
   * lines, the file holds git's conflict markers, to be resolved later. If the target's history was replaced, the work
   * is moved onto the new history, without anything of the old one.
   */
  update(
    story: StoryId,
    verified: KeptCommit,
    note: CommitNote,
  ): Promise<KeptCommit & { readonly conflicts: readonly string[] }>;
  /**
   * Merges the verified commit into the target. The result has exactly the verified files: if the target has moved
   * meanwhile, nothing is done and `null` is returned. Safe to repeat.
   */
  merge(story: StoryId, verified: KeptCommit, note: CommitNote): Promise<TargetCommit | null>;
  /**
   * Whether the target has this work: the commit is in its history, or the target, now or at one of its newest commits,
   * already has every change of it, as after a squash or a rebase, so that a merge there would change no file.
   */
  holds(story: StoryId, verified: KeptCommit): Promise<{ readonly target: TargetCommit; readonly isHeld: boolean }>;
  /** Pushes exactly this commit, as the story's branch, to the remote. */
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
  /** Whether the branch has everything that the target has. */
  readonly isCurrent: boolean;
  readonly conflicts: readonly string[];
}
