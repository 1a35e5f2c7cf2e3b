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

/** The folder that has the packages, and the checkout that they were installed in. */
type Lender = Pick<DependencySource, "root" | "checkout">;

/**
 * Lends a worktree a folder of installed packages. The folder itself is real and its entries are links: so a rule like
 * `node_modules/` still ignores it, and a program that installs one more package here does not do it in the checkout.
 * Where the work has a link on the way that leads elsewhere, nothing is written: it would be the user's own folder.
 */
export async function lendFolder(lender: Lender, folder: string, worktree: string): Promise<void> {
  if (!staysInside(worktree, folder)) return;
  if (existsSync(join(lender.root, folder, "composer", "autoload_real.php")))
    return copyFolder(lender.root, folder, worktree);
  await linkFolder(lender, folder, worktree);
}

/**
 * PHP asks where a file really is. The loader of Composer's packages, behind a link, would load the project's own
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

/** What tools keep for themselves beside the packages: they would write it through the link. */
export const isKeptByTools = (entry: Dirent): boolean =>
  /^\.(cache|vite|vitest|tmp)/.test(entry.name) || (entry.name.startsWith(".") && entry.isFile());

async function linkFolder(lender: Lender, folder: string, worktree: string): Promise<void> {
  const source = join(lender.root, folder);
  const target = join(worktree, folder);
  await mkdir(target, { recursive: true });
  const programs = existsSync(join(source, "pyvenv.cfg")) ? "bin" : ".bin";
  for (const entry of await readdir(source, { withFileTypes: true })) {
    if (isKeptByTools(entry)) continue;
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.name === programs && entry.isDirectory()) await lendPrograms(from, to, lender, worktree);
    else if (entry.name.startsWith("@") && entry.isDirectory())
      await linkFolder(lender, join(folder, entry.name), worktree);
    else await linkEntry(from, to, { entry, lender, worktree });
  }
}

/** A link to a folder of the project (a local package), by however many links, has to lead to that folder of the worktree. */
async function linkEntry(
  from: string,
  to: string,
  { entry, lender, worktree }: { entry: Dirent; lender: Lender; worktree: string },
): Promise<void> {
  await rm(to, { recursive: true, force: true });
  const way = entry.isSymbolicLink() ? await wayToOwn(from, lender) : null;
  await symlink(way === null ? from : relative(dirname(to), join(worktree, way)) || ".", to);
}

/** Where in the project a link leads, as a path from its top; `null` where it leads to something installed, or elsewhere. */
export async function wayToOwn(link: string, { root, checkout }: Lender): Promise<string | null> {
  const way =
    root === checkout
      ? await realpath(link).then(
          (leadsTo) => relative(checkout, leadsTo),
          () => null,
        )
      : await wayInCopy(link, { root, checkout }, MOST_LINKS);
  const isOwn =
    way !== null && way.split(sep)[0] !== ".." && !isAbsolute(way) && !way.split(sep).includes("node_modules");
  return isOwn ? way : null;
}

const MOST_LINKS = 20;

/** A copy has no files of the project. Its links to them lead nowhere, or name the checkout. */
async function wayInCopy(link: string, lender: Lender, mostLinks: number): Promise<string | null> {
  const { root, checkout } = lender;
  const target = resolve(dirname(link), await readlink(link));
  if (!`${target}${sep}`.startsWith(`${root}${sep}`)) return relative(checkout, target);
  const found = await lstat(target).catch(() => null);
  if (found?.isSymbolicLink() !== true) return relative(root, target);
  return mostLinks === 0 ? null : wayInCopy(target, lender, mostLinks - 1);
}

/**
 * Programs are links to files of the packages beside them: those of the project itself are the worktree's. The folder
 * is a real one, so that a program that is added in a worktree is not added in the checkout.
 */
async function lendPrograms(from: string, to: string, lender: Lender, worktree: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const file = join(from, entry.name);
    if (entry.isSymbolicLink()) await symlink(await readlink(file), join(to, entry.name));
    else if (entry.isFile()) await lendProgram(file, join(to, entry.name), lender, worktree);
  }
}

/**
 * A program of a virtual environment begins with the path of that environment's own Python. That of a copy would lead
 * back to the checkout, and to the packages as they are there now.
 */
async function lendProgram(from: string, to: string, { root, checkout }: Lender, worktree: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  if (root === checkout) return;
  const { size, mode } = await stat(from);
  const text = size > MOST_SCRIPT_BYTES ? "" : await readFile(from, "latin1");
  if (!text.startsWith("#!") || !text.includes(`${checkout}${sep}`)) return;
  await chmod(to, mode | 0o200);
  await writeFile(to, text.replaceAll(`${checkout}${sep}`, `${worktree}${sep}`), "latin1");
}

const MOST_SCRIPT_BYTES = 100_000;
