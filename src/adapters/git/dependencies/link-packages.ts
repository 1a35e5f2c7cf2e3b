import { constants, existsSync, type Dirent } from "node:fs";
import {
  chmod,
  copyFile,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { DependencySource } from "./dependency-source.ts";
import { staysInside } from "../tree-changes.ts";

/** The folder with the packages, and the checkout in which they were installed. */
type PackageFolder = Pick<DependencySource, "root" | "checkout">;

/**
 * Links a folder of installed packages into a worktree. The folder itself is real and its entries are links, so that an
 * ignore rule like `node_modules/` still matches, and a package installed here is not installed in the checkout. Writes
 * nothing if the work has a link on the path that leads out of the worktree: that would write into another folder of
 * the user.
 */
export async function linkPackages(packages: PackageFolder, folder: string, worktree: string): Promise<void> {
  if (!staysInside(worktree, folder)) return;
  if (existsSync(join(packages.root, folder, "composer", "autoload_real.php")))
    return copyFolder(packages.root, folder, worktree);
  await linkFolder(packages, folder, worktree);
}

/**
 * Copies a folder instead of linking it: PHP resolves links, so Composer's autoloader would load the project's own
 * classes from the checkout.
 */
async function copyFolder(root: string, folder: string, worktree: string): Promise<void> {
  const target = join(worktree, folder);
  await rm(target, { recursive: true, force: true });
  await cp(join(root, folder), target, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    preserveTimestamps: true,
  });
}

/** Whether tools keep this entry beside the packages (caches). Through a link, they would write into the checkout. */
export const isKeptByTools = (entry: Dirent): boolean =>
  /^\.(cache|vite|vitest|tmp)/.test(entry.name) || (entry.name.startsWith(".") && entry.isFile());

async function linkFolder(packages: PackageFolder, folder: string, worktree: string): Promise<void> {
  const source = join(packages.root, folder);
  const target = join(worktree, folder);
  await mkdir(target, { recursive: true });
  const programs = existsSync(join(source, "pyvenv.cfg")) ? "bin" : ".bin";
  for (const entry of await readdir(source, { withFileTypes: true })) {
    if (isKeptByTools(entry)) continue;
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.name === programs && entry.isDirectory()) await linkPrograms(from, to, packages, worktree);
    else if (entry.name.startsWith("@") && entry.isDirectory())
      await linkFolder(packages, join(folder, entry.name), worktree);
    else await linkEntry(from, to, { entry, packages, worktree });
  }
}

/**
 * Links one entry. A link to a folder of the project (a local package), even through more links, is changed to lead to
 * the worktree's folder.
 */
async function linkEntry(
  from: string,
  to: string,
  { entry, packages, worktree }: { entry: Dirent; packages: PackageFolder; worktree: string },
): Promise<void> {
  await rm(to, { recursive: true, force: true });
  const target = entry.isSymbolicLink() ? await projectTargetOf(from, packages) : null;
  await symlink(target === null ? from : relative(dirname(to), join(worktree, target)) || ".", to);
}

/**
 * Returns the project path that a link leads to, relative to the project's top; `null` if it leads to an installed
 * package or outside.
 */
export async function projectTargetOf(link: string, { root, checkout }: PackageFolder): Promise<string | null> {
  const target =
    root === checkout
      ? await realpath(link).then(
          (leadsTo) => relative(checkout, leadsTo),
          () => null,
        )
      : await resolveInCopy(link, { root, checkout }, MOST_LINKS);
  const isOwn =
    target !== null &&
    target.split(sep)[0] !== ".." &&
    !isAbsolute(target) &&
    !target.split(sep).includes("node_modules");
  return isOwn ? target : null;
}

const MOST_LINKS = 20;

/** Resolves a link in a copy. A copy has no project files: its links to them are broken, or name the checkout. */
async function resolveInCopy(link: string, packages: PackageFolder, mostLinks: number): Promise<string | null> {
  const { root, checkout } = packages;
  const target = resolve(dirname(link), await readlink(link));
  if (!`${target}${sep}`.startsWith(`${root}${sep}`)) return relative(checkout, target);
  const found = await lstat(target).catch(() => null);
  if (found?.isSymbolicLink() !== true) return relative(root, target);
  return mostLinks === 0 ? null : resolveInCopy(target, packages, mostLinks - 1);
}

/**
 * Links the programs. A program is a link to a file of a package; those of the project lead to the worktree. The folder
 * is real, so that a program added in a worktree is not added in the checkout.
 */
async function linkPrograms(from: string, to: string, packages: PackageFolder, worktree: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const file = join(from, entry.name);
    if (entry.isSymbolicLink()) await symlink(await readlink(file), join(to, entry.name));
    else if (entry.isFile()) await copyProgram(file, join(to, entry.name), packages, worktree);
  }
}

/**
 * Copies a program. In a virtual environment, programs begin with the path of that environment's Python; in a kept copy
 * this path would lead back to the checkout and its current packages, so it is rewritten.
 */
async function copyProgram(
  from: string,
  to: string,
  { root, checkout }: PackageFolder,
  worktree: string,
): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  if (root === checkout) return;
  const { size, mode } = await stat(from);
  const text = size > MOST_SCRIPT_BYTES ? "" : await readFile(from, "latin1");
  if (!text.startsWith("#!") || !text.includes(`${checkout}${sep}`)) return;
  await chmod(to, mode | 0o200);
  await writeFile(to, text.replaceAll(`${checkout}${sep}`, `${worktree}${sep}`), "latin1");
}

const MOST_SCRIPT_BYTES = 100_000;
