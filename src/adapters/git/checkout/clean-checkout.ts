import { cp, lstat, mkdir, open, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { constants } from "node:fs";
import { sha256 } from "../../../stdx/sha256.ts";
import { type Environment, type EnvironmentIn, allowedEnvironment } from "../../process/environment.ts";
import { canMountFolders, mountFolder, showFolder } from "../../process/mounted-folder.ts";
import { installDependencies } from "../dependencies/dependencies.ts";
import type { KeptDependencies } from "../dependencies/dependency-source.ts";
import {
  type TreeChange,
  applyChangesAbove,
  removeEscapingLinks,
  staysInside,
  treeChanges,
  writtenAbove,
  writtenSince,
} from "../tree-changes.ts";
import { type Git, gitFailure } from "../git.ts";
import { type Repository, objectsNamed } from "../repository.ts";
import { fillSubmodules } from "../submodules.ts";
import { RemandError } from "../../../core/events/error.ts";
import { findCaches, keepCaches, hasCaches, openPristine } from "./pristine.ts";
import { type Slot, takeSlot } from "./checkout-slots.ts";
import { type CheckoutSettings, makePrivateRepository, nameOwnPath, readRefs, setRefs } from "./private-repository.ts";
import type { Sandbox } from "../../../ports/sandbox.ts";
import { NO_SANDBOX } from "../../process/launch.ts";

export interface CheckoutOptions {
  /** The folder for what belongs to the user and to no checkout. */
  readonly userState: string;
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  /** `false`: nothing is installed by a lockfile. */
  readonly installs?: boolean;
  /** Ignored files that are copied from the user's checkout. */
  readonly carry?: readonly string[];
  readonly env?: Environment;
  /** What the set-up sees of the environment. */
  readonly setupEnv?: EnvironmentIn;
  /** Around the set-up; absent: none. */
  readonly sandbox?: Sandbox;
  /** Where dependencies come from; absent: from the user's checkout as it is now. */
  readonly dependencies?: KeptDependencies;
  /** Patterns of files, besides lockfiles and manifests, that decide what the set-up makes. */
  readonly inputs?: readonly string[];
  /** Checkouts of the same name have the same path, one after the other. */
  readonly name?: string;
  /** Whether files may be shown by a mount instead of being written; absent: where that is quicker. */
  readonly mount?: boolean;
  /** Where programs in a sandbox find it; absent: where it is. Not with packages that are links to that place. */
  readonly shownAt?: string;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** What is checked out: the files of a tree, at a commit. Both are names that the main repository knows. */
export interface CheckoutState {
  /** `null`, or no commit: there is none yet. */
  readonly commit: string | null;
  /** Absent: the commit's own tree. */
  readonly tree?: string;
  /** What the work started from; absent: the files are the project's own. */
  readonly base?: string;
}

/**
 * A clean checkout: the files of a tree in a folder where nothing but the engine ever wrote, with a repository of its
 * own and the dependencies of the user's checkout.
 */
export interface CleanCheckout {
  readonly path: string;
  readonly git: Git;
  readonly tree: string;
  readonly base: string;
  /** Files that git knows and that differ from what was checked out. */
  written(): Promise<readonly string[]>;
  /** Removes it. What builds left for the next build is kept, if only the base ran here. */
  close(hasOthersRun?: boolean): Promise<void>;
}

export async function openCleanCheckout(
  repository: Repository,
  wanted: CheckoutState,
  settings: CheckoutSettings,
  options: CheckoutOptions,
): Promise<CleanCheckout> {
  const { git, top } = repository;
  const folder = await checkoutsFolder(options.userState, repository);
  const files = await resolveWanted(git, wanted);
  const slot = await takeSlot(folder, options.name);
  let made: MadeFiles | null = null;
  const isOfBase = wanted.base !== undefined && files.tree === files.base;
  const hide = options.shownAt === undefined ? null : showFolder({ folder: slot.path, at: options.shownAt });
  const close = async (hasOthersRun = false): Promise<void> => {
    hide?.();
    await made?.finish(isOfBase && !hasOthersRun);
    await slot.release();
  };
  try {
    const isMount = options.mount ?? (await isMountQuicker(repository, folder, files));
    // Git is asked while the files are mounted.
    const changed = treeChanges(git, files.base, files.tree);
    changed.catch(() => undefined);
    made =
      (isMount ? await mountFiles(repository, folder, slot, { ...files, changed }, settings) : null) ??
      (await writeFiles(repository, folder, slot, files, settings));
    const { path } = slot;
    const links = await removeEscapingLinks(path, await changed);
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
      ...(options.installs === undefined ? {} : { installs: options.installs }),
      inputs: options.inputs ?? [],
      ...(source === undefined ? {} : { source }),
      ...(options.dependencies === undefined ? {} : { store: options.dependencies.store }),
      setupTimeoutMs: SETUP_TIMEOUT_MS,
      sandbox: options.sandbox ?? NO_SANDBOX,
      env: options.setupEnv ?? allowedEnvironment(options.env ?? process.env),
      signal: options.signal,
      onNotice: options.onNotice,
    });
    return { path, git: made.git, tree: files.tree, base: files.base, written: made.written, close };
  } catch (error) {
    await close(true);
    throw error;
  }
}

const SETUP_TIMEOUT_MS = 15 * 60 * 1000;

/** The names of what is checked out, looked up once. */
interface CheckoutFiles {
  readonly commit: string | null;
  readonly tree: string;
  /** The tree that the work started from. */
  readonly base: string;
}

async function resolveWanted(git: Git, { commit, tree, base }: CheckoutState): Promise<CheckoutFiles> {
  const known = await objectsNamed(git, [
    `${commit}^{commit}`,
    `${commit}^{commit}^{tree}`,
    "HEAD^{tree}",
    `${tree}^{tree}`,
    `${base}^{tree}`,
  ]);
  const [start, startTree, headTree, ownTree, baseTree] = known;
  const files = tree === undefined ? ((commit === null ? null : startTree) ?? headTree) : ownTree;
  if (files == null) throw gitFailure(`there is no ${tree ?? "commit"} in the repository`, "");
  const from = base === undefined ? null : baseTree;
  return { commit: commit === null ? null : start!, tree: files, base: from ?? files };
}

interface MadeFiles {
  readonly git: Git;
  written(): Promise<readonly string[]>;
  /** Before the folder is removed. */
  finish(keepsCaches: boolean): Promise<void>;
}

async function writeFiles(
  repository: Repository,
  folder: string,
  { path, aside }: Slot,
  files: CheckoutFiles,
  settings: CheckoutSettings,
): Promise<MadeFiles> {
  const git = await makePrivateRepository(repository, path, files, settings);
  return {
    git,
    written: () => writtenSince(git),
    async finish(keepsCaches) {
      const caches = keepsCaches ? await findCaches(path, path) : [];
      if (caches.length === 0 || !(await canMountFolders(aside))) return;
      const pristine = await openPristine(repository, folder, files.base, settings);
      await keepCaches(pristine, path, caches);
      await pristine.release();
    },
  };
}

/** Shows the files of the base by a mount and writes what differs: the time it takes does not grow with the tree. */
async function mountFiles(
  repository: Repository,
  folder: string,
  { path, aside }: Slot,
  files: CheckoutFiles & { readonly changed: Promise<readonly TreeChange[]> },
  settings: CheckoutSettings,
): Promise<MadeFiles | null> {
  const refs = readRefs(repository.git);
  refs.catch(() => undefined);
  const pristine = await openPristine(repository, folder, files.base, settings);
  const lower = [...pristine.caches, pristine.path];
  const mounted = await mountFolder({ path, lower, aside });
  if (mounted === null) {
    await pristine.release();
    return null;
  }
  const git = repository.gitIn(path);
  const finish = async (caches: readonly string[] = []): Promise<void> => {
    await mounted.unmount();
    await keepCaches(pristine, mounted.upper, caches);
    await pristine.release();
  };
  try {
    await nameOwnPath(path);
    await setRefs(path, await refs, files.commit);
    await applyChangesAbove(git, { checkout: path, pristine: pristine.path, aside }, await files.changed);
  } catch (error) {
    await finish();
    throw error;
  }
  return {
    git,
    written: () => writtenAbove(git, mounted.upper, path),
    finish: async (keepsCaches) => finish(keepsCaches ? await findCaches(mounted.upper, path) : []),
  };
}

/**
 * Writing fewer files than this takes no longer than to mount them. A tree with build caches is mounted in any case:
 * they are not copied.
 */
const FEW_FILES = 1000;

async function isMountQuicker({ gitDir }: Repository, folder: string, { base }: CheckoutFiles): Promise<boolean> {
  return (await hasCaches(folder, base)) || (await filesInIndex(join(gitDir, "index"))) >= FEW_FILES;
}

/** Git's index says in its header how many files it lists. */
async function filesInIndex(index: string): Promise<number> {
  const file = await open(index).catch(() => null);
  if (file === null) return 0;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(12), 0, 12, 0);
    return bytesRead === 12 ? buffer.readUInt32BE(8) : 0;
  } finally {
    await file.close();
  }
}

/**
 * The folder for the clean checkouts of one repository. It is outside of every checkout, so that no tool finds the
 * settings or packages of another one in the folders above.
 */
async function checkoutsFolder(userState: string, { top }: Repository): Promise<string> {
  const folder = join(userState, "checkouts", sha256(top).slice(0, 16));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return realpath(folder);
}

/**
 * Copies ignored files that checks need (`.env.test`) from the user's checkout. A path that is not there is left out;
 * what the checkout has itself is never replaced: those files are the work.
 */
async function carryFiles(main: string, checkout: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const inside = normalize(path).replace(/\/$/, "");
    if (isAbsolute(inside) || /^(?:\.\.(?:\/|$)|\.$|\.git(?:\/|$))/.test(inside))
      throw new RemandError(
        "config-invalid",
        `workspace.carry names ${path}, which is not a file of the project`,
        "Name files and folders by their path from the top folder of the repository, such as .env.test.",
      );
    const [source, target] = [join(main, inside), join(checkout, inside)];
    if ((await lstat(source).catch(() => null)) === null || (await lstat(target).catch(() => null)) !== null) continue;
    if (!staysInside(checkout, inside)) continue;
    await mkdir(dirname(target), { recursive: true });
    await cp(source, target, {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
      preserveTimestamps: true,
    });
  }
}
