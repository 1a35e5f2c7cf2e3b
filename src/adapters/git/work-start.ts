import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "../../stdx/sha256.ts";
import type { Environment } from "../process/environment.ts";
import type { KeptDependencies } from "./dependency-source.ts";
import { createDependencyStore } from "./dependency-store.ts";
import { onDisk } from "./disk-error.ts";
import { keepCheckout, keptDependencies, lookAtCheckout, storeFolder, type KeepOptions } from "./kept-checkout.ts";
import { readCheckoutSettings, type CheckoutSettings } from "./private-repository.ts";
import { repositoryOpener, type Repository } from "./repository.ts";
import { ownName } from "./own-name.ts";

/** What clean checkouts are made with, besides the tree: as it was before an agent worked. */
export interface WorkStart {
  readonly settings: CheckoutSettings;
  readonly dependencies: KeptDependencies;
}

/** Kept in the user's state folder, so that it outlives the engine. */
interface StartRecord {
  readonly key: string;
  /** Fingerprint of what is installed in the user's checkout. */
  readonly installed: string;
  readonly settings: CheckoutSettings;
  /** How the checkout was when the engine ended: what is different later was changed by a person. */
  readonly left?: { readonly installed: string; readonly settings: string };
}

export interface StartOptions extends KeepOptions {
  readonly userState: string;
  readonly env?: Environment;
}

const recordFile = (userState: string, { top, prefix }: Repository): string =>
  join(userState, "starts", `${sha256(join(top, prefix)).slice(0, 16)}.json`);

/** The start of the work of one engine. */
export interface WorkStarter {
  /** Before an agent works. `isUnderWay`: stories have been worked on, by an engine that has ended. */
  open(isUnderWay: boolean): Promise<void>;
  /** Before it was opened: what the record says, or else what is there. */
  now(): Promise<WorkStart>;
  leave(isUnderWay: boolean): Promise<void>;
}

export function createWorkStarter(root: string, options: StartOptions): WorkStarter {
  const repositoryNow = repositoryOpener(root, options.env);
  let opened: Promise<WorkStart> | null = null;
  const openAs = (about: { readonly isUnderWay: boolean; readonly isKept: boolean }): Promise<WorkStart> =>
    (opened = repositoryNow()
      .then((repository) => onDisk(() => openWorkStart(repository, options, about)))
      .catch((error: unknown) => {
        // Tried again when it is needed.
        opened = null;
        throw error;
      }));
  return {
    open: async (isUnderWay) => void (await openAs({ isUnderWay, isKept: true })),
    now: () => opened ?? openAs({ isUnderWay: true, isKept: false }),
    leave: async (isUnderWay) => {
      const repository = await repositoryNow();
      await onDisk(() => leaveWorkStart(repository, options, isUnderWay));
    },
  };
}

/**
 * The start of the work. `isUnderWay`: stories have been worked on before, so that agents may have changed what is
 * there; then the record of their start decides, except about what was changed while no engine ran.
 */
async function openWorkStart(
  repository: Repository,
  options: StartOptions,
  { isUnderWay, isKept }: { readonly isUnderWay: boolean; readonly isKept: boolean },
): Promise<WorkStart> {
  const file = recordFile(options.userState, repository);
  const record = isUnderWay ? await readRecord(file) : null;
  const settings = await readCheckoutSettings(repository);
  const next = await nextRecord(repository, options, record, settings);
  if (isKept) {
    await writeRecord(file, next);
    await pin(repository, options, next.key, true);
  }
  return {
    settings: next.settings,
    dependencies: keptDependencies(repository, options.userState, next.key, options),
  };
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
  if (!isInstalled && record.installed !== installed)
    options.onNotice?.(
      `the installed packages in ${repository.top} changed while agents worked: checks use those from before; to use the new ones, stop Remand, install them again, and start it`,
    );
  if (!isSet && hashOf(record.settings) !== hashOf(settings))
    options.onNotice?.(
      "the settings of git changed while agents worked: checkouts for checks use those from before; to use the new ones, stop Remand, set them again, and start it",
    );
  const packages = isInstalled ? await keepCheckout(repository, options.userState, options) : record;
  return { key: packages.key, installed: packages.installed, settings: isSet ? settings : record.settings };
}

/** The engine ends. Where nothing is under way any more, the record is not needed; else it says how things were left. */
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
    return rm(file, { force: true });
  }
  const settings = hashOf(await readCheckoutSettings(repository));
  await writeRecord(file, { ...record, left: { installed, settings } });
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

/** Settings may hold the login of a remote. */
async function writeRecord(file: string, record: StartRecord): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${ownName()}`;
  await writeFile(fresh, JSON.stringify(record), { mode: 0o600 });
  await rename(fresh, file);
}
