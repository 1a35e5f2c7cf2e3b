import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bringBack } from "./bring-back.ts";
import { treeOf } from "./combine.ts";
import { updateRefs } from "./refs.ts";
import type { Repository } from "./repository.ts";
import { worktreeState } from "./worktree-place.ts";
import { moving, saveDropped, settle, withTree, type Site, type Standing } from "./worktree-site.ts";

/**
 * Brings a story's branch, and its worktree where there is one, to the commit that the journal names. What is there and
 * in no such commit was left by somebody who was interrupted, or whose place another machine has taken: it is dropped,
 * and can be found under a name of its own until something else is dropped.
 */
export async function bringTo(
  { git }: Repository,
  site: Site,
  standing: Standing,
  { commit, base }: { readonly commit: string; base(): Promise<string> },
): Promise<void> {
  const isThere = standing.branch?.commit === commit && standing.kept?.commit === commit;
  const state = await worktreeState(site.path);
  if (state.is === "ready") {
    const to = isThere ? standing.branch.tree : await treeOf(git, commit);
    await withTree(git, site, state.gitDir, async (now, index) => {
      if (now === to && isThere) return;
      await saveDropped(git, site, standing, now, "left by an interrupted attempt");
      await bringBack(git, { top: site.path, index, from: now, to, overwrite: true });
    });
  }
  if (!isThere || standing.base === undefined) {
    await updateRefs(git, [
      moving(site, standing, "branch", commit),
      moving(site, standing, "kept", commit),
      moving(site, standing, "base", await base()),
    ]);
  }
  if (state.is === "ready") await settle(git, site, state.gitDir);
}

/** Which run the files of a worktree belong to. It goes when the worktree goes. */
const RUN = "remand-run";

export async function runIn(site: Site): Promise<string | null> {
  const state = await worktreeState(site.path);
  return state.is === "ready" ? await readFile(join(state.gitDir, RUN), "utf8").catch(() => null) : null;
}

/** `null`: whatever is there belongs to nothing that still runs. */
export async function noteRun(site: Site, run: string | null): Promise<void> {
  const state = await worktreeState(site.path);
  if (state.is !== "ready") return;
  if (run === null) await rm(join(state.gitDir, RUN), { force: true });
  else await writeFile(join(state.gitDir, RUN), run);
}
