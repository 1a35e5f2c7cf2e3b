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
import { settleWorktree, worktreeState } from "./worktree-folder.ts";

/** Where a story's worktree is, and what its branch and our own notes on it are called. */
export interface Site {
  readonly story: StoryId;
  readonly path: string;
  readonly state: string;
  readonly branch: string;
  readonly index: PrivateIndex;
  /** What works in this place carries it. */
  readonly cookie: string;
  readonly refs: {
    readonly branch: string;
    /** What the story started from. */
    readonly base: string;
    /** The last commit that we made: an agent may rewrite the branch, and what was kept must stay. */
    readonly kept: string;
    /** What an interrupted attempt left, or was taken off the branch. */
    readonly dropped: string;
    /** The target's commit that the work stands on: a target that does not hold it any more was rewritten. */
    readonly target: string;
    /** What was sent to the remote last. */
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

/** The update that moves one of the story's refs from where it was seen. */
export function moving(site: Site, standing: WorktreeRefs, name: keyof Site["refs"], to: string | null): RefUpdate {
  return { ref: site.refs[name], to, was: standing[name]?.commit ?? null };
}

/** The newest commit of the story. The branch is the first to ask: a person may have added to it. */
export function newest(site: Site, { branch, kept }: WorktreeRefs): RefCommit {
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
 * Works with the tree of the files. A repository that an agent made inside the worktree (a scaffolding tool often
 * does) has its history moved aside, so that its files are kept like all others.
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
  const shelf = join(site.state, "nested-repositories");
  await mkdir(shelf, { recursive: true });
  let number = 1;
  while (existsSync(join(shelf, `${site.story}-${number}`))) number++;
  await rename(join(site.path, folder, ".git"), join(shelf, `${site.story}-${number}`));
}

/** Commits a tree on the branch, and brings git's notes on the worktree in line with it. */
export async function record(
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
  const kept = moving(site, standing, "kept", made);
  // Where the branch is locked it follows before anything is delivered.
  await keepUnderSome(git, site.story, made, [[moving(site, standing, "branch", made), kept], [kept]]);
  return { tree: commit.tree, commit: made };
}

/** An agent that commits has its commits kept; one that rewrites what was kept has only its files kept. */
async function parentFor(git: Git, site: Site, standing: WorktreeRefs): Promise<string> {
  const tip = newest(site, standing).commit;
  const kept = standing.kept?.commit ?? tip;
  if (tip === kept) return tip;
  return (await isInHistory(git, kept, tip)) ? tip : kept;
}

export async function settle(git: Git, site: Site, gitDir: string): Promise<void> {
  await settleWorktree(git, site.path, gitDir, site.branch);
  await site.index.copyTo(join(gitDir, "index"));
}

/** Commits what is in the files and in no commit yet, so that nothing is lost by what comes next. */
export async function setAside(git: Git, site: Site, tree: TreeId, why: string): Promise<WorktreeRefs> {
  const standing = await refsOf(git, site);
  if (newest(site, standing).tree === tree) return standing;
  await record(git, site, standing, {
    tree,
    subject: `remand: ${why}`,
    trailers: [
      [TRAILERS.story, site.story],
      [TRAILERS.setAside, tree],
    ],
  });
  return refsOf(git, site);
}

/** What is about to go, as a commit: the files, and whatever commits they stand on. */
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
  await updateRefs(git, [moving(site, standing, "dropped", dropped)]);
}
