import type { StoryId } from "../../domain/ids.ts";
import type { Integration } from "../../ports/integration.ts";
import { alignBranch, isHeldBy, mergeCommit, publishCommit } from "./deliver-commit.ts";
import { branchStanding, updateBranch, type TargetBranch } from "./integration.ts";
import type { Repository } from "./repository.ts";
import { standingOf, type Site } from "./worktree-site.ts";

interface Places {
  readonly target: TargetBranch;
  readonly remote: string;
  repository(): Promise<Repository>;
  /** One thing at a time at a story's place. */
  at<T>(story: StoryId, work: (repository: Repository, site: Site) => Promise<T>): Promise<T>;
  /** One thing at a time at the target. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Delivery from stories' worktrees. */
export function integrationOf({ target, remote, repository, at, alone }: Places): Integration {
  return {
    target: async () => target.read(await repository()),
    standing: (story, commit) =>
      at(story, async (own, site) => branchStanding(own, site, await target.read(own), commit)),
    tip: (story) => at(story, async ({ git }, site) => (await standingOf(git, site)).branch?.commit ?? null),
    align: (story, verified, drop) => at(story, (own, site) => alignBranch(own, site, verified, drop)),
    update: (story, verified, note) =>
      at(story, async (own, site) => updateBranch(own, site, await target.read(own), verified, note)),
    // Two stories that are merged at once would each find the target moved by the other.
    merge: (story, verified, note) =>
      alone(() => at(story, (own, site) => mergeCommit(own, site, target, verified, note))),
    holds: (story, verified) =>
      at(story, async (own) => {
        const now = await target.read(own);
        return { target: now, isHeld: await isHeldBy(own, now, verified) };
      }),
    publish: (story, commit) => at(story, (own, site) => publishCommit(own, site, target, commit, remote)),
  };
}
