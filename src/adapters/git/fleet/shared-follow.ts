import { existsSync } from "node:fs";
import { join } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import type { Environment } from "../../process/environment.ts";
import { createGit, type Git } from "../git.ts";
import { updateRefs } from "../refs.ts";
import { commitOf, line, repositoryOpener } from "../repository.ts";
import { REMOTE_NAME, type Remote } from "./shared-remote.ts";
import { submodulePaths } from "../submodules.ts";

export interface FollowContext {
  readonly root: string;
  readonly folder: string;
  readonly branch: string;
  readonly remote: Remote;
  readonly env: Environment;
  /** It has been opened, and its checkout is whole. */
  readonly isOpen?: boolean;
  onNotice(text: string): void;
}

/** What the branch of the remote is called in a clone. */
export const trackingRef = (branch: string): string => `refs/remotes/${REMOTE_NAME}/${branch}`;

/**
 * Brings a clone's checkout to where the branch is now, and returns whether it moved. No agent works in that
 * checkout: stories have worktrees of their own.
 */
export async function followBranch(following: FollowContext): Promise<boolean> {
  const { root, branch, remote, env } = following;
  const { git } = await repositoryOpener(root, env)();
  await git.run(["config", `remote.${REMOTE_NAME}.url`, remote.address]);
  const before = await newestKnown(git, branch);
  if (!(await remote.fetch([`+refs/heads/${branch}:${INCOMING}`]))) throw noBranch(remote.address, branch);
  const now = (await commitOf(git, INCOMING))!;
  if (before !== null && !(await areRelated(git, before, now))) throw unrelatedHistories(following);
  const isThere = (await commitOf(git, "HEAD")) === now;
  // When a clone is opened its files may be missing, or half there, although its head is right.
  if (isThere && following.isOpen === true) return false;
  await updateRefs(git, [{ ref: trackingRef(branch), to: now, was: await commitOf(git, trackingRef(branch)) }]);
  await git.run(["checkout", "--quiet", "--force", "--detach", now], { timeoutMs: 600_000 });
  await fillOwnSubmodules(git, following);
  return !isThere;
}

/** Runs git's garbage collection, which is off for all other calls. Call it only while no story works in the clone. */
export async function tidyClone({ root, env }: FollowContext): Promise<void> {
  const git = createGit(root, env, ["gc.auto=6700", "gc.autoDetach=false"]);
  await git.ask(["gc", "--auto", "--quiet"], { timeoutMs: 600_000 });
}

/** By another name until it is known to belong to what is here. */
const INCOMING = "refs/remand/incoming";

async function newestKnown(git: Git, branch: string): Promise<string | null> {
  return (await commitOf(git, trackingRef(branch))) ?? (await commitOf(git, "HEAD"));
}

/** A shallow clone cannot tell whether two commits are related; there the remote is trusted. */
async function areRelated(git: Git, one: string, other: string): Promise<boolean> {
  if ((await git.ask(["merge-base", one, other])).exitCode === 0) return true;
  return line(await git.run(["rev-parse", "--is-shallow-repository"])) === "true";
}

/** Worktrees take their submodules from the checkout. Where they cannot be had, they are empty, and that is said. */
async function fillOwnSubmodules(git: Git, { root, onNotice }: FollowContext): Promise<void> {
  if (!existsSync(join(root, ".gitmodules")) || (await submodulePaths(git, root)).length === 0) return;
  const args = ["submodule", "update", "--init", "--recursive", "--quiet"];
  const { exitCode, stderr } = await git.ask(args, { cwd: root, timeoutMs: 600_000, remote: true });
  if (exitCode !== 0) onNotice(`submodules could not be fetched: ${stderr.trim().split("\n").at(-1)}`);
}

export function noBranch(address: string, branch: string): RemandError {
  return new RemandError(
    "workspace-broken",
    `${address} has no branch ${branch}`,
    "Name a branch that is there, or push it first.",
  );
}

function unrelatedHistories({ folder, branch, remote }: FollowContext): RemandError {
  return new RemandError(
    "workspace-broken",
    `${branch} of ${remote.address} has no commit in common with the clone in ${folder}`,
    "It is another repository, or its history was replaced: give the worker a new folder, or remove that one.",
  );
}
