import { RemandError } from "../../../core/events/error.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import type { Git } from "../git.ts";
import { refName } from "../refs.ts";
import type { Remote } from "./shared-remote.ts";

/** The ref of one attempt's commit on the remote. Its name has the commit's id, so machines never conflict over it. */
export const attemptRef = (story: StoryId, commit: string): string => `${attemptRefs(story)}${commit}`;

/** All of a story's begin so. */
const attemptRefs = (story: StoryId): string => `refs/remand/attempts/${refName(story)}/`;

const branchRef = (story: StoryId): string => `refs/heads/remand/${refName(story)}`;

export interface FetchContext {
  readonly git: Git;
  readonly remote: Remote;
  /** The branch that work is for. */
  readonly branch: string;
}

/** Gets a story's commit to this machine. */
export async function fetchCommit(
  { git, remote, branch }: FetchContext,
  story: StoryId,
  commit: string,
): Promise<void> {
  // A story that has only begun is where the branch was then, and one that has ended has only its own branch. What has
  // no name any more may still be given out by its number.
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

/** Gets trees and commits here that may have been made elsewhere, for reading. Says whether any was missing. */
export async function fetchObjects(
  { git, remote }: FetchContext,
  story: StoryId | null,
  names: readonly string[],
): Promise<boolean> {
  const missing: string[] = [];
  for (const name of names) if (OBJECT.test(name) && !(await isHere(git, name))) missing.push(name);
  if (missing.length === 0) return false;
  // A tree has no name on the remote, and not every server gives out what has none: then with the commits it is in.
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
 * Shows a commit that the journal names as the story's branch on the remote. The branch only goes forward: where it
 * contains the commit already, a worker that had read more of the journal pushed first. Other commits on the branch get
 * an attempt ref before they are overwritten. Returns whether the branch now is that commit.
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
  // Gone since then; it is made the next time.
  if (tip === undefined) return false;
  await remote.fetch([ref]);
  if ((await git.ask(["merge-base", "--is-ancestor", commit, tip])).exitCode === 0) return false;
  await remote.push([{ ref: attemptRef(story, tip), commit: tip }], patience);
  const over = await remote.push([{ ref, commit, over: tip }], patience);
  return over.get(ref) === "done";
}

/**
 * Deletes the refs of attempts that are on the story's branch; the branch stays. Attempts that are on no branch keep
 * their refs: they are all that is left of a worker's interrupted work.
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
    if ((await git.ask(["merge-base", "--is-ancestor", commit, tip])).exitCode === 0) gone.push(name);
  }
  await remote.push(gone.map((name) => ({ ref: name, commit: null })));
}
