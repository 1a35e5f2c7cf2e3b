import { RemandError } from "../../../core/events/error.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import type {
  KeptCommit,
  CommitNote,
  MergeStatus,
  TargetCommit,
  Integration,
  UnverifiedCommit,
} from "../../../ports/workspace.ts";
import { readWorktreeList } from "../../../parse/code/git-output.ts";
import { restoreTree } from "./restore-tree.ts";
import { isInHistory, mergeTrees, mergeWithBase, type MergedTree, treeOf } from "../history.ts";
import type { Git } from "../git.ts";
import { commitTree, trailersOf, updateRefs, type RefCommit, TRAILERS } from "../refs.ts";
import { trimLine, type Repository } from "../repository.ts";
import {
  gitDirOf,
  refUpdate,
  saveDropped,
  resetGitState,
  refsOf,
  withTree,
  type Site,
  type WorktreeRefs,
} from "./worktree-site.ts";

/** The target branch: reads and moves it. */
export interface TargetBranch {
  read(repository: Repository): Promise<TargetCommit>;
  /** Returns `false`, and changes nothing, if the target moved since it was read. */
  move(repository: Repository, was: TargetCommit, to: string): Promise<boolean>;
}

/** Returns a target branch of this repository. */
export const localTarget = (base: string): TargetBranch => {
  const read = (repository: Repository): Promise<TargetCommit> => targetOf(repository, base);
  return { read, move: (repository, was, to) => moveTarget(repository, was, to, read) };
};

/** Returns the branch that `base` names. Throws for a bare commit, because work cannot be merged into one. */
async function targetOf({ git, top }: Repository, base: string): Promise<TargetCommit> {
  const name = trimLine((await git.ask(["rev-parse", "--symbolic-full-name", base], { cwd: top })).stdout);
  const tip = trimLine((await git.ask(["rev-parse", "--verify", "--quiet", `${base}^{commit}`], { cwd: top })).stdout);
  if (name.startsWith("refs/heads/") && tip !== "") return { branch: name.slice("refs/heads/".length), commit: tip };
  throw new RemandError(
    "workspace-broken",
    `${base} is not on a branch, so there is nothing to merge into`,
    "Check a branch out, or set `deliver: branch`.",
  );
}

async function branchStanding(
  { git }: Repository,
  site: Site,
  target: TargetCommit,
  commit: string,
): Promise<MergeStatus> {
  if (await isInHistory(git, target.commit, commit)) return { target, isCurrent: true, conflicts: [] };
  const { conflicts } = await mergeWithTarget(git, await refsOf(git, site), commit, target);
  return { target, isCurrent: false, conflicts };
}

/**
 * Merges the work with the target. If the target no longer contains the commit that the work was based on, its history
 * was rewritten: then only the work's own changes are applied to the new history.
 */
async function mergeWithTarget(
  git: Git,
  standing: WorktreeRefs,
  commit: string,
  target: TargetCommit,
): Promise<MergedTree & { readonly isRewritten: boolean }> {
  const stoodOn = standing.target?.commit;
  const isRewritten = stoodOn !== undefined && !(await isInHistory(git, stoodOn, target.commit));
  const both = isRewritten
    ? await mergeWithBase(git, stoodOn, commit, target.commit)
    : await mergeTrees(git, commit, target.commit);
  return { ...both, isRewritten };
}

async function updateBranch(
  repository: Repository,
  site: Site,
  target: TargetCommit,
  verified: KeptCommit,
  note: CommitNote,
): Promise<KeptCommit & { conflicts: readonly string[] }> {
  const { git } = repository;
  if (await isInHistory(git, target.commit, verified.commit)) return { ...verified, conflicts: [] };
  const gitDir = await gitDirOf(site);
  const updated = await withTree(git, site, gitDir, async (now, index) => {
    const standing = await refsOf(git, site);
    const { tree, conflicts, isRewritten } = await mergeWithTarget(git, standing, verified.commit, target);
    const commit = await commitTree(git, {
      tree,
      parents: isRewritten ? [target.commit] : [verified.commit, target.commit],
      subject: note.subject,
      trailers: trailersOf(site.story, note),
    });
    // Uncommitted files were left by a check; after a rewrite, the old history would be lost too. Save both.
    if (now !== verified.tree || isRewritten) await saveDropped(git, site, standing, now, "set aside by an update");
    await restoreTree(git, { top: site.path, index, from: now, to: tree, overwrite: true });
    await updateRefs(git, [
      { ref: site.refs.branch, to: commit, was: verified.commit },
      refUpdate(site, standing, "kept", commit),
      // The story's work is now compared with the new base.
      refUpdate(site, standing, "base", target.commit),
      refUpdate(site, standing, "target", target.commit),
    ]);
    return { tree, commit, conflicts };
  });
  await resetGitState(git, site, gitDir);
  return updated;
}

/** Moves the target. If it is checked out, git updates its files, and refuses to overwrite a person's changes. */
async function moveTarget(
  repository: Repository,
  { branch, commit: was }: TargetCommit,
  to: string,
  read: TargetBranch["read"],
): Promise<boolean> {
  const { git } = repository;
  const places = readWorktreeList(await git.run(["worktree", "list", "--porcelain"]));
  const place = places.find((each) => each.branch === `refs/heads/${branch}`);
  const isStillThere = async (): Promise<boolean> => (await read(repository)).commit === was;
  if (place === undefined) {
    try {
      await updateRefs(git, [{ ref: `refs/heads/${branch}`, to, was }]);
      return true;
    } catch (error) {
      if (await isStillThere()) throw error;
      return false;
    }
  }
  if (!(await isStillThere())) return false;
  const { exitCode, stderr } = await git.ask(["merge", "--ff-only", "--no-verify", to], { cwd: place.path });
  if (exitCode === 0) return true;
  if (!(await isStillThere())) return false;
  throw new RemandError(
    "workspace-broken",
    `${branch} is checked out in ${place.path}, and cannot follow: ${stderr.trim().split("\n").slice(0, 5).join(" ")}`,
    "Commit or stash what is changed there, then run it again.",
  );
}

/** Moves the branch to the verified commit, or returns the other commit that it is at. */
async function alignBranch(
  { git }: Repository,
  site: Site,
  verified: KeptCommit,
  drop: string | null,
): Promise<UnverifiedCommit | null> {
  await assertTree(git, verified);
  const standing = await refsOf(git, site);
  const tip = standing.branch;
  if (tip?.commit === verified.commit) return null;
  // A branch behind the verified commit was locked when it should have followed.
  const isBehind = tip === undefined || (await isInHistory(git, tip.commit, verified.commit));
  if (!isBehind && tip.commit !== drop && !isUnreported(site, standing, tip)) return describe(git, tip.commit);
  await updateRefs(git, [
    refUpdate(site, standing, "branch", verified.commit),
    refUpdate(site, standing, "kept", verified.commit),
    ...(isBehind ? [] : [refUpdate(site, standing, "dropped", tip.commit)]),
  ]);
  return null;
}

/** Whether the tip was committed just before the engine was killed, so that the journal does not have it. */
function isUnreported(site: Site, { kept }: WorktreeRefs, tip: RefCommit): boolean {
  return tip.commit === kept?.commit && tip.trailers.get(TRAILERS.story) === site.story;
}

async function describe(git: Git, commit: string): Promise<UnverifiedCommit> {
  const [author = "", subject = ""] = (await git.run(["log", "-1", "--format=%an%x00%s", commit])).trim().split("\0");
  return { commit, author, subject };
}

/** Throws if a commit does not have the tree that the gates passed. */
async function assertTree(git: Git, { commit, tree }: KeptCommit): Promise<void> {
  if ((await treeOf(git, commit)) === tree) return;
  throw new RemandError(
    "workspace-broken",
    `the commit ${commit.slice(0, 12)} does not hold the tree ${tree.slice(0, 12)} that the gates passed`,
    "The journal and the repository contradict each other: remand verify checks the journal.",
  );
}

async function mergeCommit(
  repository: Repository,
  site: Site,
  branch: TargetBranch,
  verified: KeptCommit,
  note: CommitNote,
): Promise<TargetCommit | null> {
  const { git } = repository;
  await assertTree(git, verified);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const target = await branch.read(repository);
    // An earlier run may have crashed after the merge and before recording it.
    if (await isInHistory(git, verified.commit, target.commit)) return target;
    if (!(await isInHistory(git, target.commit, verified.commit))) return null;
    const commit = await commitTree(git, {
      tree: verified.tree,
      parents: [target.commit, verified.commit],
      subject: note.subject,
      trailers: trailersOf(site.story, note),
    });
    if (await branch.move(repository, target, commit)) return { branch: target.branch, commit };
  }
  return null;
}

/** If the target moves between each read and merge, give up after this many tries and report that the target moved. */
const MOST_TRIES = 3;

/** Whether the target contains the work, by commit or by content. */
async function isContainedIn({ git }: Repository, target: TargetCommit, { commit }: KeptCommit): Promise<boolean> {
  if (await isInHistory(git, commit, target.commit)) return true;
  const fork = await git.ask(["merge-base", commit, target.commit]);
  if (fork.exitCode !== 0) return false;
  const since = ["rev-list", `--max-count=${MOST_COMMITS}`, target.commit, `^${trimLine(fork.stdout)}`];
  for (const state of (await git.run(since)).split("\n").filter((each) => each !== "")) {
    const { tree, conflicts } = await mergeTrees(git, state, commit);
    if (conflicts.length === 0 && tree === (await treeOf(git, state))) return true;
  }
  return false;
}

/** The number of the target's newest commits to look at. */
const MOST_COMMITS = 200;

async function publishCommit(
  repository: Repository,
  site: Site,
  target: TargetBranch,
  commit: string,
  remote: string,
): Promise<{ remote: string; branch: string; base: string }> {
  const { git } = repository;
  const { branch } = await target.read(repository);
  const standing = await refsOf(git, site);
  // Only a commit that Remand itself pushed may be overwritten.
  const { pushed } = standing;
  const lease = pushed === undefined ? [] : [`--force-with-lease=${site.refs.branch}:${pushed.commit}`];
  const { exitCode, stderr } = await git.ask(
    ["push", "--no-verify", ...lease, "--", remote, `${commit}:${site.refs.branch}`],
    { timeoutMs: PUSH_MS, remote: true },
  );
  if (exitCode === 0) {
    await updateRefs(git, [refUpdate(site, standing, "pushed", commit)]);
    return { remote, branch: site.branch, base: branch };
  }
  const isOthers = /stale info|non-fast-forward|fetch first/.test(stderr);
  throw new RemandError(
    "git-failed",
    `${site.branch} could not be sent to ${remote}: ${withoutLogin(stderr).trim().split("\n").slice(-3).join(" ")}`,
    isOthers
      ? `The branch there has commits that Remand did not send: move them to another branch, then delete it: git push ${remote} --delete ${site.branch}`
      : "Look at the remote and your rights there: git push.",
  );
}

const PUSH_MS = 5 * 60_000;

/** Removes logins from addresses, which git repeats in its output. */
const withoutLogin = (text: string): string => text.replaceAll(/(\w+:\/\/)[^\s/@]+@/g, "$1");

interface DeliveryFolders {
  readonly target: TargetBranch;
  readonly remote: string;
  repository(): Promise<Repository>;
  /** Runs one operation at a time in a story's worktree. */
  at<T>(story: StoryId, work: (repository: Repository, site: Site) => Promise<T>): Promise<T>;
  /** Runs one operation at a time on the target. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Returns the delivery of work from stories' worktrees. */
export function integrationOf({ target, remote, repository, at, alone }: DeliveryFolders): Integration {
  return {
    target: async () => target.read(await repository()),
    mergeStatus: (story, commit) =>
      at(story, async (own, site) => branchStanding(own, site, await target.read(own), commit)),
    tip: (story) => at(story, async ({ git }, site) => (await refsOf(git, site)).branch?.commit ?? null),
    align: (story, verified, drop) => at(story, (own, site) => alignBranch(own, site, verified, drop)),
    update: (story, verified, note) =>
      at(story, async (own, site) => updateBranch(own, site, await target.read(own), verified, note)),
    // Merges run one at a time, because two at once would each find the target moved by the other.
    merge: (story, verified, note) =>
      alone(() => at(story, (own, site) => mergeCommit(own, site, target, verified, note))),
    holds: (story, verified) =>
      at(story, async (own) => {
        const now = await target.read(own);
        return { target: now, isHeld: await isContainedIn(own, now, verified) };
      }),
    publish: (story, commit) => at(story, (own, site) => publishCommit(own, site, target, commit, remote)),
  };
}
