import { readFile, readdir } from "node:fs/promises";
import { type Dirent, existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { type Installation, LOCKFILES, installationsFor } from "../../../parse/code/manifests.ts";
import { type Environment, type EnvironmentIn, environmentIn } from "../../process/environment.ts";
import { runProcess } from "../../process/run-process.ts";
import { shownFolderAround } from "../../process/mounted-folder.ts";
import type { Git } from "../git.ts";
import { hasPython } from "../python/python-folders.ts";
import {
  type DependencySource,
  type InstallationStore,
  ignoredIn,
  isInstalledFolder,
  liveSource,
  bringGenerated,
  bringGoWorkspace,
  isPythonProduct,
  MANIFESTS,
  installationKey,
} from "./dependency-source.ts";
import { lendFolder } from "./lend-folder.ts";
import type { Sandbox } from "../../../ports/sandbox.ts";

export interface DependencyOptions {
  /** The command that installs them; `null`: found by the lockfile. */
  readonly setup: string | null;
  /** Folders of the main checkout that may be used instead; `null`: the usual ones of each lockfile. */
  readonly share: readonly string[] | null;
  readonly setupTimeoutMs: number;
  readonly env: EnvironmentIn;
  readonly sandbox: Sandbox;
  readonly signal?: AbortSignal;
  /**
   * The place is thrown away soon: whatever is installed in the main checkout is linked, wherever it is there, and with
   * or without a lockfile, rather than installed once more.
   */
  readonly borrow?: boolean;
  /** `false`: only what is installed already is used, and nothing is installed by a lockfile. */
  readonly installs?: boolean;
  /** What is lent; absent: what is in the main checkout now. */
  readonly source?: DependencySource;
  /** Where an installation is kept for the next place with the same lockfiles; absent: it is made in each. */
  readonly store?: InstallationStore;
  /** Patterns of more files that decide what an installation makes. */
  readonly inputs?: readonly string[];
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
  const source = options.source ?? liveSource(git, main);
  const to: InstallTarget = { git, source, worktree, options };
  await bringGoWorkspace(source, worktree);
  const here = await lockfilesIn(worktree);
  const there = await lockfilesIn(source.root);
  const own = new Set<string>();
  for (const name of there.keys()) if (!here.has(name) && (await source.isIgnored(name))) own.add(name);
  // A lockfile that git ignores is in no other checkout, and says what is installed in this one.
  const isSame = (name: string): boolean => here.get(name) === there.get(name) || own.has(name);
  const installations = installationsFor(here);
  if (options.setup !== null) {
    // A command that is named is to run; links spare it only if folders to share are named too.
    const spared = options.share !== null && LOCKFILES.every(isSame) && (await linkAll(to, options.share));
    const isNeeded = !spared && !(await isLentInstead(to, LOCKFILES.every(isSame)));
    if (isNeeded) await install(options.setup, to);
    return;
  }
  await installOrLink(to, { installations, isSame });
  // Git reads its whole index to tell whether there is Python in a folder below: a kept list is looked at first.
  const isPossible = options.source === undefined || (await source.ignored()).some(isPythonProduct);
  if (isPossible && (await hasPython({ git, top: main })))
    await bringGenerated(source, worktree, (text) => options.onNotice?.(text));
}

/** The place that gets dependencies, and where from. */
interface InstallTarget {
  readonly git: Git;
  readonly source: DependencySource;
  readonly worktree: string;
  readonly options: DependencyOptions;
}

async function installOrLink(
  to: InstallTarget,
  { installations, isSame }: { installations: readonly Installation[]; isSame(lockfile: string): boolean },
): Promise<void> {
  const { options } = to;
  if (options.installs === false) {
    await borrowAll(to, []);
    return;
  }
  if (options.borrow === true && options.share === null && LOCKFILES.every(isSame)) {
    // An installer writes into what is there: a link to the checkout's own environment, with the project in it, would
    // then lead the checkout to a place that is thrown away.
    const own = installations.map(({ folder }) => folder).filter((folder) => folder !== "node_modules");
    const borrowed = await borrowAll(to, own);
    for (const { folder, command } of installations) if (!borrowed.includes(folder)) await install(command, to);
    return;
  }
  const extra = (options.share ?? []).filter((folder) => !installations.some((each) => each.folder === folder));
  if (LOCKFILES.every(isSame)) await linkAll(to, extra);
  for (const { lockfile, folder, command } of installations) {
    const mayShare = options.share === null || options.share.includes(folder);
    if (mayShare && isSame(lockfile) && (await linkAll(to, [folder]))) continue;
    await install(command, to);
  }
}

/**
 * For a clean checkout the command is spared where its whole product is in the user's checkout: lockfiles and manifests
 * are the same, installed packages are there and can be lent, and git ignores nothing else that it could have made.
 */
async function isLentInstead(to: InstallTarget, hasSameLockfiles: boolean): Promise<boolean> {
  const { borrow, share } = to.options;
  if (borrow !== true || share !== null || !hasSameLockfiles) return false;
  const ignored = await to.source.ignored();
  const installed = ignored.filter(isInstalledFolder);
  if (installed.length === 0 || ignored.some((path) => !installed.includes(path) && path !== ".remand")) return false;
  return (await hasSameManifests(to)) && (await borrowAll(to, installed)).length === installed.length;
}

async function hasSameManifests({ git, source, worktree }: InstallTarget): Promise<boolean> {
  const patterns = MANIFESTS.map((name) => `:(glob)**/${name}`);
  const paths = (await git.run(["ls-files", "-z", "--", ...patterns], { cwd: worktree })).split("\0");
  for (const path of paths.filter((each) => each !== ""))
    if ((await textOf(join(worktree, path), "latin1")) !== (await textOf(join(source.root, path), "latin1")))
      return false;
  return true;
}

/**
 * Links every folder of installed packages that git ignores; says which. Links to packages of the project stay its own.
 * A folder that can be installed again is left out if the project itself is installed in it.
 */
async function borrowAll(
  { source, worktree }: InstallTarget,
  replaceable: readonly string[],
): Promise<readonly string[]> {
  const borrowed: string[] = [];
  for (const folder of (await source.ignored()).filter(isInstalledFolder)) {
    // At the user's path, what is installed as editable is this very checkout.
    const leadsAway = replaceable.includes(folder) && shownFolderAround(worktree) === null;
    if (leadsAway && (await hasEditableInstall(join(source.root, folder), source.checkout))) continue;
    await lendFolder(source, folder, worktree);
    borrowed.push(folder);
  }
  return borrowed;
}

/** Whether every one of them could be linked. */
async function linkAll({ source, worktree }: InstallTarget, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) if (!(await canBeShared(source, folder))) return false;
  for (const folder of folders) await lendFolder(source, folder, worktree);
  return folders.length > 0;
}

/**
 * A folder is shared only if git ignores it, and if nothing in it leads back to the main checkout's own sources: a
 * package of the project itself, installed there as a link, would make every check look at the wrong files.
 */
async function canBeShared(source: DependencySource, folder: string): Promise<boolean> {
  if (isAbsolute(folder) || folder.split("/").includes("..") || !existsSync(join(source.root, folder))) return false;
  if (!(await source.isIgnored(`${folder}/x`))) return false;
  if (folder === "node_modules") return !(await hasWorkspaces(source.root));
  return !(await hasEditableInstall(join(source.root, folder), source.checkout));
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

/** Installs, or takes what the same command made of the same lockfiles and manifests before. */
async function install(command: string, { git, worktree, options }: InstallTarget): Promise<void> {
  const { store, inputs = [] } = options;
  const env = await environmentIn(options.env, worktree);
  if (store === undefined) return runInstall(command, worktree, env, options);
  const key = await installationKey(git, worktree, { command, env, inputs });
  const known = await store.find(key);
  const kept = known ?? (await installAndKeep(command, key, { git, worktree, options: { ...options, env } }, store));
  if (kept === null) return;
  for (const folder of await kept.ignored()) await lendFolder(kept, folder, worktree);
}

/** `null` where the product stays in the place: it is more than packages, or it names the place it was made in. */
async function installAndKeep(
  command: string,
  key: string,
  { git, worktree, options }: Omit<InstallTarget, "source">,
  store: InstallationStore,
): Promise<DependencySource | null> {
  const before = await ignoredIn(git, worktree);
  await runInstall(command, worktree, await environmentIn(options.env, worktree), options);
  const made = (await ignoredIn(git, worktree)).filter((path) => !before.includes(path));
  const isMovable = (path: string): boolean =>
    isInstalledFolder(path) && !existsSync(join(worktree, path, "pyvenv.cfg"));
  return made.length > 0 && made.every(isMovable) ? store.keepMoved(key, worktree, made) : null;
}

async function runInstall(
  command: string,
  worktree: string,
  env: Environment,
  options: DependencyOptions,
): Promise<void> {
  const { setupTimeoutMs, signal, cookie, sandbox } = options;
  const result = await runProcess(
    { command, cwd: worktree, env, timeoutMs: setupTimeoutMs, sandbox, ...(cookie === undefined ? {} : { cookie }) },
    signal === undefined ? {} : { signal },
  );
  if (result.status === "exited" && result.exitCode === 0) return;
  const how =
    result.status === "exited" ? `failed with ${result.exitCode ?? result.signal}` : `ended: ${result.status}`;
  const last = (result.failure?.message ?? result.output).trim().split("\n").slice(-8).join("\n  ");
  throw new RemandError(
    "setup-failed",
    `${command} ${how} in ${worktree}:\n  ${last}`,
    "Fix it, or set workspace.setup in remand.yaml to the command that installs what the checks need.",
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
