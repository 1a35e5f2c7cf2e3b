import { readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

/** Where git keeps what belongs to one checkout: `.git`, or a folder of its own where several share a repository. */
export interface GitFolder {
  readonly path: string;
  /** The folder that was asked about, below the top of the checkout; empty: the top itself. */
  readonly below: string;
}

/** Found by reading, without starting git: commands that only look ask for it too. `null` outside of a repository. */
export async function findGitFolder(root: string): Promise<GitFolder | null> {
  for (let top = resolve(root); ; top = dirname(top)) {
    const entry = join(top, ".git");
    const found = await stat(entry).catch(() => null);
    const below = relative(top, resolve(root));
    if (found?.isDirectory() === true) return { path: entry, below };
    if (found?.isFile() === true) {
      const [, folder] = /^gitdir:\s*(.+?)\s*$/m.exec(await readFile(entry, "utf8")) ?? [];
      if (folder !== undefined) return { path: resolve(top, folder), below };
    }
    if (dirname(top) === top) return null;
  }
}
