import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import { type Repository, commitOf, trimLine } from "../repository.ts";
import {
  type Site,
  type WorktreeRefs,
  refUpdate,
  saveDropped,
  resetGitState,
  refsOf,
  withTree,
} from "../worktree/worktree-site.ts";
import type { SharedRemote } from "../worktree/worktrees.ts";
import type { TargetCommit } from "../../../ports/workspace.ts";
import type { TargetBranch } from "../worktree/integration.ts";
import { updateRefs } from "../refs.ts";
import { createKeyedQueue } from "../worktree/in-place.ts";
import { restoreTree } from "../worktree/restore-tree.ts";
import { treeOf } from "../history.ts";
import { worktreeState } from "../worktree/worktree-folder.ts";
import type { Clone } from "./shared-clone.ts";
import { fetchCommit, noBranch, trackingRef } from "./shared-commits.ts";

/**
 * Synchronizes worktrees with the journal. While a run goes on, its worktree stays as it is. Every other run starts
 * from the commit that the journal names, regardless of what an earlier run left in the worktree.
 */
export function createJournalSync(clone: Clone, byJournal: PositionOf, leaving: ReadonlySet<StoryId>): SharedRemote {
  const target = remoteTarget(clone);

  async function syncWorktree(repository: Repository, site: Site): Promise<void> {
    const { git } = repository;
    const { commit } = byJournal(site.story);
    const standing = await refsOf(git, site);
    if (commit === null) {
      const start = (await target.read(repository)).commit;
      const isBegun = standing.branch !== undefined || standing.kept !== undefined;
      if (isBegun) await moveToCommit(repository, site, standing, { commit: start, base: async () => start });
      return;
    }
    if (standing.branch?.commit !== commit) await fetchCommit({ git, ...clone }, site.story, commit);
    await moveToCommit(repository, site, standing, {
      commit,
      base: async () => forkOf(repository, commit, (await target.read(repository)).commit, clone),
    });
  }

  return {
    target,
    async visit(repository, site, work) {
      if (leaving.has(site.story) && byJournal(site.story).isOver === true) return work();
      const run = runKey(byJournal(site.story));
      if (run === null || (await runIn(site)) !== run) await syncWorktree(repository, site);
      const result = await work();
      await noteRun(site, run);
      return result;
    },
  };
}

/** Returns the commit to compare a story's work with: where it forked from its target, or was last merged with it. */
async function forkOf({ git }: Repository, commit: string, target: string, clone: Clone): Promise<string> {
  const { exitCode, stdout } = await git.ask(["merge-base", commit, target]);
  if (exitCode === 0) return trimLine(stdout);
  throw new RemandError(
    "workspace-broken",
    `the commit ${commit.slice(0, 12)} has nothing in common with ${clone.branch} of ${clone.remote.address}`,
    "The history of that branch was replaced: bring the old one back, or start the story again.",
  );
}

/** The target branch on the remote. It is read and moved there each time, so that all machines see the same commit. */
function remoteTarget({ remote, branch }: Clone): TargetBranch {
  const turns = createKeyedQueue();
  const ref = `refs/heads/${branch}`;
  const tracking = trackingRef(branch);
  return {
    // Fetches take turns, because each writes the tracking ref.
    read: ({ git }) =>
      turns.take("target", async (): Promise<TargetCommit> => {
        if (!(await remote.fetch([`+${ref}:${tracking}`]))) throw noBranch(remote.address, branch);
        return { branch, commit: (await commitOf(git, tracking))! };
      }),
    async move({ git }: Repository, was, to) {
      const pushed = await remote.push([{ ref, commit: to, over: was.commit }]);
      if (pushed.get(ref) !== "done") return false;
      // The local tracking ref only follows the remote: a fetch in the meantime may have moved it further.
      await turns.take("target", async () => {
        const now = await commitOf(git, tracking);
        if (now === was.commit) await updateRefs(git, [{ ref: tracking, to, was: now }]);
      });
      return true;
    },
  };
}

/** The position of a story by the journal, which decides, not the current tip of a branch. */
export interface JournalPosition {
  /** The commit of the story's newest state; `null` before its first commit. */
  readonly commit: string | null;
  /** The sequence number of the event that started the story's current run (`running.seq`); `null` if nothing runs. */
  readonly run: number | null;
  /** Whether the story has ended, on any machine, so that its worktree here is no longer needed. */
  readonly isOver?: boolean;
}

/** Returns a story's position. Reads the folded state on every call. */
export type PositionOf = (story: StoryId) => JournalPosition;

/** Returns the run that a worktree's files belong to: the run's number and the commit it started from. */
export const runKey = ({ run, commit }: JournalPosition): string | null =>
  run === null ? null : `${run} ${commit ?? "none"}`;

/**
 * Moves a story's branch, and its worktree if there is one, to the commit that the journal names. Other work there
 * comes from an interrupted or replaced worker: it is dropped, and stays available under a ref until the next drop.
 */
async function moveToCommit(
  { git }: Repository,
  site: Site,
  standing: WorktreeRefs,
  { commit, base }: { readonly commit: string; base(): Promise<string> },
): Promise<void> {
  const isThere = standing.branch?.commit === commit && standing.kept?.commit === commit;
  const state = await worktreeState(site.path);
  if (state.is === "ready") {
    const to = isThere ? standing.branch.tree : await treeOf(git, commit);
    await withTree(git, site, state.gitDir, async (now, index) => {
      if (now === to && isThere) return;
      await saveDropped(git, site, standing, now, "left by an interrupted attempt");
      await restoreTree(git, { top: site.path, index, from: now, to, overwrite: true });
    });
  }
  if (!isThere || standing.base === undefined) {
    await updateRefs(git, [
      refUpdate(site, standing, "branch", commit),
      refUpdate(site, standing, "kept", commit),
      refUpdate(site, standing, "base", await base()),
    ]);
  }
  if (state.is === "ready") await resetGitState(git, site, state.gitDir);
}

/**
 * The name of a file in the worktree's git folder that says which run the files belong to. It is removed with the
 * worktree.
 */
const RUN = "remand-run";

export async function runIn(site: Site): Promise<string | null> {
  const state = await worktreeState(site.path);
  return state.is === "ready" ? await readFile(join(state.gitDir, RUN), "utf8").catch(() => null) : null;
}

/** Records the run of a worktree. `null`: its files belong to no current run. */
export async function noteRun(site: Site, run: string | null): Promise<void> {
  const state = await worktreeState(site.path);
  if (state.is !== "ready") return;
  if (run === null) await rm(join(state.gitDir, RUN), { force: true });
  else await writeFile(join(state.gitDir, RUN), run);
}
