import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { readWorktreeList } from "../../../parse/code/git-output.ts";
import type { Git } from "../git.ts";

/**
 * The state of a worktree on disk, whatever was killed while it was made or removed:
 *
 *     none    nothing is there, or an empty folder
 *     broken  files are there, and git does not know them (its notes were pruned, or the checkout was moved)
 *     begun   git knows it, and it was never finished: no agent can have worked there
 *     ready   made, filled, and its dependencies are in it
 */
export type WorktreeState =
  | { readonly is: "none" | "broken" }
  /** `gitDir` is git's folder for this worktree alone. */
  | { readonly is: "begun" | "ready"; readonly gitDir: string };

/**
 * The name of the mark that a worktree is complete. It is written last, into git's folder of the worktree, so that it
 * goes when that goes.
 */
const READY = "remand-ready";

export async function worktreeState(path: string): Promise<WorktreeState> {
  const link = await readFile(join(path, ".git"), "utf8").catch(() => null);
  const names = await readdir(path).catch(() => []);
  if (link === null) return { is: names.length === 0 ? "none" : "broken" };
  const gitDir = resolve(path, /^gitdir: (.*)$/m.exec(link)?.[1] ?? "");
  if (!existsSync(join(gitDir, "HEAD")) || !existsSync(join(gitDir, "commondir"))) return { is: "broken" };
  return { is: existsSync(join(gitDir, READY)) ? "ready" : "begun", gitDir };
}

export async function markReady(gitDir: string): Promise<void> {
  await writeFile(join(gitDir, READY), "");
}

/**
 * Makes room for a worktree, and returns where it moved existing files. Files that an agent or a person may have worked
 * on are never deleted.
 */
export async function clearPlace(git: Git, path: string): Promise<{ state: WorktreeState; movedTo: string | null }> {
  let state = await worktreeState(path);
  if (state.is === "broken" && existsSync(join(path, ".git"))) {
    // If the whole checkout was moved, only its paths need a repair.
    await git.ask(["worktree", "repair", path]);
    state = await worktreeState(path);
  }
  if (state.is === "begun") {
    await git.ask(["worktree", "remove", "--force", "--force", path]);
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
    return { state: { is: "none" }, movedTo: null };
  }
  if (state.is !== "broken") return { state, movedTo: null };
  let number = 1;
  while (existsSync(`${path}.lost-${number}`)) number++;
  await rename(path, `${path}.lost-${number}`);
  return { state: { is: "none" }, movedTo: `${path}.lost-${number}` };
}

/** Checks the branch out. Overwrites git's registration of a missing folder; other registrations stay. */
export async function addWorktree(git: Git, path: string, branch: string): Promise<string> {
  const elsewhere = readWorktreeList(await git.run(["worktree", "list", "--porcelain"])).find(
    (each) => each.branch === `refs/heads/${branch}` && each.path !== path && existsSync(each.path),
  );
  if (elsewhere !== undefined) {
    throw new RemandError(
      "workspace-broken",
      `the branch ${branch} is checked out in ${elsewhere.path}`,
      `Switch that checkout to another branch (git -C ${elsewhere.path} switch -), and run the same command again.`,
    );
  }
  // `--force` twice, because an interrupted registration is locked. The check above makes sure that the branch is free.
  await git.run(["worktree", "add", "--force", "--force", "--quiet", path, branch], { timeoutMs: 600_000 });
  const state = await worktreeState(path);
  if (state.is === "begun") return state.gitDir;
  throw new RemandError(
    "workspace-broken",
    `git created no worktree in ${path}`,
    "Remove that folder, and run the same command again.",
  );
}

/**
 * Resets git's state of a worktree, whatever an agent did there: on the story's branch, no unfinished merge, no lock of
 * a killed process.
 */
export async function resetGitFolder(git: Git, path: string, gitDir: string, branch: string): Promise<void> {
  await Promise.all(HALF_DONE.map((name) => rm(join(gitDir, name), { recursive: true, force: true })));
  const head = await readFile(join(gitDir, "HEAD"), "utf8");
  if (head.trim() !== `ref: refs/heads/${branch}`) {
    await git.run(["symbolic-ref", "HEAD", `refs/heads/${branch}`], { cwd: path });
  }
}

const HALF_DONE = [
  "index.lock",
  "HEAD.lock",
  "MERGE_HEAD",
  "MERGE_MSG",
  "MERGE_MODE",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "BISECT_LOG",
  "rebase-merge",
  "rebase-apply",
  "sequencer",
];
