import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * While a command runs in its sandbox, a client covers certain names in the worktree (`.bashrc`, `.mcp.json`,
 * `.codex`, `.claude/settings.json`, …). Where there is nothing of that name it makes an empty file that nobody may
 * write, or an empty folder. It takes them away again, unless it is ended first: then they would be kept as the
 * agent's work.
 */
export async function watchPlaceholders(cwd: string): Promise<{ remove(): Promise<void> }> {
  const before = new Set(await entries(cwd));
  const claude = join(cwd, ".claude");
  const beforeInClaude = new Set(await entries(claude));
  return {
    async remove() {
      for (const name of await entries(claude)) if (!beforeInClaude.has(name)) await removeEmpty(join(claude, name));
      for (const name of await entries(cwd)) if (!before.has(name)) await removeEmpty(join(cwd, name));
    },
  };
}

async function entries(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}

/** What holds something stays: that is not for us to judge. Empty folders are nothing to git. */
async function removeEmpty(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => null);
  if (stat?.isDirectory() === true) await rmdir(path).catch(() => undefined);
  if (stat?.isFile() === true && stat.size === 0 && (stat.mode & 0o222) === 0) await rm(path, { force: true });
}
