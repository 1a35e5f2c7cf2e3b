import { mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { RemandError } from "../../core/events/error.ts";
import type { Environment } from "../process/environment.ts";
import { type Git, createGit, gitFailure } from "./git.ts";

/** A checkout and its repository. */
export interface Repository {
  readonly git: Git;
  /** Returns git for calls that must not outlive this process: the next process ends them by their cookie. */
  gitFor(cookie: string): Git;
  /** Returns git for a repository of Remand in another folder. It ignores the settings of the user and the machine. */
  gitIn(folder: string): Git;
  /** The checkout's top folder. */
  readonly top: string;
  /** The path from the top to the folder in which Remand was started; empty if they are the same. */
  readonly prefix: string;
  /** Git's folder for this checkout (its index). */
  readonly gitDir: string;
  /** Git's folder that all checkouts share (branches). */
  readonly commonDir: string;
  /** The environment of git calls. */
  readonly env: Environment;
  /** Notices for a person that came up while opening the repository. */
  readonly notices: readonly string[];
}

/** Returns a function that opens the repository once, at the first call. A failed open is tried again. */
export function repositoryOpener(root: string, environment?: Environment): () => Promise<Repository> {
  let opened: Promise<Repository> | null = null;
  return () =>
    (opened ??= openRepository(root, environment ?? ownEnvironment()).catch((error: unknown) => {
      opened = null;
      throw error;
    }));
}

export function ownEnvironment(): Environment {
  const set = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(set);
}

/** Repositories opened by this process, by folder, environment and the content of the settings files. */
const opened = new Map<string, Promise<Repository>>();
const MOST_OPENED = 20;

/**
 * Opens a repository, or returns the cached one. Many parts of the program open the same repository; git is called
 * again only after a setting changed.
 */
async function openRepository(root: string, environment: Environment): Promise<Repository> {
  const settings = await settingsFiles(root, environment);
  if (settings === null) return askForRepository(root, environment);
  const key = JSON.stringify([root, environment, settings]);
  const before = opened.get(key);
  if (before !== undefined) return before;
  if (opened.size >= MOST_OPENED) opened.clear();
  const asked = askForRepository(root, environment);
  opened.set(key, asked);
  asked.catch(() => opened.delete(key));
  return asked;
}

/**
 * Returns the content of the files from which git reads its settings. `null` if they include other files, or outside of
 * a repository.
 */
async function settingsFiles(root: string, env: Environment): Promise<readonly string[] | null> {
  const folder = await findGitFolder(root);
  if (folder === null) return null;
  const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
  const shared = resolve(folder.path, (await textOf(join(folder.path, "commondir"))).trim());
  const home = env["HOME"] || homedir();
  const texts = await Promise.all(
    [
      join(shared, "config"),
      join(folder.path, "config.worktree"),
      env["GIT_CONFIG_GLOBAL"] ?? join(home, ".gitconfig"),
      join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "config"),
      env["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig",
    ].map(textOf),
  );
  return texts.some((text) => /^\s*\[include/im.test(text)) ? null : [folder.path, ...texts];
}

async function askForRepository(root: string, environment: Environment): Promise<Repository> {
  const plain = createGit(root, environment);
  const [{ top, gitDir, commonDir }, { settings, notices }] = await Promise.all([
    foldersOf(plain, root),
    settingsFor(plain),
  ]);
  return {
    git: createGit(top, environment, settings),
    gitFor: (cookie) => createGit(top, environment, settings, cookie),
    gitIn: (folder) =>
      createGit(folder, { ...environment, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" }, settings),
    top,
    prefix: relative(top, await realpath(root)),
    gitDir,
    commonDir,
    env: environment,
    notices,
  };
}

/** Returns the commit of a name, or `null`. */
export async function commitOf(git: Git, name: string): Promise<string | null> {
  const { exitCode, stdout } = await git.ask([
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${name}^{commit}`,
  ]);
  return exitCode === 0 ? trimLine(stdout) : null;
}

/** Returns the ids of objects by names such as `main^{tree}`, in one git call; `null` for an unknown name. */
export async function objectsNamed(git: Git, names: readonly string[]): Promise<readonly (string | null)[]> {
  // Git reads one name per line, so a name with a line break cannot exist.
  const stdin = names.map((name) => `${name.includes("\n") ? "" : name}\n`).join("");
  const found = (await git.run(["cat-file", "--batch-check=%(objectname)"], { stdin })).split("\n");
  return names.map((_, at) => (/^[0-9a-f]{40,64}$/.test(found[at] ?? "") ? found[at]! : null));
}

export const trimLine = (text: string): string => text.replace(/\n$/, "");

async function foldersOf(git: Git, root: string): Promise<Pick<Repository, "top" | "gitDir" | "commonDir">> {
  const names = ["--show-toplevel", "--git-dir", "--git-common-dir"];
  const { exitCode, stdout, stderr } = await git.ask(["rev-parse", ...names]);
  if (exitCode === 0 && !stdout.startsWith("\n")) {
    const lines = trimLine(stdout).split("\n");
    // A folder's name may contain a line break; then read each value in a call of its own.
    const each = lines.length === 3 ? lines : await Promise.all(names.map((name) => git.run(["rev-parse", name])));
    const [top = "", gitDir = "", commonDir = ""] = each.map((text) => trimLine(text));
    return { top, gitDir: resolve(root, gitDir), commonDir: resolve(root, commonDir) };
  }
  if (/not a git repository/.test(stderr)) {
    throw new RemandError(
      "not-a-repository",
      `${root} is not in a git repository`,
      "Run git init there, or give -C a checkout.",
    );
  }
  if (/must be run in a work tree/.test(stderr)) {
    throw new RemandError(
      "not-a-repository",
      `${root} is a repository without files`,
      "Give -C a checkout of it (git worktree add, or git clone).",
    );
  }
  throw gitFailure(`git cannot use ${root}`, stderr);
}

/**
 * Returns settings for a user without an identity, and for a machine without git-lfs: large files then stay pointers.
 */
async function settingsFor(git: Git): Promise<{ settings: readonly string[]; notices: readonly string[] }> {
  const { stdout } = await git.ask(["config", "--get-regexp", "^(user\\.(name|email)|filter\\.lfs\\.)"]);
  const has = (key: string): boolean => new RegExp(`^${key.replaceAll(".", "\\.")}`, "m").test(stdout);
  const settings: string[] = [];
  if (!has("user.name")) settings.push("user.name=Remand");
  if (!has("user.email")) settings.push("user.email=remand@localhost");
  if (!has("filter.lfs.") || (await git.ask(["lfs", "version"])).exitCode === 0) return { settings, notices: [] };
  settings.push("filter.lfs.smudge=", "filter.lfs.clean=", "filter.lfs.process=", "filter.lfs.required=false");
  return { settings, notices: ["git-lfs is not installed: large files stay pointers in the worktrees"] };
}

/** Returns a unique name that begins with this process's id. */
export const processUniqueName = (): string => `${process.pid}-${randomBytes(4).toString("hex")}`;

export function isAlivePid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Creates Remand's state folder, with a `.gitignore` for itself. */
export async function ensureStateFolder(state: string): Promise<void> {
  const rules = join(state, ".gitignore");
  if (existsSync(rules)) return;
  await mkdir(state, { recursive: true });
  await writeFile(rules, "*\n");
}

/** Returns the folder for a person's state that belongs to no checkout. */
export function userStateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const named = env["XDG_STATE_HOME"] ?? "";
  const home = env["HOME"] || env["USERPROFILE"] || homedir();
  return join(isAbsolute(named) ? named : join(home, ".local", "state"), "remand");
}

/** Returns the author name that git uses in the folder; `null` if there is none, or no git. */
export async function userName(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  try {
    const { stdout } = await createGit(folder, Object.fromEntries(set)).ask(["config", "--get", "user.name"]);
    return stdout.trim() || null;
  } catch (error) {
    if (error instanceof RemandError && error.code === "git-missing") return null;
    throw error;
  }
}

/** Returns a remote's address; `null` if there is no remote of that name. */
export async function remoteAddress(root: string, remote: string): Promise<string | null> {
  const { git } = await repositoryOpener(root)();
  const { exitCode, stdout } = await git.ask(["remote", "get-url", "--", remote]);
  return exitCode === 0 ? trimLine(stdout) : null;
}

/** Git's folder of one checkout: `.git`, or a separate folder if several checkouts share a repository. */
export interface GitFolder {
  readonly path: string;
  /** The path from the checkout's top to the given folder; empty: the top itself. */
  readonly below: string;
}

/**
 * Finds git's folder by reading files, without starting git, because read-only commands need it too. `null` outside of
 * a repository.
 */
export async function findGitFolder(root: string): Promise<GitFolder | null> {
  for (let top = resolve(root); ; top = dirname(top)) {
    const entry = join(top, ".git");
    const found = await stat(entry).catch(() => null);
    const below = relative(top, resolve(root));
    if (found?.isDirectory() === true) return { path: entry, below };
    if (found?.isFile() === true) {
      const [, folder] = /^gitdir:\s*(.+?)\s*$/m.exec(await readFile(entry, "utf8")) ?? [];
      if (folder !== undefined) return { path: resolve(top, folder), below };
    }
    if (dirname(top) === top) return null;
  }
}
