import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { type TreeId, treeId } from "../../../core/events/ids.ts";
import { type ChangedPath, readNameStatus } from "../../../parse/code/git-output.ts";
import { type Git, gitFailure } from "../git.ts";
import { trimLine } from "../repository.ts";

/**
 * Restores an earlier tree over the current files (`from`) and updates the index. Touches only files that differ. A
 * file that only `from` has is removed, unless the restored tree ignores it: an agent that un-ignores a folder must not
 * cost the user that folder.
 */
export async function restoreTree(
  git: Git,
  options: {
    readonly top: string;
    readonly index: string;
    readonly from: TreeId;
    readonly to: TreeId;
    /** Whether an untracked file at a path of the earlier tree may be overwritten. */
    readonly overwrite: boolean;
  },
): Promise<void> {
  const { top, index, to } = options;
  let from: string = options.from;
  if (from === to) return;
  const changed = readNameStatus(await git.run(["diff-tree", "-r", "-z", "--name-status", "--no-renames", from, to]));
  if (!options.overwrite) await refuseToOverwrite(top, changed);
  const isAboutIgnoring = changed.some(({ path }) => basename(path) === ".gitignore");
  const doubtful = isAboutIgnoring ? removedAlone(changed) : [];
  if (doubtful.length > 0) {
    const lines = doubtful.map((path) => `0 ${"0".repeat(from.length)}\t${path}\0`);
    await git.run(["update-index", "-z", "--index-info"], { cwd: top, index, stdin: lines.join("") });
    from = trimLine(await git.run(["write-tree"], { cwd: top, index }));
  }
  const how = options.overwrite ? ["--reset", "-u", to] : ["-m", "-u", from, to];
  const { exitCode, stderr } = await git.ask(["read-tree", ...how], { cwd: top, index, timeoutMs: 600_000 });
  if (exitCode !== 0) throw cannotGoBack(top, stderr.trim().split("\n").slice(-5).join("\n  "));
  if (doubtful.length > 0) await removeUnlessIgnored(git, top, doubtful);
}

/** Returns the deleted paths, except those that make room for a file that becomes a folder or the reverse. */
function removedAlone(changed: readonly ChangedPath[]): readonly string[] {
  const arriving = changed.filter(({ status }) => status !== "deleted").map(({ path }) => path);
  const files = new Set(arriving);
  const folders = new Set(arriving.flatMap(foldersOf));
  return changed
    .filter(({ status }) => status === "deleted")
    .map(({ path }) => path)
    .filter((path) => !folders.has(path) && !foldersOf(path).some((folder) => files.has(folder)));
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, last) => parts.slice(0, last + 1).join("/"));
}

async function removeUnlessIgnored(git: Git, top: string, paths: readonly string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await git.ask(["check-ignore", "--no-index", "-z", "--stdin"], {
    cwd: top,
    stdin: paths.map((path) => `${path}\0`).join(""),
  });
  if (exitCode > 1) throw gitFailure("git check-ignore failed", stderr);
  const ignored = new Set(stdout.split("\0"));
  const emptied = new Set<string>();
  for (const path of paths) {
    if (ignored.has(path)) continue;
    await rm(join(top, path), { force: true });
    for (const folder of foldersOf(path)) emptied.add(folder);
  }
  // Deepest first, so that subfolders go before their parents. A folder that is not empty stays.
  for (const folder of [...emptied].sort((a, b) => b.length - a.length)) await rmdir(join(top, folder)).catch(() => {});
}

/**
 * Stops before any change if an ignored file would be overwritten. Git treats ignored files as worthless, but they may
 * be a user's only copy.
 */
async function refuseToOverwrite(top: string, changed: readonly ChangedPath[]): Promise<void> {
  const known = new Set(changed.filter(({ status }) => status === "deleted").map(({ path }) => path));
  for (const { status, path } of changed) {
    if (status !== "added") continue;
    for (const part of [...foldersOf(path), path]) {
      const found = await lstat(join(top, part)).catch(() => null);
      if (found === null) break;
      if (found.isDirectory() && part !== path) continue;
      const inside = found.isDirectory() ? await filesBelow(top, part) : [part];
      const strange = inside.find((file) => !known.has(file));
      if (strange !== undefined) throw cannotGoBack(top, `${strange} is ignored by git, and would be overwritten`);
    }
  }
}

async function filesBelow(top: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(top, folder), { withFileTypes: true });
  const found = entries.map(async (entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? await filesBelow(top, path) : [path];
  });
  return (await Promise.all(found)).flat();
}

function cannotGoBack(top: string, why: string): RemandError {
  return new RemandError(
    "workspace-broken",
    `the files of ${top} cannot go back to an earlier state: ${why}`,
    "Nothing was changed. Move the blocking files away, and run the same command again.",
  );
}

/** Returns the tree of an index, with some paths as in another tree. Paths that the other tree lacks are removed. */
export async function treeWithOlder(
  git: Git,
  options: { readonly top: string; readonly index: string; readonly paths: readonly string[]; readonly from: string },
): Promise<TreeId> {
  const { top, index, paths, from } = options;
  const tree = trimLine(await git.run(["rev-parse", "--verify", "--end-of-options", `${from}^{tree}`], { cwd: top }));
  const older = new Map<string, string>();
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const some = paths.slice(at, at + AT_ONCE);
    const listed = await git.run(["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", tree, "--", ...some], {
      cwd: top,
    });
    for (const entry of listed.split("\0")) {
      const [about = "", path = ""] = split(entry, "\t");
      const [mode, , object] = about.split(" ");
      if (path !== "") older.set(path, `${mode} ${object}\t${path}\0`);
    }
  }
  const none = "0".repeat(tree.length);
  const gone = paths.filter((path) => !older.has(path)).map((path) => `0 ${none}\t${path}\0`);
  const back = paths.flatMap((path) => older.get(path) ?? []);
  // Deletions first: a file may be a folder in the other tree.
  await git.run(["update-index", "-z", "--index-info"], { cwd: top, index, stdin: [...gone, ...back].join("") });
  return treeId(trimLine(await git.run(["write-tree"], { cwd: top, index })));
}

const AT_ONCE = 500;

function split(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
