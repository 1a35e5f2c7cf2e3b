import { readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

/** Where a folder stands in its checkout. */
export interface GitFolder {
  /** From the top of the checkout, with a slash at its end; empty at the top itself. Git names files from there. */
  readonly prefix: string;
  /** Where git keeps what all checkouts share. */
  readonly commonDir: string;
}

/** `null` outside of any checkout. */
export async function gitFolderOf(path: string): Promise<GitFolder | null> {
  for (let top = resolve(path); ; top = dirname(top)) {
    const entry = join(top, ".git");
    const found = await stat(entry).catch(() => null);
    if (found !== null) {
      const way = relative(top, resolve(path));
      return {
        prefix: way === "" ? "" : `${way}/`,
        commonDir: found.isDirectory() ? entry : await commonDirOf(top, entry),
      };
    }
    if (dirname(top) === top) return null;
  }
}

/** A worktree has a file there, which says where git keeps what is its own; that says where the rest is. */
async function commonDirOf(top: string, entry: string): Promise<string> {
  const own = resolve(top, (await readFile(entry, "utf8")).replace(/^gitdir:\s*/, "").trim());
  const common = await readFile(join(own, "commondir"), "utf8").catch(() => ".");
  return resolve(own, common.trim());
}
