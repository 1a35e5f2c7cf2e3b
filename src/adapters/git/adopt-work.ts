import { RemandError } from "../../domain/error.ts";
import type { Kept, KeepNote } from "../../ports/workspace.ts";
import { bringBack } from "./bring-back.ts";
import { isInHistory, togetherFrom } from "./combine.ts";
import { trailersOf, updateRefs } from "./refs.ts";
import type { Repository } from "./repository.ts";
import { gitDirOf, moving, record, settle, standingOf, withTree, type Site } from "./worktree-site.ts";

/**
 * Takes in what a person left: commits on the branch, changed files in the worktree, or both. Nothing of either is lost;
 * where they contradict each other the person is told, because only they know which one they meant.
 */
export async function adoptWork({ git }: Repository, site: Site, known: Kept, note: KeepNote): Promise<Kept> {
  const gitDir = await gitDirOf(site);
  const adopted = await withTree(git, site, gitDir, async (now, index): Promise<Kept> => {
    const standing = await standingOf(git, site);
    const { branch } = standing;
    // A branch that is behind was kept from following, by a lock: nobody has added anything to it.
    const isBehind = branch === undefined || (await isInHistory(git, branch.commit, known.commit));
    const tip = isBehind ? known : branch;
    if (isBehind && now === known.tree) return known;
    const isOnlyOnBranch = now === known.tree || now === tip.tree;
    const { tree, conflicts } =
      isOnlyOnBranch || tip.tree === known.tree
        ? { tree: isOnlyOnBranch ? tip.tree : now, conflicts: [] }
        : await togetherFrom(git, known.commit, tip.commit, now);
    if (conflicts.length > 0) throw contradiction(site, conflicts);
    await bringBack(git, { top: site.path, index, from: now, to: tree, overwrite: true });
    if (tree === tip.tree) {
      await updateRefs(git, [moving(site, standing, "kept", tip.commit)]);
      return { tree, commit: tip.commit };
    }
    return record(git, site, standing, { tree, subject: note.subject, trailers: trailersOf(site.story, note) });
  });
  await settle(git, site, gitDir);
  return adopted;
}

function contradiction({ path, branch }: Site, conflicts: readonly string[]): RemandError {
  return new RemandError(
    "workspace-broken",
    `the files in ${path} and the commits on ${branch} changed the same places, in ${conflicts.slice(0, 5).join(", ")}`,
    `Commit what you want there: git -C ${path} commit --all; then answer again.`,
  );
}
