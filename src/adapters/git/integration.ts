import { RemandError } from "../../domain/error.ts";
import { treeId, type TreeId } from "../../domain/ids.ts";
import type { BranchStanding, Target } from "../../ports/integration.ts";
import type { Kept, KeepNote } from "../../ports/workspace.ts";
import { readWorktreeList } from "../../readers/git-worktree-list.ts";
import { bringBack } from "./bring-back.ts";
import { failed, type Git } from "./git.ts";
import { commitTree, TRAILERS, trailersOf, updateRefs } from "./refs.ts";
import { line, type Repository } from "./repository.ts";
import { gitDirOf, newest, setAside, settle, standingOf, withTree, type Site } from "./worktree-site.ts";

/** The branch that work is for: where it is now, and how it goes on. */
export interface TargetBranch {
  read(repository: Repository): Promise<Target>;
  /** `false` where it is no longer where it was read, and nothing was done. */
  move(repository: Repository, was: Target, to: string): Promise<boolean>;
}

/** A branch of this repository. */
export const localTarget = (base: string): TargetBranch => ({
  read: (repository) => targetOf(repository, base),
  move: async ({ git }, was, to) => {
    await moveTarget(git, was, to);
    return true;
  },
});

/** The branch that `base` names. A commit by itself is nothing that work could be put onto. */
async function targetOf({ git, top }: Repository, base: string): Promise<Target> {
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
  repository: Repository,
  site: Site,
  branch: TargetBranch,
): Promise<BranchStanding> {
  const { git } = repository;
  const target = await branch.read(repository);
  const tip = newest(site, await standingOf(git, site));
  const { exitCode } = await git.ask(["merge-base", "--is-ancestor", target.commit, tip.commit]);
  if (exitCode === 0) return { target, isCurrent: true, conflicts: [] };
  return { target, isCurrent: false, conflicts: (await together(git, tip.commit, target.commit)).conflicts };
}

export async function updateBranch(
  repository: Repository,
  site: Site,
  branch: TargetBranch,
  note: KeepNote,
): Promise<Kept & { conflicts: readonly string[] }> {
  const { git } = repository;
  const target = await branch.read(repository);
  const gitDir = await gitDirOf(site);
  const updated = await withTree(git, site, gitDir, async (now, index) => {
    const standing = await setAside(git, site, now, "set aside before the base was brought in");
    const tip = newest(site, standing);
    const { exitCode } = await git.ask(["merge-base", "--is-ancestor", target.commit, tip.commit]);
    if (exitCode === 0) return { tree: tip.tree, commit: tip.commit, conflicts: conflictsNoted(tip.trailers) };
    const { tree, conflicts } = await together(git, tip.commit, target.commit);
    const commit = await commitTree(git, {
      tree,
      parents: [tip.commit, target.commit],
      subject: note.subject,
      trailers: [...trailersOf(site.story, note), [TRAILERS.conflicts, JSON.stringify(conflicts)] as const],
    });
    await bringBack(git, { top: site.path, index, from: tip.tree, to: tree, overwrite: true });
    await updateRefs(git, [
      { ref: site.refs.branch, to: commit, was: standing.branch?.commit ?? null },
      { ref: site.refs.kept, to: commit },
      // What the story's work is compared with is the base it now stands on.
      { ref: site.refs.base, to: target.commit },
    ]);
    return { tree, commit, conflicts };
  });
  await settle(git, site, gitDir);
  return updated;
}

/** An update that is found again says what it said the first time. */
function conflictsNoted(trailers: ReadonlyMap<string, string>): readonly string[] {
  const noted = trailers.get(TRAILERS.conflicts);
  return noted === undefined ? [] : (JSON.parse(noted) as string[]);
}

/** What git makes of both, without touching a file: the tree, with marks where they contradict each other. */
export async function together(
  git: Git,
  ours: string,
  theirs: string,
): Promise<{ readonly tree: TreeId; readonly conflicts: readonly string[] }> {
  const asked = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
  const { exitCode, stdout, stderr } = await git.ask(asked);
  if (exitCode > 1) throw failed("git merge-tree failed", stderr);
  const [tree = "", ...conflicts] = stdout.split("\0").filter((part) => part !== "");
  return { tree: treeId(tree), conflicts: [...new Set(conflicts)] };
}

export async function mergeBranch(
  repository: Repository,
  site: Site,
  branch: TargetBranch,
  note: KeepNote,
): Promise<Target | null> {
  const { git } = repository;
  const tip = newest(site, await standingOf(git, site));
  const holds = async (one: string, other: string): Promise<boolean> =>
    (await git.ask(["merge-base", "--is-ancestor", other, one])).exitCode === 0;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const target = await branch.read(repository);
    // A crash may have come after the merge and before it was written down.
    if (await holds(target.commit, tip.commit)) return target;
    if (!(await holds(tip.commit, target.commit))) return null;
    const commit = await commitTree(git, {
      tree: tip.tree,
      parents: [target.commit, tip.commit],
      subject: note.subject,
      trailers: trailersOf(site.story, note),
    });
    if (await branch.move(repository, target, commit)) return { branch: target.branch, commit };
  }
  return null;
}

/** Somebody was quicker each time: then it is as if the branch had moved before we looked. */
const MOST_TRIES = 3;

/** Where the branch is checked out its files must follow: git does that, and refuses where a person's changes stand in the way. */
async function moveTarget(git: Git, { branch, commit: was }: Target, to: string): Promise<void> {
  const places = readWorktreeList(await git.run(["worktree", "list", "--porcelain"]));
  const place = places.find((each) => each.branch === `refs/heads/${branch}`);
  if (place === undefined) return updateRefs(git, [{ ref: `refs/heads/${branch}`, to, was }]);
  const { exitCode, stderr } = await git.ask(["merge", "--ff-only", "--no-verify", to], { cwd: place.path });
  if (exitCode === 0) return;
  throw new RemandError(
    "workspace-broken",
    `${branch} is checked out in ${place.path}, and cannot follow: ${stderr.trim().split("\n").slice(0, 5).join(" ")}`,
    "Commit or stash what is changed there, then run it again.",
  );
}

export async function publishBranch(
  repository: Repository,
  site: Site,
  target: TargetBranch,
  remote: string,
): Promise<{ remote: string; branch: string; base: string }> {
  const { git } = repository;
  const { branch } = await target.read(repository);
  const { exitCode, stderr } = await git.ask(
    ["push", "--no-verify", "--", remote, `${site.refs.branch}:${site.refs.branch}`],
    { timeoutMs: PUSH_MS },
  );
  if (exitCode === 0) return { remote, branch: site.branch, base: branch };
  throw new RemandError(
    "git-failed",
    `${site.branch} could not be sent to ${remote}: ${withoutLogin(stderr).trim().split("\n").slice(-3).join(" ")}`,
    "Look at the remote and your rights there: git push.",
  );
}

const PUSH_MS = 5 * 60_000;

/** An address may hold a login, and git repeats addresses. */
const withoutLogin = (text: string): string => text.replaceAll(/(\w+:\/\/)[^\s/@]+@/g, "$1");
