import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { readWorktreeList } from "../../readers/git-worktree-list.ts";
import type { Repository } from "./repository.ts";

const PROJECT_FILES = ["pyproject.toml", "setup.py", "setup.cfg"];

/** Is anything in this repository a Python project? One in a folder of its own counts. */
export async function hasPython({ git, top }: Pick<Repository, "git" | "top">): Promise<boolean> {
  if (PROJECT_FILES.some((file) => existsSync(join(top, file)))) return true;
  const patterns = PROJECT_FILES.map((file) => `:(glob)**/${file}`);
  return (await git.run(["ls-files", "-z", "--", ...patterns])) !== "";
}

/** The top folder of the checkout, worktree or clone that a path is in. */
export async function topAround(path: string): Promise<string | null> {
  let folder = await realpath(path).catch(() => path);
  while (!existsSync(join(folder, ".git"))) {
    const above = dirname(folder);
    if (above === folder) return null;
    folder = above;
  }
  return folder;
}

/**
 * Where the same files are once more: the checkout, its worktrees, and those of Remand (with a star, because others
 * are made and taken away while we work).
 */
export async function otherPlaces({ git, top }: Repository, state: string, own: string): Promise<readonly string[]> {
  const ours = [join(state, "worktrees")];
  const registered = readWorktreeList(await git.run(["worktree", "list", "--porcelain"])).map(({ path }) => path);
  const outside = registered.filter((path) => !ours.some((folder) => path.startsWith(`${folder}${sep}`)));
  const all = new Set([top, ...outside].filter((path) => path !== own));
  return [...all, ...ours.map((folder) => join(folder, "*"))];
}

/** The checkouts that paths lead to, as far as they hold the same project as this one: further clones of it. */
export async function clonesAmong(paths: readonly string[], own: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    const top = await topAround(path);
    if (top === null || top === own || own.startsWith(`${top}${sep}`) || found.has(top)) continue;
    const project = projectFolder(path, top);
    if (project === null) continue;
    const name = await projectName(project);
    if (name !== null && name === (await projectName(join(own, relative(top, project))))) found.add(top);
  }
  return [...found];
}

/** The folder with the project's files, going up from one of its packages. */
function projectFolder(path: string, top: string): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if (PROJECT_FILES.some((file) => existsSync(join(folder, file)))) return folder;
    if (folder === top || dirname(folder) === folder) return null;
  }
}

async function projectName(folder: string): Promise<string | null> {
  for (const file of PROJECT_FILES) {
    const text = await readFile(join(folder, file), "utf8").catch(() => "");
    const [, name] = /(?:^|[\s(,])name\s*=\s*["']?([\w.-]+)/.exec(text) ?? [];
    if (name !== undefined) return name.toLowerCase().replace(/[-_.]+/g, "-");
  }
  return null;
}
