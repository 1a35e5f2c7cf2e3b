import { existsSync } from "node:fs";
import { readlink, realpath, rm } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import type { Git } from "./git.ts";

/**
 * Removes the links of a fresh checkout that lead out of it: what is behind them is no part of the commit, and could be
 * written by the author of the link. Those that the base has too, unchanged, are the project's own and stay.
 */
export async function removeEscapingLinks(git: Git, checkout: string, base: string | null): Promise<readonly string[]> {
  const links = linksIn(await git.run(["ls-files", "--stage", "-z"], { cwd: checkout }), /^120000 (\S+) 0\t([^]*)$/);
  if (links.size === 0) return [];
  const args = ["ls-tree", "-r", "-z", "--full-tree", base ?? "", "--", ...links.keys()];
  const before =
    base === null ? new Map() : linksIn(await git.run(args, { cwd: checkout }), /^120000 blob (\S+)\t([^]*)$/);
  const removed: string[] = [];
  for (const [path, blob] of links) {
    if (before.get(path) === blob || !(await leadsOut(checkout, path))) continue;
    await rm(join(checkout, path), { force: true });
    removed.push(path);
  }
  return removed;
}

function linksIn(listed: string, pattern: RegExp): ReadonlyMap<string, string> {
  const found = listed.split("\0").map((entry) => pattern.exec(entry));
  return new Map(found.flatMap((match) => (match === null ? [] : [[match[2]!, match[1]!]])));
}

async function leadsOut(checkout: string, path: string): Promise<boolean> {
  const link = join(checkout, path);
  const text = await readlink(link).catch(() => null);
  // Where links cannot be made, git writes a file with the link's text.
  if (text === null) return false;
  if (!isBelow(checkout, resolve(dirname(link), text))) return true;
  const real = await realpath(link).catch(() => null);
  return real !== null && !isBelow(await realpath(checkout), real);
}

/** Does writing to this path of a checkout stay inside of it? A folder on the way may be a link. */
export async function staysInside(checkout: string, path: string): Promise<boolean> {
  let there = join(checkout, path);
  while (!existsSync(there) && there !== dirname(there)) there = dirname(there);
  return isBelow(await realpath(checkout), await realpath(there));
}

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}${sep}`);
