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
  copyGenerated,
  copyGoWorkspace,
  isPythonProduct,
  MANIFESTS,
  installationKey,
} from "./dependency-source.ts";
import { linkPackages } from "./link-packages.ts";
import type { Sandbox } from "../../../ports/sandbox.ts";

export interface DependencyOptions {
  /** The command that installs the dependencies; `null`: detected from the lockfile. */
  readonly setup: string | null;
  /** Folders of the main checkout that may be linked instead; `null`: the usual folders of each lockfile. */
  readonly share: readonly string[] | null;
  readonly setupTimeoutMs: number;
  readonly env: EnvironmentIn;
  readonly sandbox: Sandbox;
  readonly signal?: AbortSignal;
  /**
   * The worktree is temporary: link whatever is installed in the main checkout, with or without a lockfile, instead of
   * installing again.
   */
  readonly borrow?: boolean;
  /** `false`: use only what is already installed; do not install from lockfiles. */
  readonly installs?: boolean;
  /** Where linked packages come from; default: the main checkout in its current state. */
  readonly source?: DependencySource;
  /**
   * Where an installation is kept for the next worktree with the same lockfiles; default: each worktree installs its
   * own.
   */
  readonly store?: InstallationStore;
  /** Patterns of more files that affect an installation. */
  readonly inputs?: readonly string[];
  /** A value in the environment by which an installation is found that outlived the engine. */
  readonly cookie?: string;
  /** Reports something that a person should know and that blocks nothing. */
  onNotice?(text: string): void;
}

/**
 * Provides a worktree's dependencies: by links to those of the main checkout if both have the same lockfiles, which
 * takes milliseconds; otherwise by installing them.
 */
export async function installDependencies(
  git: Git,
  main: string,
  worktree: string,
  options: DependencyOptions,
): Promise<void> {
  const source = options.source ?? liveSource(git, main);
  const to: InstallTarget = { git, source, worktree, options };
  await copyGoWorkspace(source, worktree);
  const here = await lockfilesIn(worktree);
  const there = await lockfilesIn(source.root);
  const own = new Set<string>();
  for (const name of there.keys()) if (!here.has(name) && (await source.isIgnored(name))) own.add(name);
  // A lockfile that git ignores exists only in the main checkout, and describes what is installed there.
  const isSame = (name: string): boolean => here.get(name) === there.get(name) || own.has(name);
  const installations = installationsFor(here);
  if (options.setup !== null) {
    // A configured command must run. Links replace it only if folders to share are configured too.
    const spared = options.share !== null && LOCKFILES.every(isSame) && (await linkAll(to, options.share));
    const isNeeded = !spared && !(await isLentInstead(to, LOCKFILES.every(isSame)));
    if (isNeeded) await install(options.setup, to);
    return;
  }
  await installOrLink(to, { installations, isSame });
  // `hasPython` makes git read its whole index, so look through the kept list first.
  const isPossible = options.source === undefined || (await source.ignored()).some(isPythonProduct);
  if (isPossible && (await hasPython({ git, top: main })))
    await copyGenerated(source, worktree, (text) => options.onNotice?.(text));
}

/** The worktree that gets dependencies, and their source. */
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
    // An installer writes into an existing environment: through a link it would install the temporary worktree's
    // project into the main checkout's environment.
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
 * Whether links can replace the configured command in a clean checkout. They can if the user's checkout has its whole
 * product: lockfiles and manifests are the same, installed packages can be linked, and git ignores nothing else that
 * the command could have made.
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
 * Links every folder of installed packages that git ignores, and returns those folders. Links to packages of the
 * project lead to the worktree's own. Skips a folder that can be reinstalled if the project itself is installed in it.
 */
async function borrowAll(
  { source, worktree }: InstallTarget,
  replaceable: readonly string[],
): Promise<readonly string[]> {
  const borrowed: string[] = [];
  for (const folder of (await source.ignored()).filter(isInstalledFolder)) {
    // If the worktree is shown at the user's path, an editable install there is this worktree.
    const leadsAway = replaceable.includes(folder) && shownFolderAround(worktree) === null;
    if (leadsAway && (await hasEditableInstall(join(source.root, folder), source.checkout))) continue;
    await linkPackages(source, folder, worktree);
    borrowed.push(folder);
  }
  return borrowed;
}

/** Links all of these folders, or none. Returns whether they were linked. */
async function linkAll({ source, worktree }: InstallTarget, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) if (!(await canBeShared(source, folder))) return false;
  for (const folder of folders) await linkPackages(source, folder, worktree);
  return folders.length > 0;
}

/**
 * Whether a folder can be shared: git ignores it, and nothing in it links back to the main checkout's own sources. A
 * package of the project that is installed as a link would make every check test the wrong files.
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

/** Whether the environment, or one of those that tox and nox keep in it, has the project installed as a link. */
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

/** Installs the dependencies, or reuses what the same command made from the same lockfiles and manifests before. */
async function install(command: string, { git, worktree, options }: InstallTarget): Promise<void> {
  const { store, inputs = [] } = options;
  const env = await environmentIn(options.env, worktree);
  if (store === undefined) return runInstall(command, worktree, env, options);
  const key = await installationKey(git, worktree, { command, env, inputs });
  const known = await store.find(key);
  const kept = known ?? (await installAndKeep(command, key, { git, worktree, options: { ...options, env } }, store));
  if (kept === null) return;
  for (const folder of await kept.ignored()) await linkPackages(kept, folder, worktree);
}

/**
 * Installs and moves the product to the store. `null` if it stays in the worktree, because it is more than packages or
 * contains the worktree's path.
 */
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
