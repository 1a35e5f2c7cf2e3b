import { readdir, readFile } from "node:fs/promises";
import { existsSync, type Dirent } from "node:fs";
import { isAbsolute, join } from "node:path";
import { RemandError } from "../../domain/error.ts";
import { installationsFor, LOCKFILES, type Installation } from "../../readers/lockfile.ts";
import type { Environment } from "../process/environment.ts";
import { runProcess } from "../process/run-process.ts";
import { bringGenerated, bringGoWorkspace } from "./generated-files.ts";
import { lendFolder } from "./lend-folder.ts";
import type { Git } from "./git.ts";

export interface DependencyOptions {
  /** The command that installs them; `null`: found by the lockfile. */
  readonly setup: string | null;
  /** Folders of the main checkout that may be used instead; `null`: the usual ones of each lockfile. */
  readonly share: readonly string[] | null;
  readonly setupTimeoutMs: number;
  readonly env: Environment;
  readonly signal?: AbortSignal;
  /**
   * The place is thrown away soon: whatever is installed in the main checkout is linked, wherever it is there, and with
   * or without a lockfile, rather than installed once more.
   */
  readonly borrow?: boolean;
  /** By this an installation is found that outlived us. */
  readonly cookie?: string;
  /** Something a person should know, and that stops nothing. */
  onNotice?(text: string): void;
}

/**
 * Puts a worktree's dependencies in place: links to those of the main checkout where both have the same lockfiles,
 * which takes milliseconds, else by installing them.
 */
export async function installDependencies(
  git: Git,
  main: string,
  worktree: string,
  options: DependencyOptions,
): Promise<void> {
  await bringGoWorkspace(git, main, worktree);
  const here = await lockfilesIn(worktree);
  const there = await lockfilesIn(main);
  const isSame = (name: string): boolean => here.get(name) === there.get(name);
  const installations = installationsFor(here);
  if (options.setup !== null) {
    // Somebody who names a command wants it to run; links spare it only if he named those too.
    const spared =
      options.share !== null && LOCKFILES.every(isSame) && (await linkAll(git, main, worktree, options.share));
    const isNeeded = !spared && !(await isLentInstead(git, main, worktree, options, LOCKFILES.every(isSame)));
    if (isNeeded) await install(options.setup, worktree, options);
    return;
  }
  await installOrLink(git, main, worktree, options, { installations, isSame });
  await bringGenerated(git, main, worktree, (text) => options.onNotice?.(text));
}

async function installOrLink(
  git: Git,
  main: string,
  worktree: string,
  options: DependencyOptions,
  { installations, isSame }: { installations: readonly Installation[]; isSame(lockfile: string): boolean },
): Promise<void> {
  if (options.borrow === true && options.share === null && LOCKFILES.every(isSame)) {
    // Whoever installs by a lockfile writes into what is there: a link to the checkout's own environment, with the
    // project in it, would then lead the checkout to a place that is thrown away.
    const own = installations.map(({ folder }) => folder).filter((folder) => folder !== "node_modules");
    const borrowed = await borrowAll(git, main, worktree, own);
    for (const { folder, command } of installations)
      if (!borrowed.includes(folder)) await install(command, worktree, options);
    return;
  }
  const extra = (options.share ?? []).filter((folder) => !installations.some((each) => each.folder === folder));
  if (LOCKFILES.every(isSame)) await linkAll(git, main, worktree, extra);
  for (const { lockfile, folder, command } of installations) {
    const mayShare = options.share === null || options.share.includes(folder);
    if (mayShare && isSame(lockfile) && (await linkAll(git, main, worktree, [folder]))) continue;
    await install(command, worktree, options);
  }
}

/**
 * For a clean checkout the command is spared where its whole product is in the user's checkout: lockfiles and manifests
 * are the same, installed packages are there and can be lent, and git ignores nothing else that it could have made.
 */
async function isLentInstead(
  git: Git,
  main: string,
  worktree: string,
  { borrow, share }: DependencyOptions,
  hasSameLockfiles: boolean,
): Promise<boolean> {
  if (borrow !== true || share !== null || !hasSameLockfiles || !(await hasSameManifests(git, main, worktree)))
    return false;
  const ignored = await ignoredIn(git, main);
  const installed = ignored.filter(isInstalledFolder);
  if (installed.length === 0 || ignored.some((path) => !installed.includes(path) && path !== ".remand")) return false;
  return (await borrowAll(git, main, worktree, installed)).length === installed.length;
}

const MANIFESTS = [
  "package.json",
  ".npmrc",
  "pnpm-workspace.yaml",
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "requirements*.txt",
  "Gemfile*",
  "composer.*",
];

async function hasSameManifests(git: Git, main: string, worktree: string): Promise<boolean> {
  const patterns = MANIFESTS.map((name) => `:(glob)**/${name}`);
  const paths = (await git.run(["ls-files", "-z", "--", ...patterns], { cwd: worktree })).split("\0");
  for (const path of paths.filter((each) => each !== ""))
    if ((await textOf(join(worktree, path), "latin1")) !== (await textOf(join(main, path), "latin1"))) return false;
  return true;
}

/** What git ignores in a checkout; of a folder that is ignored as a whole, its name alone. */
export async function ignoredIn(git: Git, folder: string): Promise<readonly string[]> {
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const listed = (await git.run(args, { cwd: folder })).split("\0");
  return listed.map((path) => path.replace(/\/$/, "")).filter((path) => path !== "");
}

export function isInstalledFolder(path: string): boolean {
  const parts = path.split("/");
  return INSTALLED.test(parts.at(-1)!) && !parts.slice(0, -1).some((part) => INSTALLED.test(part));
}

const INSTALLED = /^(?:node_modules|bower_components|\.venv|venv|vendor|deps|\.bundle)$/;

/**
 * Links every folder of installed packages that git ignores; says which. Links to packages of the project stay its own.
 * Of those that can be made anew, one with the project itself in it is left out.
 */
async function borrowAll(
  git: Git,
  main: string,
  worktree: string,
  replaceable: readonly string[],
): Promise<readonly string[]> {
  const borrowed: string[] = [];
  for (const folder of (await ignoredIn(git, main)).filter(isInstalledFolder)) {
    if (replaceable.includes(folder) && (await hasEditableInstall(join(main, folder), main))) continue;
    await lendFolder(main, folder, worktree);
    borrowed.push(folder);
  }
  return borrowed;
}

/** Whether every one of them could be linked. */
async function linkAll(git: Git, main: string, worktree: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    if (!(await canBeShared(git, main, folder))) return false;
  }
  for (const folder of folders) await lendFolder(main, folder, worktree);
  return folders.length > 0;
}

/**
 * A folder is shared only if git ignores it, and if nothing in it leads back to the main checkout's own sources: a
 * package of the project itself, installed there as a link, would make every check look at the wrong files.
 */
async function canBeShared(git: Git, main: string, folder: string): Promise<boolean> {
  if (isAbsolute(folder) || folder.split("/").includes("..") || !existsSync(join(main, folder))) return false;
  if ((await git.ask(["check-ignore", "--quiet", "--", `${folder}/x`], { cwd: main })).exitCode !== 0) return false;
  if (folder === "node_modules") return !(await hasWorkspaces(main));
  return !(await hasEditableInstall(join(main, folder), main));
}

async function hasWorkspaces(main: string): Promise<boolean> {
  if (existsSync(join(main, "pnpm-workspace.yaml"))) return true;
  return /"workspaces"\s*:/.test((await textOf(join(main, "package.json"))) ?? "");
}

/** In the environment itself, or in one of those that tox and nox keep side by side. */
async function hasEditableInstall(venv: string, main: string): Promise<boolean> {
  if (existsSync(join(venv, "lib"))) return leadsTo(venv, main);
  for (const { name } of await entriesOf(venv)) if (await leadsTo(join(venv, name), main)) return true;
  return false;
}

async function leadsTo(venv: string, main: string): Promise<boolean> {
  for (const version of await entriesOf(join(venv, "lib"))) {
    const packages = join(venv, "lib", version.name, "site-packages");
    for (const { name } of await entriesOf(packages)) {
      const text = /\.(pth|egg-link)$|^__editable__/.test(name) ? await textOf(join(packages, name)) : null;
      if (text?.includes(main)) return true;
    }
  }
  return false;
}

async function install(command: string, worktree: string, options: DependencyOptions): Promise<void> {
  const { env, setupTimeoutMs, signal, cookie } = options;
  const result = await runProcess(
    { command, cwd: worktree, env, timeoutMs: setupTimeoutMs, ...(cookie === undefined ? {} : { cookie }) },
    signal === undefined ? {} : { signal },
  );
  if (result.status === "exited" && result.exitCode === 0) return;
  const how =
    result.status === "exited" ? `failed with ${result.exitCode ?? result.signal}` : `ended: ${result.status}`;
  const last = (result.failure?.message ?? result.output).trim().split("\n").slice(-8).join("\n  ");
  throw new RemandError(
    "setup-failed",
    `${command} ${how} in ${worktree}:\n  ${last}`,
    "Mend it, or set workspace.setup in remand.yaml to the command that installs what the checks need.",
  );
}

async function lockfilesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const name of LOCKFILES) {
    const text = await textOf(join(folder, name), "latin1");
    if (text !== null) found.set(name, text);
  }
  return found;
}

async function textOf(file: string, encoding: "utf8" | "latin1" = "utf8"): Promise<string | null> {
  return readFile(file, encoding).catch(() => null);
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
