import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * While a command runs in its sandbox, the client covers certain names in the worktree (`.bashrc`, `.mcp.json`,
 * `.claude/settings.json`, …), and where there is no such file it makes an empty one that nobody may write. It takes
 * them away again, unless it is ended first: then they would be kept as the agent's work.
 */
export async function watchPlaceholders(cwd: string): Promise<{ remove(): Promise<void> }> {
  const folders = [cwd, join(cwd, ".claude")];
  const before = new Map<string, readonly string[] | null>();
  for (const folder of folders) before.set(folder, await entries(folder));
  return {
    async remove() {
      for (const folder of folders) {
        const known = new Set(before.get(folder) ?? []);
        for (const name of (await entries(folder)) ?? []) {
          const path = join(folder, name);
          if (!known.has(name) && (await isPlaceholder(path))) await rm(path, { force: true });
        }
      }
      const claude = folders[1]!;
      if (before.get(claude) === null) await removeEmpty(claude);
    },
  };
}

async function entries(folder: string): Promise<readonly string[] | null> {
  return readdir(folder).catch(() => null);
}

async function isPlaceholder(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => null);
  return stat !== null && stat.isFile() && stat.size === 0 && (stat.mode & 0o222) === 0;
}

/** A folder that holds something stays: that is not for us to judge. */
async function removeEmpty(folder: string): Promise<void> {
  for (const name of (await entries(folder)) ?? []) await rmdir(join(folder, name)).catch(() => undefined);
  await rmdir(folder).catch(() => undefined);
}
