import { constants, existsSync, type Dirent } from "node:fs";
import { copyFile, cp, mkdir, readdir, readlink, realpath, rm, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { staysInside } from "./escaping-links.ts";

/**
 * Lends a worktree a folder of installed packages. The folder itself is real and its entries are links: so a rule like
 * `node_modules/` still ignores it, and a program that installs one more package here does not do it in the checkout.
 * Where the work has a link on the way that leads elsewhere, nothing is written: it would be the user's own folder.
 */
export async function lendFolder(main: string, folder: string, worktree: string): Promise<void> {
  if (!(await staysInside(worktree, folder))) return;
  if (existsSync(join(main, folder, "composer", "autoload_real.php"))) return copyFolder(main, folder, worktree);
  await linkFolder(main, folder, worktree);
}

/**
 * PHP asks where a file really is. The loader of Composer's packages, behind a link, would load the project's own
 * classes from the checkout.
 */
async function copyFolder(main: string, folder: string, worktree: string): Promise<void> {
  const target = join(worktree, folder);
  await rm(target, { recursive: true, force: true });
  await cp(join(main, folder), target, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    preserveTimestamps: true,
  });
}

async function linkFolder(main: string, folder: string, worktree: string): Promise<void> {
  const source = join(main, folder);
  const target = join(worktree, folder);
  await mkdir(target, { recursive: true });
  const programs = existsSync(join(source, "pyvenv.cfg")) ? "bin" : ".bin";
  for (const entry of await readdir(source, { withFileTypes: true })) {
    // What tools keep for themselves beside the packages: they would write it through the link.
    if (/^\.(cache|vite|vitest|tmp)/.test(entry.name) || (entry.name.startsWith(".") && entry.isFile())) continue;
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.name === programs && entry.isDirectory()) await lendPrograms(from, to);
    else if (entry.name.startsWith("@") && entry.isDirectory())
      await linkFolder(main, join(folder, entry.name), worktree);
    else await linkEntry(from, to, { entry, main, worktree });
  }
}

/** A link to a folder of the project (a local package), by however many links, has to lead to that folder of the worktree. */
async function linkEntry(
  from: string,
  to: string,
  about: { entry: Dirent; main: string; worktree: string },
): Promise<void> {
  await rm(to, { recursive: true, force: true });
  const leadsTo = about.entry.isSymbolicLink() ? await realpath(from).catch(() => null) : null;
  const way = leadsTo === null ? null : relative(about.main, leadsTo);
  const isOwn =
    way !== null && way.split(sep)[0] !== ".." && !isAbsolute(way) && !way.split(sep).includes("node_modules");
  await symlink(isOwn ? relative(dirname(to), join(about.worktree, way)) || "." : from, to);
}

/**
 * Programs are links to files of the packages beside them: those of the project itself are the worktree's. The folder
 * is a real one, so that a program that is added in a worktree is not added in the checkout.
 */
async function lendPrograms(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const file = join(from, entry.name);
    if (entry.isSymbolicLink()) await symlink(await readlink(file), join(to, entry.name));
    else if (entry.isFile()) await copyFile(file, join(to, entry.name), constants.COPYFILE_FICLONE);
  }
}
