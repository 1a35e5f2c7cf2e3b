import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "../git.ts";

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
