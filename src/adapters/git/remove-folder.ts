import { chmod, mkdir, readdir, rename, rm, readFile, stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { join, basename, dirname } from "node:path";
import { RemandError, systemFault } from "../../core/events/error.ts";
import { causeOfMissingFolder } from "../process/unwritable-folder.ts";
import { startRemoval } from "../process/launch.ts";
import { isAlivePid, processUniqueName } from "./repository.ts";

/** Removes a folder with everything in it. For a link, removes the link itself. */
export async function removeFolder(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 5 } as const;
  try {
    await rm(path, options).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
      // A run may leave read-only folders, such as a module cache.
      await makeWritable(path);
      await rm(path, options);
    });
  } catch (error) {
    throw new RemandError(
      "workspace-broken",
      `the checkout ${path} cannot be removed: ${(error as Error).message}`,
      `Remove it: rm -rf ${path}`,
      { cause: error },
    );
  }
}

/**
 * Removes a large folder without a long wait: moves it to `gone` at once, where a separate process removes it and
 * earlier leftovers. That process may outlive this one.
 */
export async function removeInBackground(path: string, gone: string): Promise<void> {
  await mkdir(gone, { recursive: true, mode: 0o700 });
  const aside = join(gone, processUniqueName());
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") await removeFolder(path);
  }
  const left = (await readdir(gone)).map((name) => join(gone, name));
  const waiting = new AbortController();
  const isRemoved = await Promise.race([
    startRemoval(left),
    pause(WAIT_MS, true, { signal: waiting.signal }).catch(() => true),
  ]);
  waiting.abort();
  // `rm` fails on read-only folders; `removeFolder` handles them.
  if (!isRemoved) await removeFolder(aside);
}

const WAIT_MS = 2000;

/** Removes folders of killed processes. The name of a folder begins with the id of its process. */
export async function removeOrphaned(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (!isAlivePid(Number(name.split("-")[0]))) await removeFolder(join(folder, name));
}

async function makeWritable(folder: string): Promise<void> {
  // A folder that was removed in the meantime needs no permission.
  await chmod(folder, 0o700).catch(() => undefined);
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
}

/**
 * Runs file operations. An error of the disk (full, read-only, no permission) becomes an operating error with a hint.
 */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = await causeOfMissingFolder(thrown);
    if (!(error instanceof Error && "code" in error && "syscall" in error)) throw error;
    const fault = systemFault(error);
    throw new RemandError(
      "workspace-broken",
      `the workspace cannot be used: ${fault === null ? "" : `${fault.fact}: `}${error.message}`,
      fault?.fix ?? HINTS[String(error.code)] ?? "Fix what the system says, and run the same command again.",
      { cause: error },
    );
  }
}

const HINTS: Readonly<Record<string, string>> = {
  EACCES: "Change the permissions of that folder, or run as a user who may write to it.",
  EPERM: "Change the permissions of that folder, or run as a user who may write to it.",
};

/**
 * Removes what a killed process left in a clone that only this worker uses: locks and unfinished objects. The locks of
 * single worktrees are removed at the first visit there.
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
 * Removes git's notes on worktrees that were never finished. While `git worktree add` runs, its note names no commit
 * for a moment, and until then every fetch in the clone fails. An old note of this kind was left by a killed git,
 * before any agent worked there.
 */
export async function clearBegunWorktrees(gitDir: string, olderThanMs: number): Promise<void> {
  const folder = join(gitDir, "worktrees");
  for (const name of await namesIn(folder)) {
    const head = join(folder, name, "HEAD");
    const [text, found] = await Promise.all([readFile(head, "utf8").catch(() => ""), stat(head).catch(() => null)]);
    // `git worktree add` may have finished between the reads: the note may now name a commit, or be gone.
    const isBegun = /^0+\n?$/.test(text) && found !== null && Date.now() - found.mtimeMs >= olderThanMs;
    if (!isBegun) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Removes unfinished clones of dead processes. A clone is made in a temporary folder and renamed last. */
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
