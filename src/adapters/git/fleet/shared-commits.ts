import { RemandError } from "../../../core/events/error.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import { type Git, createGit } from "../git.ts";
import { isInHistory } from "../history.ts";
import { refName, updateRefs } from "../refs.ts";
import { REMOTE_NAME, type Remote } from "./shared-remote.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../process/environment.ts";
import { commitOf, trimLine, repositoryOpener } from "../repository.ts";
import { submodulePaths } from "../submodules.ts";

/** The ref of one attempt's commit on the remote. Its name has the commit's id, so machines never conflict over it. */
export const attemptRef = (story: StoryId, commit: string): string => `${attemptRefs(story)}${commit}`;

/** The prefix of all attempt refs of a story. */
const attemptRefs = (story: StoryId): string => `refs/remand/attempts/${refName(story)}/`;

const branchRef = (story: StoryId): string => `refs/heads/remand/${refName(story)}`;

export interface FetchContext {
  readonly git: Git;
  readonly remote: Remote;
  /** The target branch. */
  readonly branch: string;
}

/** Fetches a story's commit to this machine. */
export async function fetchCommit(
  { git, remote, branch }: FetchContext,
  story: StoryId,
  commit: string,
): Promise<void> {
  // Try every place: a new story's commit is on the target branch, and an ended story has only its own branch. A commit
  // without a ref may still be fetched by its id, if the server allows it.
  for (const spec of [attemptRef(story, commit), `refs/heads/${branch}`, branchRef(story), commit]) {
    if (await isHere(git, commit)) return;
    await remote.fetch([spec]);
  }
  if (await isHere(git, commit)) return;
  throw new RemandError(
    "workspace-broken",
    `the commit ${commit.slice(0, 12)} of ${story}, which the journal names, is not at ${remote.address}`,
    `Look for it in the clones of other workers, and push it to ${attemptRef(story, commit)}.`,
  );
}

/**
 * Fetches missing trees and commits, which other machines may have made, for reading. Returns whether any was missing.
 */
export async function fetchObjects(
  { git, remote }: FetchContext,
  story: StoryId | null,
  names: readonly string[],
): Promise<boolean> {
  const missing: string[] = [];
  for (const name of names) if (OBJECT.test(name) && !(await isHere(git, name))) missing.push(name);
  if (missing.length === 0) return false;
  // A tree has no ref on the remote, and not every server sends objects without a ref; then fetch the commits that
  // contain it.
  if (await remote.fetch(missing)) return true;
  const patterns = story === null ? ["refs/remand/attempts/*", "refs/heads/remand/*"] : [`${attemptRefs(story)}*`];
  const named = [...(await remote.list([...patterns, ...(story === null ? [] : [branchRef(story)])])).keys()];
  for (let at = 0; at < named.length; at += AT_ONCE) await remote.fetch(named.slice(at, at + AT_ONCE));
  return true;
}

const AT_ONCE = 200;

const OBJECT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const isHere = async (git: Git, name: string): Promise<boolean> =>
  (await git.ask(["cat-file", "-e", `${name}^{tree}`])).exitCode === 0;

/**
 * Pushes a commit that the journal names to the story's branch on the remote. The branch only moves forward: if it
 * already contains the commit, a worker with a newer journal pushed first. Other commits on the branch get an attempt
 * ref before they are overwritten. Returns whether the branch is now at the commit.
 */
export async function showBranch(
  { git, remote }: FetchContext,
  story: StoryId,
  commit: string,
  patience: "patient" | "once",
): Promise<boolean> {
  const ref = branchRef(story);
  const forward = await remote.push([{ ref, commit }], patience);
  if (forward.get(ref) === "done") return true;
  const tip = (await remote.list([ref])).get(ref);
  // The branch was deleted in the meantime; the next call makes it.
  if (tip === undefined) return false;
  await remote.fetch([ref]);
  if (await isInHistory(git, commit, tip)) return false;
  await remote.push([{ ref: attemptRef(story, tip), commit: tip }], patience);
  const over = await remote.push([{ ref, commit, over: tip }], patience);
  return over.get(ref) === "done";
}

/**
 * Deletes the attempt refs whose commits are on the story's branch. Other attempts keep their refs, because those are
 * the only trace of a worker's interrupted work.
 */
export async function pruneAttempts({ git, remote }: FetchContext, story: StoryId): Promise<void> {
  const beginning = attemptRefs(story);
  const ref = branchRef(story);
  const refs = await remote.list([`${beginning}*`, ref]);
  const tip = refs.get(ref);
  if (tip === undefined) return;
  const gone: string[] = [];
  for (const [name, commit] of refs) {
    if (!name.startsWith(beginning)) continue;
    if (await isInHistory(git, commit, tip)) gone.push(name);
  }
  await remote.push(gone.map((name) => ({ ref: name, commit: null })));
}

export interface FollowContext {
  readonly root: string;
  readonly folder: string;
  readonly branch: string;
  readonly remote: Remote;
  readonly env: Environment;
  /** Whether the clone was opened before, so that its checkout is complete. */
  readonly isOpen?: boolean;
  onNotice(text: string): void;
}

/** Returns the name of the remote's branch in a clone. */
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
  // While a clone is being opened, files may be missing although HEAD is right.
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

/** The fetched branch, under a separate ref until it is known to be related to the local history. */
const INCOMING = "refs/remand/incoming";

async function newestKnown(git: Git, branch: string): Promise<string | null> {
  return (await commitOf(git, trackingRef(branch))) ?? (await commitOf(git, "HEAD"));
}

/** A shallow clone cannot tell whether two commits are related; there the remote is trusted. */
async function areRelated(git: Git, one: string, other: string): Promise<boolean> {
  if ((await git.ask(["merge-base", one, other])).exitCode === 0) return true;
  return trimLine(await git.run(["rev-parse", "--is-shallow-repository"])) === "true";
}

/**
 * Fetches the checkout's submodules, from which worktrees take theirs. If that fails, they stay empty and a notice says
 * so.
 */
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
