import { join } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { LOCKFILES } from "../../../parse/code/manifests.ts";
import { sha256 } from "../../../stdx/sha256.ts";
import {
  isInstalledFolder,
  liveSource,
  type KeptDependencies,
  generatedIn,
  GO_WORKSPACE,
  MANIFESTS,
} from "./dependency-source.ts";
import { createDependencyStore, type CheckoutCopy } from "./dependency-store.ts";
import { fingerprintOf, stampFiles } from "./folder-stamps.ts";
import { isPythonProject } from "../python/python-folders.ts";
import type { Repository } from "../repository.ts";

export interface KeepOptions {
  readonly share: readonly string[] | null;
  readonly carry?: readonly string[];
  onNotice?(text: string): void;
}

/** Returns the folder for the packages of one repository. */
export const storeFolder = (userState: string, { top }: Repository): string =>
  join(userState, "dependencies", sha256(top).slice(0, 16));

/** Lists what clean checkouts take from the user's checkout besides tracked files, without reading the files. */
export async function lookAtCheckout(
  { git, top }: Repository,
  { share, carry = [] }: KeepOptions,
): Promise<{ readonly copy: CheckoutCopy } & Fingerprints> {
  const live = liveSource(git, top);
  const ignored = await live.ignored();
  const patterns = [...LOCKFILES, ...MANIFESTS].map((name) => `:(glob)**/${name}`);
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...patterns];
  const manifests = (await git.run(list)).split("\0").filter((path) => path !== "");
  const installed = new Set([
    ...ignored.filter(isInstalledFolder),
    ...GO_WORKSPACE,
    ...(manifests.some(isPythonProject) ? await generatedIn(live) : []),
    ...carry.map(plainPath),
    ...(share ?? []).map(plainPath),
  ]);
  const paths = [...new Set([...installed, ...LOCKFILES, ...manifests])];
  const files = await stampFiles(top, paths);
  const texts = new Set([...LOCKFILES, ...manifests]);
  return {
    copy: { checkout: top, paths, ignored, files },
    fingerprint: fingerprintOf(files),
    installed: fingerprintOf(files.filter(({ path }) => !texts.has(path))),
  };
}

interface Fingerprints {
  /** Of everything that is copied. */
  readonly fingerprint: string;
  /** Without lockfiles and manifests, which legitimate work changes. */
  readonly installed: string;
}

const plainPath = (path: string): string => path.replace(/^\.\//, "").replace(/\/$/, "");

/** Returns the name of the store's entry for a state of the checkout. */
const keyOf = (fingerprint: string, { share, carry = [] }: KeepOptions): string =>
  sha256(JSON.stringify(["checkout", fingerprint, share, carry]));

/** Copies what is installed in the user's checkout, unless the store has a copy of the same state. */
export async function keepCheckout(
  repository: Repository,
  userState: string,
  options: KeepOptions,
): Promise<{ readonly key: string; readonly installed: string }> {
  const store = createDependencyStore(storeFolder(userState, repository));
  const { copy, fingerprint, installed } = await lookAtCheckout(repository, options);
  const key = keyOf(fingerprint, options);
  if ((await store.find(key)) !== null) return { key, installed };
  const say = slowCopyNotice(copy, options);
  await store.keepCopy(key, copy, say);
  return { key, installed };
}

function slowCopyNotice({ files, checkout }: CheckoutCopy, { onNotice }: KeepOptions): () => void {
  const beganAt = Date.now();
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  let isSaid = false;
  return () => {
    if (isSaid || Date.now() - beganAt < SLOW_MS) return;
    isSaid = true;
    onNotice?.(
      `copying the installed packages of ${checkout} for the checks (${files.length} files, ${Math.ceil(bytes / 1e6)} MB): once, until they change`,
    );
  };
}

const SLOW_MS = 3000;

/** Returns the dependencies of an existing copy. */
export function keptDependencies(
  repository: Repository,
  userState: string,
  key: string,
  options: KeepOptions,
): KeptDependencies {
  const store = createDependencyStore(storeFolder(userState, repository));
  return {
    store,
    async source() {
      let lost = "";
      const found = await store.find(key, (path) => (lost = path));
      if (found !== null) return found;
      const { copy, fingerprint } = await lookAtCheckout(repository, options);
      if (keyOf(fingerprint, options) === key) return store.keepCopy(key, copy, slowCopyNotice(copy, options));
      throw new RemandError(
        "workspace-broken",
        lost === ""
          ? `the copy of the packages of ${repository.top} from the start of the work is gone, and they have changed since`
          : `${lost} was changed in the copy of the packages from the start of the work, and in ${repository.top} too`,
        "Stop Remand, install the project's packages again (such as npm ci), and start it again.",
      );
    },
  };
}
