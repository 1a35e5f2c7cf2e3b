import { readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAlivePid } from "../repository.ts";

/**
 * Removes what a killed process left in a clone that only this worker uses: locks, and unfinished objects.
 * The locks of single worktrees are removed at the first visit there.
 */
export async function clearClone(gitDir: string): Promise<void> {
  const top = (await namesIn(gitDir)).filter((name) => name.endsWith(".lock")).map((name) => join(gitDir, name));
  const refs = (await filesBelow(join(gitDir, "refs"))).filter((file) => file.endsWith(".lock"));
  const objects = (await filesBelow(join(gitDir, "objects"))).filter((file) =>
    /\.lock$|^tmp_|^\.tmp-/.test(basename(file)),
  );
  const incoming = (await namesIn(join(gitDir, "objects")))
    .filter((name) => /^(?:tmp_objdir-)?incoming-/.test(name))
    .map((name) => join(gitDir, "objects", name));
  for (const path of [...top, ...refs, ...objects, ...incoming]) await rm(path, { recursive: true, force: true });
  await clearBegunWorktrees(gitDir, 0);
}

/**
 * For a moment git's note on a new worktree names no commit, and as long as there is such a note no fetch in the whole
 * clone succeeds. An older one was left by a git that was killed in that moment, before any agent worked there.
 */
export async function clearBegunWorktrees(gitDir: string, olderThanMs: number): Promise<void> {
  const folder = join(gitDir, "worktrees");
  for (const name of await namesIn(folder)) {
    const head = join(folder, name, "HEAD");
    const [text, found] = await Promise.all([readFile(head, "utf8").catch(() => ""), stat(head).catch(() => null)]);
    // The git that makes the worktree is quick: by now the note may name a commit, or be gone.
    const isBegun = /^0+\n?$/.test(text) && found !== null && Date.now() - found.mtimeMs >= olderThanMs;
    if (!isBegun) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** A clone is made beside its place and moved there as the last thing: those of the dead were never finished. */
export async function clearUnfinished(folder: string): Promise<void> {
  const mark = `${basename(folder)}${MAKING}`;
  for (const name of await namesIn(dirname(folder))) {
    if (!name.startsWith(mark) || isAlivePid(Number(name.slice(mark.length).split("-")[0]))) continue;
    await rm(join(dirname(folder), name), { recursive: true, force: true, maxRetries: 5 });
  }
}

export const MAKING = ".making-";

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
