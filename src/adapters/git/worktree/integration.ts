import { RemandError } from "../../../core/events/error.ts";
import type { MergeStatus, TargetCommit } from "../../../ports/integration.ts";
import type { KeptCommit, CommitNote } from "../../../ports/workspace.ts";
import { readWorktreeList } from "../../../parse/code/git-output.ts";
import { bringBack } from "./bring-back.ts";
import { isInHistory, mergeTrees, togetherFrom, type MergedTree } from "../history.ts";
import type { Git } from "../git.ts";
import { commitTree, trailersOf, updateRefs } from "../refs.ts";
import { line, type Repository } from "../repository.ts";
import {
  gitDirOf,
  moving,
  saveDropped,
  settle,
  refsOf,
  withTree,
  type Site,
  type WorktreeRefs,
} from "./worktree-site.ts";

/** The branch that work is for: where it is now, and how it goes on. */
export interface TargetBranch {
  read(repository: Repository): Promise<TargetCommit>;
  /** `false` where it is no longer where it was read, and nothing was done. */
  move(repository: Repository, was: TargetCommit, to: string): Promise<boolean>;
}

/** A branch of this repository. */
export const localTarget = (base: string): TargetBranch => {
  const read = (repository: Repository): Promise<TargetCommit> => targetOf(repository, base);
  return { read, move: (repository, was, to) => moveTarget(repository, was, to, read) };
};

/** The branch that `base` names. A commit by itself is nothing that work could be put onto. */
async function targetOf({ git, top }: Repository, base: string): Promise<TargetCommit> {
  const name = line((await git.ask(["rev-parse", "--symbolic-full-name", base], { cwd: top })).stdout);
  const commit = line((await git.ask(["rev-parse", "--verify", "--quiet", `${base}^{commit}`], { cwd: top })).stdout);
  if (name.startsWith("refs/heads/") && commit !== "") return { branch: name.slice("refs/heads/".length), commit };
  throw new RemandError(
    "workspace-broken",
    `${base} is not on a branch, so there is nothing to merge into`,
    "Check a branch out, or set `deliver: branch`.",
  );
}

export async function branchStanding(
  { git }: Repository,
  site: Site,
  target: TargetCommit,
  commit: string,
): Promise<MergeStatus> {
  if (await isInHistory(git, target.commit, commit)) return { target, isCurrent: true, conflicts: [] };
  const { conflicts } = await withTarget(git, await refsOf(git, site), commit, target);
  return { target, isCurrent: false, conflicts };
}

/**
 * The work and the target in one. Where the target does not hold any more what the work stands on, its history was
 * replaced: then only what the work added since is put onto the new one.
 */
async function withTarget(
  git: Git,
  standing: WorktreeRefs,
  commit: string,
  target: TargetCommit,
): Promise<MergedTree & { readonly isRewritten: boolean }> {
  const stoodOn = standing.target?.commit;
  const isRewritten = stoodOn !== undefined && !(await isInHistory(git, stoodOn, target.commit));
  const both = isRewritten
    ? await togetherFrom(git, stoodOn, commit, target.commit)
    : await mergeTrees(git, commit, target.commit);
  return { ...both, isRewritten };
}

export async function updateBranch(
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
    const { tree, conflicts, isRewritten } = await withTarget(git, standing, verified.commit, target);
    const commit = await commitTree(git, {
      tree,
      parents: isRewritten ? [target.commit] : [verified.commit, target.commit],
      subject: note.subject,
      trailers: trailersOf(site.story, note),
    });
    // What is in the files and in no commit was left by a check; and what is not in the new history must not be lost.
    if (now !== verified.tree || isRewritten) await saveDropped(git, site, standing, now, "set aside by an update");
    await bringBack(git, { top: site.path, index, from: now, to: tree, overwrite: true });
    await updateRefs(git, [
      { ref: site.refs.branch, to: commit, was: verified.commit },
      moving(site, standing, "kept", commit),
      // What the story's work is compared with is the base it now stands on.
      moving(site, standing, "base", target.commit),
      moving(site, standing, "target", target.commit),
    ]);
    return { tree, commit, conflicts };
  });
  await settle(git, site, gitDir);
  return updated;
}

/** Where the branch is checked out its files must follow: git does that, and refuses where a person's changes are in the way. */
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
