import { copyFile, lstat, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import { treeId, type TreeId } from "../../core/events/ids.ts";
import type { Git } from "./git.ts";
import { line } from "./repository.ts";
import { submodulePaths } from "./submodules.ts";

/**
 * An index that is ours: it remembers what the files looked like at the last look, so that the next one reads only
 * what changed. It is not the checkout's, because that one is the user's, or in the reach of an agent, who could mark
 * files in it as never to be looked at.
 */
export interface PrivateIndex {
  /** Starts from an index that no agent could have changed yet, unless there is a private index already. */
  seed(from: string): Promise<void>;
  /** Works on a copy that becomes the index when the work has succeeded: a crash half-way leaves the old one. */
  use<T>(work: (index: string) => Promise<T>): Promise<T>;
  copyTo(file: string): Promise<void>;
  drop(): Promise<void>;
  /** Removes the copies of a process that was killed while it worked on them. */
  dropCopies(): Promise<void>;
}

let uses = 0;
const COPY = /^\.copy-\d+-\d+(\.lock)?$/;

/** How each index looked when we last wrote it. It lies where an agent can reach it, too. */
const written = new Map<string, string>();
/** Copies of indexes that another process has written since. */
const doubtful = new Set<string>();

export function createPrivateIndex(file: string): PrivateIndex {
  return {
    async seed(from) {
      if ((await timesOf(file)) !== null) return;
      await copyIndex(from, file);
      written.set(file, await stampOf(file));
    },
    async use(work) {
      const copy = `${file}.copy-${process.pid}-${++uses}`;
      const known = written.get(file);
      if (known !== undefined && known !== (await stampOf(file))) doubtful.add(copy);
      await copyIndex(file, copy);
      try {
        const result = await work(copy);
        await rename(copy, file);
        written.set(file, await stampOf(file));
        return result;
      } finally {
        doubtful.delete(copy);
        await Promise.all([rm(copy, { force: true }), rm(`${copy}.lock`, { force: true })]);
      }
    },
    async copyTo(target) {
      await copyIndex(file, `${target}.remand`);
      await rename(`${target}.remand`, target);
    },
    drop: () => rm(file, { force: true }),
    async dropCopies() {
      const folder = dirname(file);
      const names = await readdir(folder).catch(() => []);
      const copies = names.filter(
        (name) => name.startsWith(`${basename(file)}.`) && COPY.test(name.slice(basename(file).length)),
      );
      await Promise.all(copies.map((name) => rm(join(folder, name), { force: true })));
    },
  };
}

/**
 * The tree of the files as they are now: tracked and new ones, ignored ones not. A pipe, a socket or a device in the
 * place of a file counts as a deleted file. A repository inside is an error, or with `"link"` a mere link to it, as git
 * itself keeps it.
 */
export async function treeOfFiles(
  git: Git,
  top: string,
  index: string,
  nested: "refuse" | "link" = "refuse",
): Promise<TreeId> {
  if (doubtful.has(index)) await lookAtAll(git, top, index);
  const drop = (paths: readonly string[]): Promise<string> =>
    git.run(["update-index", "--force-remove", "-z", "--stdin"], { cwd: top, index, stdin: paths.join("\0") });
  const links = new Set<string>();
  for (let last = ""; ;) {
    // A configuration may say that the files are elsewhere: it is these that are worked on, and judged.
    const { exitCode, stderr } = await git.ask([`--work-tree=${top}`, "add", "--all"], { cwd: top, index });
    const found = [...stderr.matchAll(NESTED)].map(([, withCommit, without]) => (withCommit ?? without)!);
    const known = found.length === 0 ? [] : await submodulePaths(git, top);
    for (const folder of found.filter((each) => !known.includes(each))) {
      if (nested === "refuse") throw new NestedRepository(top, folder);
      links.add(folder);
    }
    if (exitCode === 0) break;
    // Git stops at the first of each: with that one out of its way it gets further.
    const special = SPECIAL.exec(stderr)?.[1];
    const isStuck = stderr === last || (special === undefined && links.size === 0);
    if (isStuck) throw unreadable(top, stderr);
    if (special === undefined) await addLinks(git, top, index, [...links]);
    else await drop([special]);
    last = stderr;
  }
  const tree = treeId(line(await git.run(["write-tree"], { cwd: top, index })));
  // A link that stays would hide the files from the next look, when the repository is one no more.
  if (links.size > 0) await drop([...links]);
  return tree;
}

const NESTED = /adding embedded git repository: (.*)|'(.*?)\/?' does not have a commit checked out/g;
const SPECIAL = /^error: (.*): can only add regular files, symbolic links or git-directories$/m;

/** A repository without a commit has nothing to link to: the link names an empty tree. */
async function addLinks(git: Git, top: string, index: string, folders: readonly string[]): Promise<void> {
  const empty = line(await git.run(["hash-object", "-t", "tree", "--stdin"], { stdin: "" }));
  const stdin = folders.map((folder) => `160000 ${empty}\t${folder}\0`).join("");
  await git.run(["update-index", "-z", "--index-info"], { cwd: top, index, stdin });
}

function unreadable(top: string, stderr: string): RemandError {
  return new RemandError(
    "workspace-broken",
    `git cannot read the files of ${top}: ${stderr.trim()}`,
    "Fix or remove the file it names, and run the same command again.",
  );
}

/** Takes away the marks by which files are never looked at. A file that is not there may be one that is not checked out. */
async function lookAtAll(git: Git, top: string, index: string): Promise<void> {
  const listed = (await git.run(["ls-files", "-v", "-z"], { cwd: top, index })).split("\0");
  const marked = listed.filter((entry) => /^[a-zS] /.test(entry)).map((entry) => entry.slice(2));
  const there: string[] = [];
  for (const path of marked) if ((await lstat(join(top, path)).catch(() => null)) !== null) there.push(`${path}\0`);
  if (there.length === 0) return;
  // One mark in a call: git takes only the last that it is given.
  for (const mark of ["--no-assume-unchanged", "--no-skip-worktree"])
    await git.run(["update-index", mark, "-z", "--stdin"], { cwd: top, index, stdin: there.join("") });
}

/** Git keeps such a folder as a mere number: what is in it would be lost with the worktree. */
export class NestedRepository extends RemandError {
  readonly folder: string;

  constructor(top: string, folder: string) {
    super(
      "workspace-broken",
      `${top} holds a git repository of its own: ${folder}`,
      `Remove ${folder}/.git, so that its files are kept with the rest, or add the folder to .gitignore.`,
    );
    this.folder = folder;
  }
}

/**
 * Git takes a file for unchanged when its time is older than the index's. A copy would look newer than it is, and a
 * change made in the same instant would be missed, so the copy is given a time a microsecond before the original's.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const times = await timesOf(from);
  await mkdir(dirname(to), { recursive: true });
  // A repository without commits has no index yet; git begins with an empty one by itself.
  if (times === null) return;
  await copyFile(from, to);
  const seconds = Number(times.mtimeNs / 1000n - 1n) / 1e6;
  await utimes(to, seconds, seconds);
}

/** Includes the inode's change time (ctime), which no program can set. */
async function stampOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => null);
  return found === null ? "" : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}

async function timesOf(file: string): Promise<{ mtimeNs: bigint } | null> {
  try {
    return await stat(file, { bigint: true });
  } catch {
    return null;
  }
}
