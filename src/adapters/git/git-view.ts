import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { type HiddenFiles, blobsOf, pathFromTop } from "./hidden-files.ts";
import { removeFolder } from "./remove-folder.ts";
import { type Repository, commitOf, processUniqueName } from "./repository.ts";

/** A folder that programs see at another path. */
export interface ShownFolder {
  readonly path: string;
  readonly from: string;
}

export interface GitViewOptions {
  readonly repository: Repository;
  readonly hidden: readonly HiddenFiles[];
  /** Where views are kept for later programs. */
  readonly folder: string;
  /**
   * `recent`: the newest commits with their files, back to the one that removed the hidden files. `commits`: also the
   * tags and all earlier commits, without their files, for tools that ask git for a version.
   */
  readonly history: "recent" | "commits";
}

/**
 * Returns what a program in a checkout sees of git while files are hidden: a history without these files, and no other
 * objects. The checkout's `.git` may be a folder, or a file that leads to the repository.
 */
export async function viewGit(top: string, options: GitViewOptions): Promise<readonly ShownFolder[]> {
  const { repository, folder } = options;
  const { commonDir } = repository;
  const place = await gitPlaceOf(top, commonDir);
  const nothing = join(folder, "nothing");
  await mkdir(nothing, { recursive: true, mode: 0o700 });
  if (place === null) return [{ path: commonDir, from: nothing }];
  const head = await readFile(join(place.own, "HEAD"), "utf8");
  const ref = /^ref: (\S+)$/m.exec(head)?.[1] ?? null;
  const commit = await commitOf(repository.git, ref ?? head.trim());
  const made = await keptView(options, { ...place, top, head, ref, commit });
  const shown = { path: place.shared, from: made };
  return place.shared === commonDir ? [shown] : [{ path: commonDir, from: nothing }, shown];
}

interface GitPlace {
  /** The git folder of this checkout. */
  readonly own: string;
  /** The folder with the objects: the same folder, or the repository's. */
  readonly shared: string;
}

async function gitPlaceOf(top: string, commonDir: string): Promise<GitPlace | null> {
  const entry = join(top, ".git");
  const found = await stat(entry).catch(() => null);
  if (found === null) return null;
  if (found.isDirectory()) return { own: entry, shared: entry };
  const [, named] = /^gitdir:\s*(.+?)\s*$/m.exec(await readFile(entry, "utf8")) ?? [];
  // Agents can write this file, so accept only worktrees of this repository.
  const own = resolve(top, named ?? "");
  return dirname(own) === join(commonDir, "worktrees") && existsSync(own) ? { own, shared: commonDir } : null;
}

interface WantedView extends GitPlace {
  readonly top: string;
  readonly head: string;
  readonly ref: string | null;
  readonly commit: string | null;
}

async function keptView(options: GitViewOptions, wanted: WantedView): Promise<string> {
  const { folder, hidden, history, repository } = options;
  const config = await readFile(join(wanted.shared, "config"), "utf8");
  const tags = history === "recent" ? "" : await repository.git.run(["for-each-ref", "refs/tags", "refs/heads"]);
  const about = [wanted.top, wanted.own, wanted.head, wanted.commit, history, config, tags, hidden];
  const made = join(folder, sha256(JSON.stringify(about)).slice(0, 32));
  if (existsSync(made)) return made;
  await dropOldViews(folder);
  const aside = `${made}.${processUniqueName()}`;
  try {
    await makeView(aside, options, { ...wanted, config });
    await rename(aside, made).catch((error: unknown) => {
      // Another program of the same checkout made the view first.
      if (!existsSync(made)) throw error;
    });
    return made;
  } finally {
    await removeFolder(aside);
  }
}

async function dropOldViews(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name === "nothing") continue;
    const found = await stat(join(folder, name)).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > KEPT_MS) await removeFolder(join(folder, name));
  }
}

const KEPT_MS = 24 * 60 * 60 * 1000;

async function makeView(
  folder: string,
  { repository, hidden, history }: GitViewOptions,
  { own, shared, top, head, ref, commit, config }: WantedView & { readonly config: string },
): Promise<void> {
  const { git } = repository;
  for (const name of ["objects/pack", "objects/info", "refs/heads", "refs/tags", "info"])
    await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, "HEAD"), shared === own ? head : "ref: refs/heads/none\n");
  await writeFile(join(folder, "config"), config);
  await cp(join(shared, "info"), join(folder, "info"), { recursive: true }).catch(unlessMissing);
  const ownFolder = shared === own ? folder : join(folder, "worktrees", basename(own));
  if (shared !== own) {
    await mkdir(ownFolder, { recursive: true, mode: 0o700 });
    await writeFile(join(ownFolder, "HEAD"), head);
    await writeFile(join(ownFolder, "commondir"), "../..\n");
    await writeFile(join(ownFolder, "gitdir"), `${join(top, ".git")}\n`);
  }
  if (commit === null) return;
  await git.run(["read-tree", commit], { index: join(ownFolder, "index") });
  const commits = await commitsToShow(repository, hidden, commit);
  const objects = await objectsOf(repository, hidden, commits, commit);
  const older = history === "recent" ? [] : await olderCommits(repository, shared, commit);
  const stdin = [...new Set([...objects.ids, ...older])].map((id) => `${id}\n`).join("");
  await git.run(["pack-objects", "-q", "--window=0", join(folder, "objects/pack/pack")], { stdin, timeoutMs: 600_000 });
  const refs = await refsToShow(repository, new Set([...objects.commits, ...older]));
  const named = ref === null || refs.some((each) => each.endsWith(` ${ref}`)) ? refs : [...refs, `${commit} ${ref}`];
  await writeFile(join(folder, "packed-refs"), [...named, ""].join("\n"));
  if (history === "recent")
    await writeFile(join(folder, "shallow"), `${(await rootsOf(repository, objects.commits)).join("\n")}\n`);
  else await copyFile(join(shared, "shallow"), join(folder, "shallow")).catch(unlessMissing);
}

/** The maximum number of commits that are shown with their files. */
const MOST_COMMITS = 50;

/**
 * Returns the commits from the newest back to the last one that changed a hidden file. Earlier commits may contain
 * hidden files.
 */
async function commitsToShow(
  { git, prefix }: Repository,
  hidden: readonly HiddenFiles[],
  commit: string,
): Promise<readonly string[]> {
  const paths = hidden.flatMap((each) => each.paths.map((path) => pathFromTop(prefix, path)));
  const removed = await lines(
    git.run(["--literal-pathspecs", "rev-list", "-1", "--full-history", commit, "--", ...paths]),
  );
  const before = removed.flatMap((each) => ["--not", `${each}^@`]);
  return lines(git.run(["rev-list", `--max-count=${MOST_COMMITS}`, commit, ...before]));
}

interface ShownObjects {
  readonly commits: readonly string[];
  readonly ids: readonly string[];
}

/** Returns the objects of these commits, or of the newest commit only if a hidden file is among them. */
async function objectsOf(
  repository: Repository,
  hidden: readonly HiddenFiles[],
  commits: readonly string[],
  newest: string,
): Promise<ShownObjects> {
  const { git } = repository;
  const kept = new Set(await blobsOf(git, hidden));
  for (const some of [commits, [newest]]) {
    const stdin = some.map((each) => `${each}\n`).join("");
    const listed = await lines(git.run(["rev-list", "--objects", "--no-walk=unsorted", "--stdin"], { stdin }));
    const ids = listed.map((each) => each.split(" ", 1)[0]!);
    if (!ids.some((id) => kept.has(id))) return { commits: some, ids };
  }
  throw new RemandError(
    "workspace-broken",
    `the commit ${newest.slice(0, 12)} contains a hidden file`,
    "Remove it from the project: remand hide --commit <file>",
  );
}

/** Returns every commit of the branches and tags, and the annotated tags. */
async function olderCommits({ git }: Repository, shared: string, commit: string): Promise<readonly string[]> {
  const all = existsSync(join(shared, "shallow")) ? [] : ["--branches", "--tags"];
  const commits = await lines(git.run(["rev-list", commit, ...all]));
  const tags = await lines(git.run(["for-each-ref", "--format=%(objecttype) %(objectname)", "refs/tags"]));
  return [...commits, ...tags.flatMap((each) => /^tag (\S+)$/.exec(each)?.[1] ?? [])];
}

async function refsToShow({ git }: Repository, shown: ReadonlySet<string>): Promise<string[]> {
  const all = await lines(git.run(["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"]));
  return all.filter((each) => shown.has(each.split(" ", 1)[0]!) && !/ refs\/heads\/remand\//.test(each));
}

/** Returns the commits whose parents are not shown. */
async function rootsOf({ git }: Repository, commits: readonly string[]): Promise<readonly string[]> {
  const shown = new Set(commits);
  const stdin = commits.map((each) => `${each}\n`).join("");
  const listed = await lines(git.run(["rev-list", "--no-walk=unsorted", "--parents", "--stdin"], { stdin }));
  return listed
    .map((each) => each.split(" "))
    .filter(([, ...parents]) => parents.some((parent) => !shown.has(parent)))
    .map(([commit]) => commit!);
}

async function lines(text: Promise<string>): Promise<readonly string[]> {
  return (await text).split("\n").filter((each) => each !== "");
}

function unlessMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
