import { lstat, readFile, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, sep } from "node:path";
import { readlinkSync } from "node:fs";
import type { Git } from "./git.ts";
import { type IndexEntry, entriesOf, idBytesOf, makeIndex, replaceEntries } from "./index-file.ts";

/** One path that differs between two trees, as the second one has it. */
export interface TreeChange {
  readonly path: string;
  /** `null`: the second tree does not have it. */
  readonly mode: string | null;
  readonly id: string;
}

/** What differs between two trees. The time it takes grows with that, and not with the trees. */
export async function treeChanges(git: Git, from: string, to: string): Promise<readonly TreeChange[]> {
  if (from === to) return [];
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", from, to];
  // Without this git reads the whole index, which it does not need.
  const parts = (await git.run(args, { index: NO_INDEX })).split("\0");
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, , mode, id, status] = /^:(\d+) (\d+) [0-9a-f]+ ([0-9a-f]+) (\w)/.exec(parts[at]!) ?? [];
    if (mode === undefined || id === undefined) throw new Error(`git diff-tree printed ${parts[at]}`);
    changes.push({ path: parts[at + 1]!, mode: status === "D" ? null : mode, id });
  }
  return changes;
}

/** A file that is not there: git takes it for an empty index. */
const NO_INDEX = "/nonexistent/index";

/** Makes the files and the index of a checkout those of the second tree. */
export async function applyChanges(own: Git, checkout: string, changes: readonly TreeChange[]): Promise<void> {
  if (changes.length === 0) return;
  const gone = changes.filter(({ mode }) => mode === null);
  const present = changes.filter(({ mode }) => mode !== null);
  await removeFiles(checkout, gone);
  // A file can stand where a folder was: what is gone goes first.
  const entries = [...gone, ...present].map(({ path, mode, id }) => `${mode ?? "0"} ${id}\t${path}\0`);
  await own.run(["update-index", "-z", "--index-info"], { stdin: entries.join("") });
  if (present.length === 0) return;
  const stdin = present.map(({ path }) => `${path}\0`).join("");
  await own.run(["checkout-index", "--force", "--index", "-z", "--stdin"], { stdin, timeoutMs: 600_000 });
}

/**
 * The same in a checkout that shows a pristine one. Git writes the files with an index of these alone, and what it
 * learns about them is put into a copy of the pristine index: git itself would read and write all of that twice.
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
  // Renamed, as git does it: to write into the file itself, the system would copy it first.
  const fresh = join(checkout, ".git", "index.lock");
  await writeFile(fresh, whole);
  await rename(fresh, join(checkout, ".git", "index"));
}

async function removeFiles(checkout: string, gone: readonly TreeChange[]): Promise<void> {
  for (const { path } of gone) await removeFile(checkout, path);
}

/** With the folders that it leaves empty, as git does. */
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
 * Removes the links of a fresh checkout that lead out of it: what is behind them is no part of the commit, and could be
 * written by the author of the link. Those that the base has too, unchanged, are the project's own and stay.
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
  // Where links cannot be made, git writes a file with the link's text.
  return linkAt(join(checkout, path)) !== null && pathInside(checkout, path) === null;
}

/** Does writing to this path of a checkout stay inside of it? A folder on the way may be a link. */
export const staysInside = (checkout: string, path: string): boolean => pathInside(checkout, path) !== null;

/**
 * The path in a checkout that another one leads to, over all links on the way; `null` if it leaves the checkout, even
 * if only to come back. What does not exist leads to itself.
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
    // Not a link, or not there.
    return null;
  }
}

/** As many as the system follows. */
const MOST_LINKS = 40;

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}${sep}`);

const pathsIn = (listed: string): readonly string[] => listed.split("\0").filter((each) => each !== "");

/** Files that git knows and that are not as they were checked out. */
export async function writtenSince(git: Git): Promise<readonly string[]> {
  // Times that differ are looked up; a file that is different makes the command fail, which is no error here.
  await git.ask(["update-index", "-q", "--refresh"]);
  return pathsIn(await git.run(["diff-files", "--name-only", "-z"]));
}

/**
 * The same where files are shown by a mount: only what lies in `upper` can be different. It is compared by content, so
 * that a file with its old time put back is found too.
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
