import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { STORY_ID_PATTERN, type StoryId, type TreeId } from "../../../core/events/ids.ts";
import type { KeptCommit } from "../../../ports/workspace.ts";
import { assert } from "../../../stdx/assert.ts";
import { sha256 } from "../../../stdx/sha256.ts";
import type { Git } from "../git.ts";
import { isInHistory } from "../history.ts";
import { createPrivateIndex, NestedRepository, treeOfFiles, type PrivateIndex } from "../private-index.ts";
import {
  commitTree,
  keepUnderSome,
  readRefs,
  refName,
  TRAILERS,
  updateRefs,
  type RefCommit,
  type RefUpdate,
} from "../refs.ts";
import { resetGitFolder, worktreeState } from "./worktree-folder.ts";

/** A story's worktree: its path, its branch and Remand's refs for it. */
export interface Site {
  readonly story: StoryId;
  readonly path: string;
  readonly state: string;
  readonly branch: string;
  readonly index: PrivateIndex;
  /** Set for every process that works in this worktree. */
  readonly cookie: string;
  readonly refs: {
    readonly branch: string;
    /** The commit that the story started from. */
    readonly base: string;
    /** The last commit that Remand made. It is kept even if an agent rewrites the branch. */
    readonly kept: string;
    /** Work that an interrupted attempt left, or that was taken off the branch. */
    readonly dropped: string;
    /** The target's commit that the work is based on. A target that no longer contains it was rewritten. */
    readonly target: string;
    /** The commit that was pushed last. */
    readonly pushed: string;
  };
}

export interface WorktreeRefs {
  readonly branch: RefCommit | undefined;
  readonly base: RefCommit | undefined;
  readonly kept: RefCommit | undefined;
  readonly dropped: RefCommit | undefined;
  readonly target: RefCommit | undefined;
  readonly pushed: RefCommit | undefined;
}

export function siteOf(state: string, story: StoryId): Site {
  assert(STORY_ID_PATTERN.test(story), `${story} is an id`);
  const name = refName(story);
  const path = join(state, "worktrees", story);
  return {
    story,
    state,
    path,
    cookie: `git-${sha256(path).slice(0, 24)}`,
    branch: `remand/${name}`,
    index: createPrivateIndex(join(state, "index", story)),
    refs: {
      branch: `refs/heads/remand/${name}`,
      base: `refs/remand/base/${name}`,
      kept: `refs/remand/kept/${name}`,
      dropped: `refs/remand/dropped/${name}`,
      target: `refs/remand/target/${name}`,
      pushed: `refs/remand/pushed/${name}`,
    },
  };
}

export async function refsOf(git: Git, { refs }: Site): Promise<WorktreeRefs> {
  const found = await readRefs(git, Object.values(refs));
  return {
    branch: found.get(refs.branch),
    base: found.get(refs.base),
    kept: found.get(refs.kept),
    dropped: found.get(refs.dropped),
    target: found.get(refs.target),
    pushed: found.get(refs.pushed),
  };
}

/** Returns the update that moves one of the story's refs from where it was read. */
export function refUpdate(site: Site, standing: WorktreeRefs, name: keyof Site["refs"], to: string | null): RefUpdate {
  return { ref: site.refs[name], to, was: standing[name]?.commit ?? null };
}

/** Returns the story's newest commit. The branch comes first, because a person may have added commits. */
export function newestCommit(site: Site, { branch, kept }: WorktreeRefs): RefCommit {
  const commit = branch ?? kept;
  if (commit !== undefined) return commit;
  throw new RemandError(
    "workspace-broken",
    `the branch ${site.branch} is gone`,
    "Start the story again, or restore the branch from the reflog.",
  );
}

export async function gitDirOf(site: Site): Promise<string> {
  const state = await worktreeState(site.path);
  if (state.is === "ready") return state.gitDir;
  throw new RemandError(
    "workspace-broken",
    `story ${site.story} has no worktree in ${site.path}`,
    "Run the same command again: it makes the worktree again from what was kept.",
  );
}

/**
 * Runs work with the tree of the current files. If an agent made a nested repository (as scaffolding tools often do),
 * its history is moved aside, so that its files are committed like all others.
 */
export async function withTree<T>(
  git: Git,
  site: Site,
  gitDir: string,
  work: (tree: TreeId, index: string) => Promise<T>,
): Promise<T> {
  await site.index.seed(join(gitDir, "index"));
  for (let nested = 0; ; nested++) {
    try {
      return await site.index.use(async (index) => work(await treeOfFiles(git, site.path, index), index));
    } catch (error) {
      if (!(error instanceof NestedRepository) || nested === MOST_NESTED) throw error;
      await moveAside(site, error.folder);
    }
  }
}

const MOST_NESTED = 20;

async function moveAside(site: Site, folder: string): Promise<void> {
  const aside = join(site.state, "nested-repositories");
  await mkdir(aside, { recursive: true });
  let number = 1;
  while (existsSync(join(aside, `${site.story}-${number}`))) number++;
  await rename(join(site.path, folder, ".git"), join(aside, `${site.story}-${number}`));
}

/** Commits a tree on the branch, and updates git's state of the worktree. */
export async function commitOnBranch(
  git: Git,
  site: Site,
  standing: WorktreeRefs,
  commit: {
    readonly tree: TreeId;
    readonly subject: string;
    readonly trailers: readonly (readonly [string, string])[];
  },
): Promise<KeptCommit> {
  const parent = await parentFor(git, site, standing);
  const made = await commitTree(git, { ...commit, parents: [parent] });
  const kept = refUpdate(site, standing, "kept", made);
  // A locked branch is moved later, before anything is delivered.
  await keepUnderSome(git, site.story, made, [[refUpdate(site, standing, "branch", made), kept], [kept]]);
  return { tree: commit.tree, commit: made };
}

/**
 * Returns the parent of the next commit. Commits that an agent added are kept; if it rewrote kept commits, only its
 * files are.
 */
async function parentFor(git: Git, site: Site, standing: WorktreeRefs): Promise<string> {
  const tip = newestCommit(site, standing).commit;
  const kept = standing.kept?.commit ?? tip;
  if (tip === kept) return tip;
  return (await isInHistory(git, kept, tip)) ? tip : kept;
}

/** Resets git's state of the worktree and copies the private index to it. */
export async function resetGitState(git: Git, site: Site, gitDir: string): Promise<void> {
  await resetGitFolder(git, site.path, gitDir, site.branch);
  await site.index.copyTo(join(gitDir, "index"));
}

/** Commits uncommitted files, so that later steps lose nothing. */
export async function setAside(git: Git, site: Site, tree: TreeId, why: string): Promise<WorktreeRefs> {
  const standing = await refsOf(git, site);
  if (newestCommit(site, standing).tree === tree) return standing;
  await commitOnBranch(git, site, standing, {
    tree,
    subject: `remand: ${why}`,
    trailers: [
      [TRAILERS.story, site.story],
      [TRAILERS.setAside, tree],
    ],
  });
  return refsOf(git, site);
}

/** Saves what is about to be dropped as a commit: the files, and the commits below them. */
export async function saveDropped(
  git: Git,
  site: Site,
  standing: WorktreeRefs,
  now: TreeId,
  why: string,
): Promise<void> {
  const tip = standing.branch ?? standing.kept;
  const dropped =
    tip?.tree === now
      ? tip.commit
      : await commitTree(git, {
          tree: now,
          parents: tip === undefined ? [] : [tip.commit],
          subject: `remand: ${why}`,
          trailers: [[TRAILERS.story, site.story]],
        });
  await updateRefs(git, [refUpdate(site, standing, "dropped", dropped)]);
}
