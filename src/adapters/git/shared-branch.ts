import type { StoryId } from "../../domain/ids.ts";
import { attemptRef, attemptRefs, branchRef, type Fetching } from "./shared-commits.ts";

/**
 * Shows a commit that the journal names as the story's branch on the remote. The branch only goes forward: where it
 * holds the commit already, somebody who knows more of the journal has been there. What stands on it and is no part of
 * the story's history is given a name of its own before it is written over. Says whether the branch now is that commit.
 */
export async function showBranch(
  { git, remote }: Fetching,
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
 * Takes away the names of attempts that are on the story's branch, which stays. Those that are on no branch keep their
 * names: they are all that is left of work that somebody was interrupted in.
 */
export async function pruneAttempts({ git, remote }: Fetching, story: StoryId): Promise<void> {
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
