import { copyFile, lstat, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import { treeId, type TreeId } from "../../core/events/ids.ts";
import type { Git } from "./git.ts";
import { trimLine } from "./repository.ts";
import { submodulePaths } from "./submodules.ts";

/**
 * An index of Remand's own. It remembers the files' state from the last scan, so that the next scan reads only what
 * changed. The checkout's index is not used: it belongs to the user, or an agent could mark files in it to be skipped.
 */
export interface PrivateIndex {
  /** Starts from an index that no agent could have changed yet, unless the private index exists. */
  seed(from: string): Promise<void>;
  /** Works on a copy that replaces the index when the work succeeds, so that a crash leaves the old one. */
  use<T>(work: (index: string) => Promise<T>): Promise<T>;
  copyTo(file: string): Promise<void>;
  drop(): Promise<void>;
  /** Removes copies that a killed process left. */
  dropCopies(): Promise<void>;
}

let uses = 0;
const COPY = /^\.copy-\d+-\d+(\.lock)?$/;

/** The stamp of each index when this process last wrote it, because agents can write these files too. */
const written = new Map<string, string>();
/** Copies of indexes that another process wrote since. */
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
 * Returns the tree of the current files: tracked and new ones, without ignored ones. A pipe, a socket or a device in
 * place of a file counts as a deleted file. A nested repository is an error, or with `"link"` a link to it, as in git
 * itself.
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
    // The configuration may name another work tree, but these are the files that are worked on and checked.
    const { exitCode, stderr } = await git.ask([`--work-tree=${top}`, "add", "--all"], { cwd: top, index });
    const found = [...stderr.matchAll(NESTED)].map(([, withCommit, without]) => (withCommit ?? without)!);
    const known = found.length === 0 ? [] : await submodulePaths(git, top);
    for (const folder of found.filter((each) => !known.includes(each))) {
      if (nested === "refuse") throw new NestedRepository(top, folder);
      links.add(folder);
    }
    if (exitCode === 0) break;
    // Git stops at the first special file or nested repository: drop or link it and try again.
    const special = SPECIAL.exec(stderr)?.[1];
    const isStuck = stderr === last || (special === undefined && links.size === 0);
    if (isStuck) throw unreadable(top, stderr);
    if (special === undefined) await addLinks(git, top, index, [...links]);
    else await drop([special]);
    last = stderr;
  }
  const tree = treeId(trimLine(await git.run(["write-tree"], { cwd: top, index })));
  // A link that stays would hide the folder's files from the next scan after the nested repository is removed.
  if (links.size > 0) await drop([...links]);
  return tree;
}

const NESTED = /adding embedded git repository: (.*)|'(.*?)\/?' does not have a commit checked out/g;
const SPECIAL = /^error: (.*): can only add regular files, symbolic links or git-directories$/m;

/**
 * Adds links for nested repositories. They name an empty tree, because a repository without a commit has no commit to
 * name.
 */
async function addLinks(git: Git, top: string, index: string, folders: readonly string[]): Promise<void> {
  const empty = trimLine(await git.run(["hash-object", "-t", "tree", "--stdin"], { stdin: "" }));
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

/**
 * Removes the marks that make git skip files. Skips paths that do not exist: they may be files that are not checked
 * out.
 */
async function lookAtAll(git: Git, top: string, index: string): Promise<void> {
  const listed = (await git.run(["ls-files", "-v", "-z"], { cwd: top, index })).split("\0");
  const marked = listed.filter((entry) => /^[a-zS] /.test(entry)).map((entry) => entry.slice(2));
  const there: string[] = [];
  for (const path of marked) if ((await lstat(join(top, path)).catch(() => null)) !== null) there.push(`${path}\0`);
  if (there.length === 0) return;
  // One mark per call: git uses only the last one it is given.
  for (const mark of ["--no-assume-unchanged", "--no-skip-worktree"])
    await git.run(["update-index", mark, "-z", "--stdin"], { cwd: top, index, stdin: there.join("") });
}

/**
 * Thrown for a nested repository. Git stores such a folder as a mere commit id, so its files would be lost with the
 * worktree.
 */
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
 * Copies an index. Git takes a file for unchanged if it is older than the index. With its own newer time, a copy would
 * hide a change made at the same instant, so it gets a time one microsecond before the original's.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const times = await timesOf(from);
  await mkdir(dirname(to), { recursive: true });
  // A repository without commits has no index yet; git starts with an empty one.
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
