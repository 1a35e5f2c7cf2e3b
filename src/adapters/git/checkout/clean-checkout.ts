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
  /** The state folder of the user, shared by all checkouts. */
  readonly userState: string;
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  /** `false`: do not install from lockfiles. */
  readonly installs?: boolean;
  /** Ignored files that are copied from the user's checkout. */
  readonly carry?: readonly string[];
  readonly env?: Environment;
  /** The environment of the setup command. */
  readonly setupEnv?: EnvironmentIn;
  /** The sandbox of the setup command; default: none. */
  readonly sandbox?: Sandbox;
  /** Where dependencies come from; default: the user's checkout in its current state. */
  readonly dependencies?: KeptDependencies;
  /** Patterns of files, besides lockfiles and manifests, that affect the result of the setup command. */
  readonly inputs?: readonly string[];
  /** Checkouts with the same name get the same path, one after the other. */
  readonly name?: string;
  /** Whether files may be mounted instead of written; default: whichever is quicker. */
  readonly mount?: boolean;
  /**
   * The path at which sandboxed programs see the checkout; default: its real path. Not for packages that link to that
   * path.
   */
  readonly shownAt?: string;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** What to check out: the files of a tree, at a commit. The main repository knows both names. */
export interface CheckoutState {
  /** `null` when the repository has no commit yet. */
  readonly commit: string | null;
  /** Default: the commit's own tree. */
  readonly tree?: string;
  /** The commit that the work started from; default: the checked-out files count as the project's own. */
  readonly base?: string;
}

/**
 * A clean checkout: the files of a tree in a folder where only the engine wrote, with its own repository and the
 * dependencies of the user's checkout.
 */
export interface CleanCheckout {
  readonly path: string;
  readonly git: Git;
  readonly tree: string;
  readonly base: string;
  /** Returns the tracked files that differ from what was checked out. */
  written(): Promise<readonly string[]>;
  /** Removes the checkout. Build caches are kept for the next build, but only if nothing except the base ran here. */
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
    // Compare the trees while the files are being mounted.
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

/** The object names of a checkout, looked up once. */
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
  /** Call before the folder is removed. */
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

/** Mounts the files of the base and writes only what differs, so the time does not grow with the size of the tree. */
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
 * Below this number, writing the files is as quick as mounting them. A tree with build caches is always mounted,
 * because caches are not copied.
 */
const FEW_FILES = 1000;

async function isMountQuicker({ gitDir }: Repository, folder: string, { base }: CheckoutFiles): Promise<boolean> {
  return (await hasCaches(folder, base)) || (await filesInIndex(join(gitDir, "index"))) >= FEW_FILES;
}

/** Returns the number of files in git's index, which its header states. */
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
 * Returns the folder for the clean checkouts of one repository. It is outside every checkout, so that no tool finds the
 * settings or packages of another checkout in a parent folder.
 */
async function checkoutsFolder(userState: string, { top }: Repository): Promise<string> {
  const folder = join(userState, "checkouts", sha256(top).slice(0, 16));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return realpath(folder);
}

/**
 * Copies ignored files that checks need (`.env.test`) from the user's checkout. Skips paths that do not exist, and
 * never replaces files of the clean checkout: those are the work.
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
