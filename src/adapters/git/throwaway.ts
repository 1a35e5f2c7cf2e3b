import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, realpath, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RemandError } from "../../domain/error.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { allowedEnvironment, type Environment } from "../process/environment.ts";
import { carryFiles } from "./carry-files.ts";
import { installDependencies } from "./dependencies.ts";
import type { KeptDependencies } from "./dependency-source.ts";
import { removeEscapingLinks } from "./escaping-links.ts";
import type { Git } from "./git.ts";
import { makePrivateRepository, type CheckoutSettings } from "./private-repository.ts";
import { commitOf, line, type Repository } from "./repository.ts";
import { fillSubmodules } from "./submodules.ts";

export interface ThrowawayOptions {
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  /** Ignored files that are copied from the user's checkout. */
  readonly carry?: readonly string[];
  readonly env?: Environment;
  /** What the set-up sees of the environment. */
  readonly setupEnv?: Environment;
  /** Where dependencies come from; absent: from the user's checkout as it is now. */
  readonly dependencies?: KeptDependencies;
  /** Patterns of files, besides lockfiles and manifests, that decide what the set-up makes. */
  readonly inputs?: readonly string[];
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** What is checked out: the files of a tree, at a commit. Both are names that the main repository knows. */
export interface Wanted {
  /** `null`, or no commit: there is none yet. */
  readonly commit: string | null;
  /** Absent: the commit's own tree. */
  readonly tree?: string;
  /** What the work started from; absent: the files are the project's own. */
  readonly base?: string;
}

/**
 * A clean checkout: the files of a tree in a folder where nothing but the engine ever wrote, with a repository of its
 * own and the dependencies of the user's checkout. It is removed when it has served.
 */
export async function makeThrowaway(
  repository: Repository,
  path: string,
  wanted: Wanted,
  settings: CheckoutSettings,
  options: ThrowawayOptions,
): Promise<Git> {
  const { git, top } = repository;
  const commit = wanted.commit === null ? null : await commitOf(git, wanted.commit);
  const tree = line(await git.run(["rev-parse", "--verify", `${wanted.tree ?? commit ?? "HEAD"}^{tree}`]));
  const own = await makePrivateRepository(repository, path, { commit, tree }, settings);
  const base = line((await git.ask(["rev-parse", "--verify", "--quiet", `${wanted.base ?? tree}^{tree}`])).stdout);
  const links = await removeEscapingLinks(own, path, base === "" ? null : base);
  if (links.length > 0)
    options.onNotice(`not there in a clean checkout, because they lead out of it: ${links.join(", ")}`);
  const missing = await fillSubmodules(git, top, path);
  if (missing.length > 0) options.onNotice(`not initialised in ${top}, and so empty here too: ${missing.join(", ")}`);
  const source = await options.dependencies?.source();
  await carryFiles(source?.root ?? top, path, options.carry ?? []);
  await installDependencies(git, top, path, {
    setup: options.setup,
    share: options.share,
    borrow: true,
    inputs: options.inputs ?? [],
    ...(source === undefined ? {} : { source }),
    ...(options.dependencies === undefined ? {} : { store: options.dependencies.store }),
    setupTimeoutMs: SETUP_TIMEOUT_MS,
    env: options.setupEnv ?? allowedEnvironment(options.env ?? process.env),
    signal: options.signal,
    onNotice: options.onNotice,
  });
  return own;
}

const SETUP_TIMEOUT_MS = 15 * 60 * 1000;

/**
 * The folder for the clean checkouts of one repository and one purpose. It is outside of every checkout, so that no tool
 * finds the settings or packages of another one in the folders above.
 */
export async function checkoutsFolder(userState: string, { top }: Repository, purpose: string): Promise<string> {
  const folder = join(userState, "checkouts", sha256(top).slice(0, 16), purpose);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return realpath(folder);
}

/** Removes a checkout, and the folders above it where it was the last. */
export async function takeAway(path: string): Promise<void> {
  try {
    await removeFolder(path);
  } catch (error) {
    throw new RemandError(
      "workspace-broken",
      `the checkout ${path} cannot be removed: ${(error as Error).message}`,
      `Remove it: rm -rf ${path}`,
      { cause: error },
    );
  }
  let folder = dirname(path);
  // For the purpose, for the repository, and for all of them.
  for (let level = 0; level < 3; level++, folder = dirname(folder)) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

/** Removes a folder, however its permissions are set. */
export async function removeFolder(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 5 } as const;
  try {
    await rm(path, options);
  } catch (error) {
    if (!/^(?:EACCES|EPERM)$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    // A run may leave folders that may not be written, such as a cache of modules.
    await openUp(path);
    await rm(path, options);
  }
}

async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await openUp(join(folder, entry.name));
}

/** By its name it can be seen whether somebody still works there. */
export const ownName = (): string => `${process.pid}-${randomBytes(4).toString("hex")}`;

/** Checkouts of processes that were killed before they could remove them. */
export async function clearLeft(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (!isAlivePid(Number(name.split("-")[0]))) await removeFolder(join(folder, name));
}

export function isAlivePid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is a process too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
