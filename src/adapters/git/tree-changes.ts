import { lstat, readFile, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, sep } from "node:path";
import { readlinkSync } from "node:fs";
import type { Git } from "./git.ts";
import { type IndexEntry, entriesOf, idBytesOf, makeIndex, replaceEntries } from "./index-file.ts";

/** A path that differs between two trees, as the second tree has it. */
export interface TreeChange {
  readonly path: string;
  /** `null`: deleted in the second tree. */
  readonly mode: string | null;
  readonly id: string;
}

/** Returns the differences between two trees. The time grows with the differences, not with the trees. */
export async function treeChanges(git: Git, from: string, to: string): Promise<readonly TreeChange[]> {
  if (from === to) return [];
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", from, to];
  // An empty index keeps git from reading the real one, which it does not need.
  const parts = (await git.run(args, { index: NO_INDEX })).split("\0");
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, , mode, id, status] = /^:(\d+) (\d+) [0-9a-f]+ ([0-9a-f]+) (\w)/.exec(parts[at]!) ?? [];
    if (mode === undefined || id === undefined) throw new Error(`git diff-tree printed ${parts[at]}`);
    changes.push({ path: parts[at + 1]!, mode: status === "D" ? null : mode, id });
  }
  return changes;
}

/** Git treats a missing file as an empty index. */
const NO_INDEX = "/nonexistent/index";

/** Updates a checkout's files and index to those of the second tree. */
export async function applyChanges(own: Git, checkout: string, changes: readonly TreeChange[]): Promise<void> {
  if (changes.length === 0) return;
  const gone = changes.filter(({ mode }) => mode === null);
  const present = changes.filter(({ mode }) => mode !== null);
  await removeFiles(checkout, gone);
  // Deletions first: a file may replace a folder.
  const entries = [...gone, ...present].map(({ path, mode, id }) => `${mode ?? "0"} ${id}\t${path}\0`);
  await own.run(["update-index", "-z", "--index-info"], { stdin: entries.join("") });
  if (present.length === 0) return;
  const stdin = present.map(({ path }) => `${path}\0`).join("");
  await own.run(["checkout-index", "--force", "--index", "-z", "--stdin"], { stdin, timeoutMs: 600_000 });
}

/**
 * Updates a checkout that shows a pristine one. Git writes the files with an index of only these files, whose entries
 * are then merged into a copy of the pristine index. Git itself would read and write the whole index twice.
 */
export async function applyChangesAbove(
  own: Git,
  { checkout, pristine, aside }: { readonly checkout: string; readonly pristine: string; readonly aside: string },
  changes: readonly TreeChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const gone = changes.filter(({ mode }) => mode === null);
  const present = changes.flatMap(({ path, mode, id }) => (mode === null ? [] : [{ path, mode, id }]));
  const idBytes = idBytesOf(changes[0]!.id);
  const index = join(aside, "index");
  const before = readFile(join(pristine, ".git", "index"));
  before.catch(() => undefined);
  await removeFiles(checkout, gone);
  await writeFile(index, makeIndex(present, idBytes));
  if (present.length > 0)
    await own.run(["checkout-index", "--force", "--index", "--all"], { index, timeoutMs: 600_000 });
  const written = entriesOf(await readFile(index), idBytes);
  const removed = gone.map(({ path }): IndexEntry => ({ path: Buffer.from(path), bytes: null }));
  const whole = written && replaceEntries(await before, [...removed, ...written], idBytes);
  if (whole === null) return applyChanges(own, checkout, changes);
  // Rename, as git does: writing into the mounted file would make the system copy it first.
  const fresh = join(checkout, ".git", "index.lock");
  await writeFile(fresh, whole);
  await rename(fresh, join(checkout, ".git", "index"));
}

async function removeFiles(checkout: string, gone: readonly TreeChange[]): Promise<void> {
  for (const { path } of gone) await removeFile(checkout, path);
}

/** Removes a file and the folders that become empty, as git does. */
async function removeFile(checkout: string, path: string): Promise<void> {
  await rm(join(checkout, path), { recursive: true, force: true });
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    const isEmpty = await rmdir(join(checkout, folder)).then(
      () => true,
      () => false,
    );
    if (!isEmpty) return;
  }
}

/**
 * Removes links of a fresh checkout that lead out of it. Their targets are not part of the commit, and the author of a
 * link could write them. Unchanged links of the base are the project's own and stay.
 */
export async function removeEscapingLinks(
  checkout: string,
  changes: readonly TreeChange[],
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { path, mode } of changes) {
    if (mode !== LINK_MODE || !leadsOut(checkout, path)) continue;
    await rm(join(checkout, path), { force: true });
    removed.push(path);
  }
  return removed;
}

const LINK_MODE = "120000";

function leadsOut(checkout: string, path: string): boolean {
  // Where links are not supported, git writes a file with the link's text.
  return linkAt(join(checkout, path)) !== null && pathInside(checkout, path) === null;
}

/** Whether a write to this path stays inside the checkout, even if a folder on the path is a link. */
export const staysInside = (checkout: string, path: string): boolean => pathInside(checkout, path) !== null;

/**
 * Resolves a path in a checkout through all links; `null` if it leaves the checkout, even if it comes back. A path that
 * does not exist resolves to itself.
 */
export function pathInside(checkout: string, path: string): string | null {
  let links = 0;
  let at: string[] = [];
  const ahead = path.split(sep);
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (at.length === 0) return null;
      at.pop();
      continue;
    }
    const target = linkAt(join(checkout, ...at, part));
    if (target === null) at.push(part);
    else if (++links > MOST_LINKS) return null;
    else if (!isAbsolute(target)) ahead.unshift(...target.split(sep));
    else if (isBelow(checkout, target)) {
      at = [];
      ahead.unshift(...target.slice(checkout.length).split(sep));
    } else return null;
  }
  return at.join(sep);
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    // Not a link, or missing.
    return null;
  }
}

/** The number of links that the system follows. */
const MOST_LINKS = 40;

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}${sep}`);

const pathsIn = (listed: string): readonly string[] => listed.split("\0").filter((each) => each !== "");

/** Returns the tracked files that differ from what was checked out. */
export async function writtenSince(git: Git): Promise<readonly string[]> {
  // Refresh the index first. The command fails if a file differs, which is no error here.
  await git.ask(["update-index", "-q", "--refresh"]);
  return pathsIn(await git.run(["diff-files", "--name-only", "-z"]));
}

/**
 * Returns the changed files of a mounted checkout: only files in `upper` can differ. Compares content, so that a file
 * with its old time restored is found too.
 */
export async function writtenAbove(git: Git, upper: string, checkout: string): Promise<readonly string[]> {
  const known = new Map<string, string>();
  for (const entry of pathsIn(await git.run(["ls-files", "--stage", "-z"]))) {
    const [, mode, id, path] = /^(\d+) ([0-9a-f]+) 0\t([^]*)$/.exec(entry) ?? [];
    if (path !== undefined && mode !== "160000") known.set(path, `${mode} ${id}`);
  }
  const changed: string[] = [];
  const files: string[] = [];
  for (const path of await filesBelow(upper)) {
    const entry = known.get(path);
    if (entry === undefined) continue;
    const stats = await lstat(join(checkout, path)).catch(() => null);
    const isExpected = entry.startsWith("120000") ? stats?.isSymbolicLink() : stats?.isFile();
    if (isExpected !== true) changed.push(path);
    else if (stats!.isFile()) files.push(path);
  }
  if (files.length === 0) return changed;
  const ids = (await git.run(["hash-object", "--stdin-paths"], { stdin: `${files.join("\n")}\n` })).trim().split("\n");
  return [...changed, ...files.filter((path, at) => known.get(path)!.split(" ")[1] !== ids[at])];
}

async function filesBelow(upper: string): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of await readdir(join(upper, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (path === ".git") continue;
      if (entry.isDirectory()) folders.push(path);
      else found.push(path);
    }
  return found;
}
