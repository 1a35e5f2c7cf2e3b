import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "../../../stdx/sha256.ts";
import type { Environment } from "../../process/environment.ts";
import { removeOrphaned, onDisk, removeFolder } from "../remove-folder.ts";
import { type CheckoutSettings, readCheckoutSettings } from "../checkout/private-repository.ts";
import { type Repository, processUniqueName, repositoryOpener } from "../repository.ts";
import {
  type HomeNotes,
  type KeptHome,
  type Purpose,
  createCheckHomes,
  createHomeNotes,
  homeStamps,
  keepHome,
  rewritePathVariable,
} from "./check-homes.ts";
import type { KeptDependencies } from "./dependency-source.ts";
import { createDependencyStore } from "./dependency-store.ts";
import { type KeepOptions, keepCheckout, keptDependencies, lookAtCheckout, storeFolder } from "./kept-checkout.ts";

/** What clean checkouts are made with besides the tree, in the state from before an agent worked. */
export interface WorkStart {
  readonly settings: CheckoutSettings;
  readonly dependencies: KeptDependencies;
  /** Returns the environment of a check that is started in a folder. */
  checkEnvironment(folder: string, env: Environment): Promise<Environment>;
  setupEnvironment(folder: string, env: Environment): Promise<Environment>;
  /** Removes the HOME of a checkout that is closed. */
  forget(checkout: string): Promise<void>;
  /** Whether checks run in the sandbox. They do not if they failed in it before any work was done. */
  isSandboxed(): Promise<boolean>;
  /** Paths that checks do not find in their HOME. */
  readonly leftOut: readonly string[];
}

/** Stored in the user's state folder, so that it outlives the engine. */
interface StartRecord {
  readonly key: string;
  /** Fingerprint of the packages installed in the user's checkout. */
  readonly installed: string;
  readonly settings: CheckoutSettings;
  readonly home?: KeptHome;
  /** The state when the last engine ended: later differences were made by a person. */
  readonly left?: {
    readonly installed: string;
    readonly settings: string;
    /** Stamps of the settings in the user's HOME. */
    readonly home: Readonly<Record<string, string>>;
  };
}

export interface StartOptions extends KeepOptions {
  readonly userState: string;
  /** The user's HOME, whose settings checks get; default: HOME of `env`. */
  readonly home?: string;
  readonly env?: Environment;
}

/** Returns the record's path without extension; the settings of HOME are stored beside the record. */
const recordName = (userState: string, { top, prefix }: Repository): string =>
  join(userState, "starts", sha256(join(top, prefix)).slice(0, 16));
const recordFile = (userState: string, repository: Repository): string => `${recordName(userState, repository)}.json`;

/** Captures and provides the start of the work for one engine. */
export interface WorkStarter {
  /** Captures the start. Call before an agent works. `isUnderWay`: an earlier engine already worked on stories. */
  open(isUnderWay: boolean): Promise<void>;
  /** Returns the start. If `open` was not called, uses the record, or else the current state. */
  now(): Promise<WorkStart>;
  /** Returns the environment of a check that is started in a folder; `real`: with the user's own HOME. */
  environment(folder: string, env: Environment, home?: "real"): Promise<Environment>;
  readonly notes: HomeNotes;
  /** Records the state when the engine ends. */
  leave(isUnderWay: boolean): Promise<void>;
  /** Removes what was made for this process only. */
  close(): Promise<void>;
}

export function createWorkStarter(root: string, options: StartOptions): WorkStarter {
  const repositoryNow = repositoryOpener(root, options.env);
  const notes = createHomeNotes(options.userState, root);
  let opened: Promise<WorkStart & Closable> | null = null;
  const openAs = (about: StartState): Promise<WorkStart & Closable> =>
    (opened = repositoryNow()
      .then((repository) => onDisk(() => openWorkStart(repository, options, about, notes)))
      .catch((error: unknown) => {
        // The next call tries again.
        opened = null;
        throw error;
      }));
  const now = (): Promise<WorkStart> => opened ?? openAs({ isUnderWay: true, isKept: false });
  const close = async (): Promise<void> => (await opened?.catch(() => null))?.close();
  return {
    open: async (isUnderWay) => void (await openAs({ isUnderWay, isKept: true })),
    now,
    notes,
    async environment(folder, env, home) {
      const { top } = await repositoryNow();
      const rewritten = await rewritePathVariable(env, top, folder);
      return home === "real" ? rewritten : (await now()).checkEnvironment(folder, rewritten);
    },
    leave: async (isUnderWay) => {
      await close();
      const repository = await repositoryNow();
      await onDisk(() => leaveWorkStart(repository, options, isUnderWay));
    },
    close,
  };
}

interface Closable {
  close(): Promise<void>;
}

interface StartState {
  readonly isUnderWay: boolean;
  readonly isKept: boolean;
}

/**
 * Opens the start of the work. `isUnderWay`: an earlier engine worked on stories, so agents may have changed the
 * current state. Then the record of the start is used, except for changes that were made while no engine ran.
 */
async function openWorkStart(
  repository: Repository,
  options: StartOptions,
  { isUnderWay, isKept }: StartState,
  notes: HomeNotes,
): Promise<WorkStart & Closable> {
  const { userState } = options;
  const file = recordFile(userState, repository);
  const record = isUnderWay ? await readRecord(file) : null;
  const settings = await readCheckoutSettings(repository);
  const packages = await nextRecord(repository, options, record, settings);
  const unkept = join(userState, "homes", "tried");
  const folder = isKept
    ? `${recordName(userState, repository)}.home-${processUniqueName()}`
    : join(unkept, processUniqueName());
  await removeOrphaned(unkept);
  const home = options.home === undefined ? null : await nextHome(options.home, folder, record);
  if (isKept) {
    await writeRecord(file, home === null ? packages : { ...packages, home });
    await pin(repository, options, packages.key, true);
    await removeOtherHomes(recordName(userState, repository), home);
  }
  const sayReal = once(() =>
    options.onNotice?.(
      `the checks run with your own HOME and without a sandbox, because ${reasonFor(home?.leftOut ?? [])}; to try again: rm ${notes.file}`,
    ),
  );
  const homes = home === null ? null : createCheckHomes(userState, options.home!, home);
  const environment = async (checkout: string, env: Environment, purpose: Purpose): Promise<Environment> => {
    if (homes === null) return env;
    if (!(await notes.isReal())) return onDisk(() => homes.environment(checkout, env, purpose));
    sayReal();
    return env;
  };
  return {
    settings: packages.settings,
    dependencies: keptDependencies(repository, userState, packages.key, options),
    isSandboxed: async () => !(await notes.isReal()),
    leftOut: home?.leftOut ?? [],
    checkEnvironment: (checkout, env) => environment(checkout, env, "checks"),
    setupEnvironment: (checkout, env) => environment(checkout, env, "setup"),
    forget: async (checkout) => homes?.forget(checkout),
    close: async () => {
      await homes?.close();
      if (!isKept && home !== null && home.folder === folder) await removeFolder(folder);
    },
  };
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

const listOf = (paths: readonly string[]): string =>
  paths.length > MOST_NAMED
    ? `${paths.slice(0, MOST_NAMED).join(", ")} and ${paths.length - MOST_NAMED} more`
    : paths.join(", ");
const MOST_NAMED = 6;

const reasonFor = (leftOut: readonly string[]): string =>
  leftOut.length === 0 ? "the base fails in it" : `they fail in a HOME without ${listOf(leftOut)}`;

/**
 * Returns the settings of HOME. After a killed engine these are the settings of its start; otherwise a person's later
 * changes are taken over.
 */
async function nextHome(home: string, folder: string, record: StartRecord | null): Promise<KeptHome> {
  const kept = record?.home !== undefined && existsSync(record.home.folder) ? record.home : null;
  if (kept === null || record?.left === undefined) return kept ?? keepHome(home, folder, null);
  return keepHome(home, folder, { kept, left: record.left.home });
}

async function removeOtherHomes(name: string, kept: KeptHome | null): Promise<void> {
  for (const each of await readdir(dirname(name))) {
    const folder = join(dirname(name), each);
    if (folder.startsWith(`${name}.home-`) && folder !== kept?.folder) await removeFolder(folder);
  }
}

async function nextRecord(
  repository: Repository,
  options: StartOptions,
  record: StartRecord | null,
  settings: CheckoutSettings,
): Promise<StartRecord> {
  if (record === null) return { ...(await keepCheckout(repository, options.userState, options)), settings };
  const { installed } = await lookAtCheckout(repository, options);
  const { left } = record;
  const isInstalled = left !== undefined && left.installed !== installed;
  const isSet = left !== undefined && left.settings !== hashOf(settings);
  const changed = [
    ...(!isInstalled && record.installed !== installed ? [`the installed packages in ${repository.top}`] : []),
    ...(!isSet && hashOf(record.settings) !== hashOf(settings) ? ["the settings of git"] : []),
  ];
  if (changed.length > 0)
    options.onNotice?.(
      `${changed.join(" and ")} changed while agents worked: checks use those from before. To use them as they are now, stop Remand, rm ${recordFile(options.userState, repository)}, and start it again`,
    );
  const packages = isInstalled ? await keepCheckout(repository, options.userState, options) : record;
  return { key: packages.key, installed: packages.installed, settings: isSet ? settings : record.settings };
}

/** Removes the record if no story is under way; otherwise records the state at the end. */
async function leaveWorkStart(repository: Repository, options: StartOptions, isUnderWay: boolean): Promise<void> {
  const file = recordFile(options.userState, repository);
  const record = await readRecord(file);
  if (record === null) return;
  const { installed } = await lookAtCheckout(repository, options);
  if (installed !== record.installed)
    options.onNotice?.(
      `the installed packages in ${repository.top} changed during this run; checks did not use them. Install them again if it was not you`,
    );
  if (!isUnderWay) {
    await pin(repository, options, record.key, false);
    await removeOtherHomes(recordName(options.userState, repository), null);
    return rm(file, { force: true });
  }
  const settings = hashOf(await readCheckoutSettings(repository));
  const home = options.home === undefined ? {} : homeStamps(options.home);
  await writeRecord(file, { ...record, left: { installed, settings, home } });
}

const hashOf = (settings: CheckoutSettings): string => sha256(JSON.stringify(settings));

async function pin(repository: Repository, { userState }: StartOptions, key: string, isPinned: boolean): Promise<void> {
  await createDependencyStore(storeFolder(userState, repository)).pin(key, isPinned);
}

async function readRecord(file: string): Promise<StartRecord | null> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  });
  return text === null ? null : (JSON.parse(text) as StartRecord);
}

/** Written with mode 0600, because settings may contain the login of a remote. */
async function writeRecord(file: string, record: StartRecord): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${processUniqueName()}`;
  await writeFile(fresh, JSON.stringify(record), { mode: 0o600 });
  await rename(fresh, file);
}
