import { RemandError } from "../../domain/error.ts";
import type { StoryId } from "../../domain/ids.ts";
import { line, type Repository } from "./repository.ts";
import type { Clone } from "./shared-clone.ts";
import { fetchCommit } from "./shared-commits.ts";
import { bringTo, noteRun, runIn } from "./shared-place.ts";
import { runKey, type StandingOf } from "./shared-standing.ts";
import { remoteTarget } from "./shared-target.ts";
import { standingOf, type Site } from "./worktree-site.ts";
import type { Sharing } from "./worktrees.ts";

/**
 * While one and the same run goes on, a place is left as that run has it. Whoever comes to it for anything else finds
 * what the journal says, whatever an earlier run left there.
 */
export function sharingOf(clone: Clone, byJournal: StandingOf, leaving: ReadonlySet<StoryId>): Sharing {
  const target = remoteTarget(clone);

  async function arrive(repository: Repository, site: Site): Promise<void> {
    const { git } = repository;
    const { commit } = byJournal(site.story);
    const standing = await standingOf(git, site);
    if (commit === null) {
      const start = (await target.read(repository)).commit;
      const isBegun = standing.branch !== undefined || standing.kept !== undefined;
      if (isBegun) await bringTo(repository, site, standing, { commit: start, base: async () => start });
      return;
    }
    if (standing.branch?.commit !== commit) await fetchCommit({ git, ...clone }, site.story, commit);
    await bringTo(repository, site, standing, {
      commit,
      base: async () => forkOf(repository, commit, (await target.read(repository)).commit, clone),
    });
  }

  return {
    target,
    async visit(repository, site, work) {
      if (leaving.has(site.story) && byJournal(site.story).isOver === true) return work();
      const run = runKey(byJournal(site.story));
      if (run === null || (await runIn(site)) !== run) await arrive(repository, site);
      const result = await work();
      await noteRun(site, run);
      return result;
    },
  };
}

/** What a story's work is compared with: where it left the branch it is for, or was last brought together with it. */
async function forkOf({ git }: Repository, commit: string, target: string, clone: Clone): Promise<string> {
  const { exitCode, stdout } = await git.ask(["merge-base", commit, target]);
  if (exitCode === 0) return line(stdout);
  throw new RemandError(
    "workspace-broken",
    `the commit ${commit.slice(0, 12)} has nothing in common with ${clone.branch} of ${clone.remote.address}`,
    "The history of that branch was replaced: bring the old one back, or start the story again.",
  );
}
