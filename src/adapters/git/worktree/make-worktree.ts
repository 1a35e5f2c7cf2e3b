import { join } from "node:path";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { RemandError } from "../../../core/events/error.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import { type DependencyOptions, installDependencies } from "../dependencies/dependencies.ts";
import { type Repository, commitOf, trimLine } from "../repository.ts";
import { TRAILERS, commitTree, trailersOf, updateRefs } from "../refs.ts";
import { fillSubmodules } from "../submodules.ts";
import type { CommitNote, KeptCommit } from "../../../ports/workspace.ts";
import { isInHistory, mergeTrees, mergeWithBase, treeOf } from "../history.ts";
import { killLeftovers } from "../../process/leftovers.ts";
import type { PrivateIndex } from "../private-index.ts";
import { startCommit, withWorkOf } from "./start-commit.ts";
import { addWorktree, markReady } from "./worktree-folder.ts";
import {
  type Site,
  type WorktreeRefs,
  gitDirOf,
  refUpdate,
  commitOnBranch,
  resetGitState,
  refsOf,
  withTree,
} from "./worktree-site.ts";
import { restoreTree } from "./restore-tree.ts";

export interface MakeOptions {
  /** The start of a new story. */
  readonly base: string;
  readonly dependencies: DependencyOptions;
  readonly onNotice: (text: string) => void;
  /** A folder, relative to the root, whose changes are not part of the work; `null`: none. */
  readonly aside: string | null;
  /** Runs one change of git's list of worktrees at a time. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Makes a story's worktree: branch, files, submodules, dependencies, and last the mark that it is complete. */
export async function makeWorktree(
  repository: Repository,
  site: Site,
  options: MakeOptions,
  after: readonly StoryId[],
): Promise<void> {
  const { git, top } = repository;
  await ensureBranch(repository, site, options, after);
  const gitDir = await options.alone(() => addWorktree(git, site.path, site.branch));
  const missing = await fillSubmodules(git, top, site.path);
  if (missing.length > 0) {
    options.onNotice(
      `not initialised in ${top}, and so empty in the worktrees too: ${missing.join(", ")} (git submodule update --init)`,
    );
  }
  // No agent has worked here yet, so this index hides nothing.
  await site.index.drop();
  await site.index.seed(join(gitDir, "index"));
  await installDependencies(git, top, site.path, {
    ...options.dependencies,
    cookie: site.cookie,
    onNotice: options.onNotice,
  });
  await markReady(gitDir);
}

async function ensureBranch(
  repository: Repository,
  site: Site,
  options: MakeOptions,
  after: readonly StoryId[],
): Promise<void> {
  const { git } = repository;
  const standing = await refsOf(git, site);
  const { branch, base } = standing;
  const start = await startCommit(git, options.base);
  if (branch === undefined) {
    await noticeDirt(repository, start, options);
    const beginning = await withWorkOf(git, site, start, after);
    if (beginning.with.length > 0)
      options.onNotice(`${site.story} begins with the work of ${beginning.with.join(", ")}, which is not merged yet`);
    await createBranch(git, site, standing, { start, beginning: beginning.commit });
    return;
  }
  const startedFrom = base?.commit ?? trimLine((await git.ask(["merge-base", branch.commit, start])).stdout);
  if (startedFrom === "") {
    throw new RemandError(
      "workspace-broken",
      `the branch ${site.branch} has nothing in common with ${options.base}`,
      `Rename or delete that branch, so that the story can start from ${options.base}.`,
    );
  }
  if (base === undefined) await refuseForeignBranch(git, site, startedFrom, branch.commit);
  await updateRefs(git, [
    refUpdate(site, standing, "base", startedFrom),
    refUpdate(site, standing, "kept", branch.commit),
  ]);
}

/**
 * Rejects a branch of the story's name that Remand did not make: it belongs to a person, who may not expect commits on
 * it.
 */
async function refuseForeignBranch(
  git: Repository["git"],
  { story, branch }: Site,
  start: string,
  tip: string,
): Promise<void> {
  if (start === tip) return;
  const format = `%(trailers:key=${TRAILERS.story},valueonly,separator=%x2C)`;
  const stories = (await git.run(["log", `--format=${format}`, `${start}..${tip}`])).split(/[\n,]/);
  // Another worker of the fleet, or an earlier clone, made it.
  if (stories.includes(story)) return;
  const subject = trimLine(await git.run(["log", "-1", "--format=%h %s", tip]));
  throw new RemandError(
    "branch-taken",
    `there is a branch ${branch} that Remand did not make (${subject})`,
    `Rename it: git branch -m ${branch} ${story}-before. Then answer resolve. To continue its work, also write \`branch: ${story}-before\` in the story's file.`,
  );
}

async function createBranch(
  git: Repository["git"],
  site: Site,
  standing: WorktreeRefs,
  { start, beginning }: { readonly start: string; readonly beginning: string },
): Promise<void> {
  try {
    await updateRefs(git, [
      refUpdate(site, standing, "branch", beginning),
      refUpdate(site, standing, "base", beginning),
      refUpdate(site, standing, "kept", beginning),
      refUpdate(site, standing, "target", start),
    ]);
  } catch (error) {
    // A ref is a file, and a file cannot be a folder too.
    if ((await commitOf(git, "refs/heads/remand")) === null) throw error;
    throw new RemandError(
      "workspace-broken",
      "there is a branch called remand, so there can be none called remand/…",
      "Rename it: git branch -m remand remand-old",
      { cause: error },
    );
  }
}

async function noticeDirt(
  { top, git, prefix }: Repository,
  start: string,
  { aside, onNotice }: MakeOptions,
): Promise<void> {
  const but = aside === null ? [] : ["--", ".", `:(exclude)${join(prefix, aside)}`];
  if ((await git.run(["status", "--porcelain", "-z", ...but])) === "") return;
  onNotice(`${top} has changes that are not committed: stories start from ${start.slice(0, 12)}, without them`);
}

/**
 * Takes over a person's work: commits on the branch, changed files in the worktree, or both. Nothing is lost; if the
 * two conflict, the person decides, because only they know which one they meant.
 */
export async function adoptWork(
  { git }: Repository,
  site: Site,
  known: KeptCommit,
  note: CommitNote,
  from: NamedBranch | null,
): Promise<KeptCommit> {
  if (from !== null) return adoptBranch(git, site, known, { ...from, note });
  const gitDir = await gitDirOf(site);
  const adopted = await withTree(git, site, gitDir, async (now, index): Promise<KeptCommit> => {
    const standing = await refsOf(git, site);
    const { branch } = standing;
    // A branch behind the known commit was locked when it should have followed: it has no commits of its own.
    const isBehind = branch === undefined || (await isInHistory(git, branch.commit, known.commit));
    const tip = isBehind ? known : branch;
    if (isBehind && now === known.tree) return known;
    const isOnlyOnBranch = now === known.tree || now === tip.tree;
    const { tree, conflicts } =
      isOnlyOnBranch || tip.tree === known.tree
        ? { tree: isOnlyOnBranch ? tip.tree : now, conflicts: [] }
        : await mergeWithBase(git, known.commit, tip.commit, now);
    if (conflicts.length > 0) throw contradiction(site, conflicts);
    await restoreTree(git, { top: site.path, index, from: now, to: tree, overwrite: true });
    if (tree === tip.tree) {
      await updateRefs(git, [refUpdate(site, standing, "kept", tip.commit)]);
      return { tree, commit: tip.commit };
    }
    return commitOnBranch(git, site, standing, { tree, subject: note.subject, trailers: trailersOf(site.story, note) });
  });
  await resetGitState(git, site, gitDir);
  return adopted;
}

/**
 * Takes over work from another branch: its changes since it left the story's start. That branch itself is not changed.
 */
async function adoptBranch(
  git: Repository["git"],
  site: Site,
  known: KeptCommit,
  from: NamedBranch & { readonly note: CommitNote },
): Promise<KeptCommit> {
  const { branch, remote, note } = from;
  const tip =
    (await commitOf(git, `refs/heads/${branch}`)) ?? (await commitOf(git, `refs/remotes/${remote}/${branch}`));
  if (tip === null) throw noSuchBranch(site, from);
  if (await isInHistory(git, tip, known.commit)) return known;
  const isAhead = await isInHistory(git, known.commit, tip);
  const merged = isAhead ? { tree: await treeOf(git, tip), conflicts: [] } : await mergeTrees(git, known.commit, tip);
  if (merged.conflicts.length > 0) throw branchConflict(site, branch, merged.conflicts);
  const { tree } = merged;
  const parents = [known.commit, tip];
  const commit = isAhead
    ? tip
    : await commitTree(git, { tree, parents, subject: note.subject, trailers: trailersOf(site.story, note) });
  const gitDir = await gitDirOf(site);
  await withTree(git, site, gitDir, async (now, index) => {
    const standing = await refsOf(git, site);
    await restoreTree(git, { top: site.path, index, from: now, to: tree, overwrite: true });
    await updateRefs(git, [refUpdate(site, standing, "branch", commit), refUpdate(site, standing, "kept", commit)]);
  });
  await resetGitState(git, site, gitDir);
  return { tree, commit };
}

/** A local branch, or a remote's branch that is known here. */
interface NamedBranch {
  readonly branch: string;
  readonly remote: string;
}

function noSuchBranch({ story }: Site, { branch, remote }: NamedBranch): RemandError {
  return new RemandError(
    "branch-missing",
    `the file of ${story} says that its work is on the branch ${branch}, and there is no such branch here`,
    `Fetch it (git fetch ${remote} ${branch}:${branch}), or take \`branch\` out of the story's file to start without it.`,
  );
}

function branchConflict({ story }: Site, branch: string, conflicts: readonly string[]): RemandError {
  return new RemandError(
    "workspace-broken",
    `the work of ${story} on the branch ${branch} conflicts with what stories start from, in ${conflicts.slice(0, 5).join(", ")}`,
    `Merge the two on ${branch}, then answer again.`,
  );
}

function contradiction({ path, branch }: Site, conflicts: readonly string[]): RemandError {
  return new RemandError(
    "workspace-broken",
    `the files in ${path} and the commits on ${branch} changed the same places, in ${conflicts.slice(0, 5).join(", ")}`,
    `Commit what you want there: git -C ${path} commit --all; then answer again.`,
  );
}

/**
 * Cleans up at the first visit to a worktree. A killed engine may have left a running git or installation, and locks.
 * Only one engine works at a time, so all of that is left over.
 */
export async function clearAfterCrash(
  commonDir: string,
  cookie: string,
  refs: readonly string[],
  index: PrivateIndex,
): Promise<void> {
  await killLeftovers(cookie);
  const locks = refs.map((ref) => join(commonDir, `${ref}.lock`)).filter((lock) => existsSync(lock));
  await Promise.all([...locks.map((lock) => rm(lock, { force: true })), index.dropCopies()]);
}
