import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readFile, readdir, realpath, rm } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import { sha256 } from "../../stdx/sha256.ts";
import type { Git } from "./git.ts";
import { removeFolder } from "./remove-folder.ts";
import { type Repository, trimLine, repositoryOpener } from "./repository.ts";

/** The files of hidden checks, in a folder that agents cannot see. */
export interface HiddenFiles {
  readonly folder: string;
  /** Relative to the project's folder, with `/`. */
  readonly paths: readonly string[];
}

/** Returns the folder of a project's hidden files. */
export async function hiddenFolder(userState: string, root: string): Promise<string> {
  return join(userState, "hidden", sha256(await realpath(root)).slice(0, 16));
}

/** Reads the hidden files in a folder; `null` if there are none. */
export async function readHiddenFiles(folder: string): Promise<HiddenFiles | null> {
  const paths = await filesBelow(folder, "");
  return paths.length === 0 ? null : { folder, paths };
}

/** Returns the files below a folder, or the file itself. Skips links, because their targets may change. */
async function filesBelow(root: string, path: string): Promise<readonly string[]> {
  const found = await lstat(join(root, path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found?.isFile() === true) return [path];
  if (found?.isDirectory() !== true) return [];
  const names = (await readdir(join(root, path))).filter((name) => !LEFT_OUT.has(name)).toSorted();
  const below = await Promise.all(names.map((name) => filesBelow(root, path === "" ? name : `${path}/${name}`)));
  return below.flat();
}

const LEFT_OUT: ReadonlySet<string> = new Set([".git", ".remand", "node_modules", "__pycache__"]);

/** Copies the files into a checkout. Replaces whatever the work has at their paths, and follows no link. */
export async function copyHiddenFiles({ folder, paths }: HiddenFiles, checkout: string): Promise<void> {
  for (const path of paths) {
    await makeFolder(checkout, dirname(path));
    const to = join(checkout, path);
    await rm(to, { recursive: true, force: true });
    await copyFile(join(folder, path), to, constants.COPYFILE_EXCL);
  }
}

async function makeFolder(checkout: string, folder: string): Promise<void> {
  let path = checkout;
  for (const name of folder === "." ? [] : folder.split("/")) {
    path = join(path, name);
    const found = await lstat(path).catch(() => null);
    if (found?.isDirectory() === true) continue;
    await rm(path, { force: true });
    await mkdir(path);
  }
}

/** The result of hiding files. */
export interface HideResult {
  readonly folder: string;
  /** The copied files, relative to the project's folder. */
  readonly copied: readonly string[];
  /** All files that are hidden now. */
  readonly hidden: readonly string[];
  /** Copied files that are still in the project. */
  readonly left: readonly string[];
  /** The commit that removed the files; `null`: no commit was made. */
  readonly commit: string | null;
}

/**
 * Copies files of the project to its folder of hidden files. With `commit`, makes a commit that removes them from the
 * project.
 */
export async function hideFiles(
  root: string,
  folder: string,
  { paths, commit }: { readonly paths: readonly string[]; readonly commit: boolean },
): Promise<HideResult> {
  const repository = await repositoryOpener(root)();
  const copied: string[] = [];
  for (const path of paths) {
    const inside = relative(root, join(root, path)).split(sep).join("/");
    const isInside = inside !== "" && !inside.split("/").some((name) => name === ".." || LEFT_OUT.has(name));
    const files = isInside ? await filesBelow(root, inside) : [];
    if (files.length === 0)
      throw new RemandError(
        "file-missing",
        `${path} is not a file of this project`,
        "Name files or folders below the folder with remand.yaml.",
      );
    copied.push(...files);
  }
  const distinct = [...new Set(copied)].toSorted();
  for (const path of distinct) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await copyFile(join(root, path), join(folder, path));
  }
  const made = commit ? await removeFromProject(repository, root, folder, distinct) : null;
  const hidden = (await readHiddenFiles(folder))?.paths ?? [];
  return { folder, copied: distinct, hidden, left: commit ? [] : distinct, commit: made };
}

/** Deletes copies from the folder. Does not touch the project's files. */
export async function forgetHidden(folder: string, paths: readonly string[]): Promise<readonly string[]> {
  const known = (await readHiddenFiles(folder))?.paths ?? [];
  const dropped = known.filter((path) => paths.some((each) => path === each || path.startsWith(`${each}/`)));
  for (const path of dropped) await rm(join(folder, path), { force: true });
  if (dropped.length === known.length) await removeFolder(folder);
  return dropped;
}

/**
 * Deletes files and commits the deletion of only these paths, whatever else is staged. Untracked files are only
 * deleted.
 */
async function removeFromProject(
  { git, prefix }: Repository,
  root: string,
  folder: string,
  paths: readonly string[],
): Promise<string | null> {
  const fromTop = paths.map((path) => pathFromTop(prefix, path));
  const listed = await git.run(["--literal-pathspecs", "ls-files", "-z", "--", ...fromTop]);
  const tracked = listed.split("\0").filter((each) => each !== "");
  for (const path of paths) await rm(join(root, path), { force: true });
  if (tracked.length === 0) return null;
  try {
    await git.run(["--literal-pathspecs", "commit", "--quiet", "-m", HIDE_SUBJECT, "--only", "--", ...tracked]);
  } catch (error) {
    for (const path of paths) await copyFile(join(folder, path), join(root, path));
    throw error;
  }
  return trimLine(await git.run(["rev-parse", "HEAD"]));
}

export const HIDE_SUBJECT = "test: move tests to the hidden checks";

export const pathFromTop = (prefix: string, path: string): string =>
  prefix === "" ? path : `${prefix.split(sep).join("/")}/${path}`;

/**
 * Returns the hidden files that an agent would find unchanged in its checkout: at a commit, or with `null` in the
 * working tree.
 */
export async function stillInProject(
  root: string,
  { folder, paths }: HiddenFiles,
  commit: string | null,
): Promise<readonly string[]> {
  const left: string[] = [];
  if (commit === null) {
    for (const path of paths) {
      const now = await readFile(join(root, path)).catch(() => null);
      if (now?.equals(await readFile(join(folder, path))) === true) left.push(path);
    }
    return left;
  }
  const { git, prefix } = await repositoryOpener(root)();
  const { exitCode, stdout } = await git.ask(["ls-tree", "-r", "-z", "--full-tree", commit]);
  if (exitCode !== 0) return [];
  const there = new Set(stdout.split("\0").map((entry) => entry.replace(/^\d+ blob /, "")));
  for (const path of paths) {
    const blobs = await blobsOf(git, [{ folder, paths: [path] }]);
    if (blobs.some((blob) => there.has(`${blob}\t${pathFromTop(prefix, path)}`))) left.push(path);
  }
  return left;
}

/** Returns the blob ids of the files, with filters for line ends and without. */
export async function blobsOf(git: Git, hidden: readonly HiddenFiles[]): Promise<readonly string[]> {
  const files = hidden.flatMap(({ folder, paths }) => paths.map((path) => join(folder, path)));
  const stdin = files.map((file) => `${file}\n`).join("");
  const plain = await git.run(["hash-object", "--no-filters", "--stdin-paths"], { stdin });
  const filtered = await git.run(["hash-object", "--stdin-paths"], { stdin });
  return `${plain}${filtered}`.split("\n").filter((each) => each !== "");
}
