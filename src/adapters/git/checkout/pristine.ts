import { mkdir, open, readFile, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "../../../stdx/sha256.ts";
import { runProcess } from "../../process/run-process.ts";
import { type Repository, isAlivePid, processUniqueName } from "../repository.ts";
import { removeFolder } from "../remove-folder.ts";
import { applyChanges, treeChanges } from "../tree-changes.ts";
import { type CheckoutSettings, makePrivateRepository, nameOwnPath } from "./private-repository.ts";

/** A checkout in which nothing ever ran. Clean checkouts show its files and write elsewhere. */
export interface Pristine {
  readonly path: string;
  /** Layers of build caches, newest first. */
  readonly caches: readonly string[];
  /** Whether one of the layers comes from a build of exactly this tree. */
  readonly hasOwnCaches: boolean;
  /** Adds a layer; `move` fills its folder. */
  addCaches(move: (folder: string) => Promise<void>): Promise<void>;
  /** Marks the checkout as unused; it may be removed when no other checkout uses it. */
  release(): Promise<void>;
}

/**
 * Opens the pristine checkout of a tree, and makes it if needed. A new one is made from the newest existing one by hard
 * links: unchanged files are the same files on disk, with the same times.
 */
export async function openPristine(
  repository: Repository,
  folder: string,
  tree: string,
  settings: CheckoutSettings,
): Promise<Pristine> {
  const all = join(folder, "pristine");
  const key = `${tree}-${sha256(JSON.stringify(settings)).slice(0, 12)}`;
  const path = join(all, key);
  await mkdir(all, { recursive: true, mode: 0o700 });
  const release = await markUsed(path);
  try {
    if (!(await exists(join(path, "files")))) await makePristine(repository, all, key, tree, settings);
    const now = new Date();
    await utimes(path, now, now);
    await removeOldest(folder, all);
    const caches = await cachesOf(path);
    return {
      path: join(path, "files"),
      caches: caches.layers.map((name) => join(folder, "caches", name)),
      hasOwnCaches: caches.isOwn,
      async addCaches(move) {
        // Each build adds a layer. At the limit, the next build starts without caches.
        const layers = caches.layers.length < MOST_LAYERS ? [processUniqueName(), ...caches.layers] : [];
        if (layers.length > 0) await move(join(folder, "caches", layers[0]!));
        const aside = join(path, `${processUniqueName()}.json`);
        await writeFile(aside, JSON.stringify({ isOwn: true, layers }));
        await rename(aside, join(path, CACHES));
      },
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * Marks the checkout as used. Call it before looking for the checkout, so that a process that removes old ones sees the
 * mark.
 */
async function markUsed(path: string): Promise<() => Promise<void>> {
  const marks = `${path}.used`;
  await mkdir(marks, { recursive: true });
  const mark = join(marks, processUniqueName());
  await writeFile(mark, "");
  return () => rm(mark, { force: true });
}

async function makePristine(
  repository: Repository,
  all: string,
  key: string,
  tree: string,
  settings: CheckoutSettings,
): Promise<void> {
  const making = join(all, `${processUniqueName()}.making`);
  const files = join(making, "files");
  await mkdir(making);
  try {
    const source = await newestLike(all, key);
    if (source === null || !(await copyByLinks(join(source, "files"), files))) {
      await removeFolder(files);
      const own = await makePrivateRepository(repository, files, { commit: null, tree }, settings);
      await setTimes(files, (await own.run(["ls-files", "-z"])).split("\0"));
      await own.ask(["update-index", "-q", "--refresh"]);
    } else {
      const from = source.slice(all.length + 1).split("-")[0]!;
      await nameOwnPath(files);
      await applyChanges(repository.gitIn(files), files, await treeChanges(repository.git, from, tree));
      // Changed files are written now, so they are newer than these caches and builds notice them.
      await writeFile(join(making, CACHES), JSON.stringify({ ...(await cachesOf(source)), isOwn: false }));
    }
    await rename(making, join(all, key)).catch(async (error: unknown) => {
      // Another process made the same checkout in the meantime.
      if (!(await exists(join(all, key, "files")))) throw error;
    });
  } finally {
    await removeFolder(making);
  }
}

/** Copies by hard links. Safe, because only git writes here, and git replaces files instead of writing into them. */
async function copyByLinks(from: string, to: string): Promise<boolean> {
  const run = async (...command: [string, ...string[]]): Promise<boolean> => {
    const env = { PATH: process.env["PATH"] ?? "" };
    const ended = await runProcess({ command, cwd: "/", env, timeoutMs: 600_000, sandbox: null, survivors: "spare" });
    return ended.status === "exited" && ended.exitCode === 0;
  };
  if (!(await run("cp", "-al", from, to))) return false;
  await removeFolder(join(to, ".git"));
  return run("cp", "-a", join(from, ".git"), join(to, ".git"));
}

async function newestLike(all: string, key: string): Promise<string | null> {
  const settings = key.slice(key.indexOf("-"));
  let newest: { path: string; at: number } | null = null;
  for (const name of await readdir(all)) {
    if (!name.endsWith(settings)) continue;
    const at = (await stat(join(all, name, "files")).catch(() => null))?.mtimeMs;
    if (at !== undefined && at >= (newest?.at ?? 0)) newest = { path: join(all, name), at };
  }
  return newest?.path ?? null;
}

/** Sets the files' times to long ago, so that no build takes a source for newer than its output. */
async function setTimes(folder: string, paths: readonly string[]): Promise<void> {
  // Links and folders of submodules need no time.
  for (let at = 0; at < paths.length; at += AT_ONCE)
    await Promise.all(
      paths
        .slice(at, at + AT_ONCE)
        .filter((path) => path !== "")
        .map((path) => utimes(join(folder, path), LONG_AGO, LONG_AGO).catch(() => undefined)),
    );
}

const AT_ONCE = 64;
const LONG_AGO = new Date("2000-01-01T00:00:00Z");

/** Build caches of a tree, in layers. */
export interface KeptCaches {
  /**
   * Whether one of the layers comes from a build of exactly this tree; otherwise all come from the tree it was made
   * from.
   */
  readonly isOwn: boolean;
  /** Names of folders, newest first. */
  readonly layers: readonly string[];
}

const NO_CACHES: KeptCaches = { isOwn: false, layers: [] };

async function cachesOf(pristine: string): Promise<KeptCaches> {
  const text = await readFile(join(pristine, CACHES), "utf8").catch(() => null);
  return text === null ? NO_CACHES : (JSON.parse(text) as KeptCaches);
}

const CACHES = "caches.json";

/** Whether there are caches for this tree, with any settings. */
export async function hasCaches(folder: string, tree: string): Promise<boolean> {
  const all = join(folder, "pristine");
  for (const name of await readdir(all).catch(() => []))
    if (name.startsWith(`${tree}-`) && (await cachesOf(join(all, name))).layers.length > 0) return true;
  return false;
}

const MOST_LAYERS = 6;

/** More than one, because stories may start from different commits. */
const MOST_KEPT = 3;

async function removeOldest(folder: string, all: string): Promise<void> {
  const found: { name: string; at: number }[] = [];
  for (const name of await readdir(all)) {
    if (name.endsWith(".making") && !isAlivePid(Number(name.split("-")[0]))) await removeFolder(join(all, name));
    const at = name.includes(".") ? undefined : (await stat(join(all, name)).catch(() => null))?.mtimeMs;
    if (at !== undefined) found.push({ name, at });
  }
  const old = found.toSorted((a, b) => b.at - a.at).slice(MOST_KEPT);
  for (const { name } of old) {
    if (await isUsed(join(all, `${name}.used`))) continue;
    // Rename first, so that a partly removed checkout is never used.
    const gone = join(all, `${processUniqueName()}.making`);
    await rename(join(all, name), gone).catch(() => undefined);
    // Give the folder back if a checkout began to use it in the meantime.
    if (await isUsed(join(all, `${name}.used`))) await rename(gone, join(all, name)).catch(() => undefined);
    await removeFolder(gone);
  }
  if (old.length > 0) await removeUnusedCaches(folder, all);
}

async function isUsed(marks: string): Promise<boolean> {
  const names = await readdir(marks).catch(() => []);
  return names.some((name) => isAlivePid(Number(name.split("-")[0])));
}

async function removeUnusedCaches(folder: string, all: string): Promise<void> {
  const kept = new Set<string>();
  for (const name of await readdir(all)) for (const cache of (await cachesOf(join(all, name))).layers) kept.add(cache);
  for (const name of await readdir(join(folder, "caches")).catch(() => []))
    if (!kept.has(name) && (await ageOf(join(folder, "caches", name))) > A_DAY)
      await removeFolder(join(folder, "caches", name));
}

/** Unused caches younger than this are kept, because a checkout that shows them may still be open. */
const A_DAY = 24 * 60 * 60 * 1000;

const ageOf = async (path: string): Promise<number> => Date.now() - (await stat(path)).mtimeMs;

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;

/**
 * Finds folders of build caches by the tag that tools put there (https://bford.info/cachedir): `target` of Cargo, the
 * caches of pytest, mypy and ruff. `written` is the folder with only what a run wrote; `checkout` shows all files.
 */
export async function findCaches(written: string, checkout: string): Promise<readonly string[]> {
  const found: string[] = [];
  const look = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(written, folder), { withFileTypes: true })) {
      if (!entry.isDirectory() || entry.name === ".git" || entry.name === "node_modules") continue;
      const path = join(folder, entry.name);
      if (await isTagged(join(checkout, path))) found.push(path);
      else if (depth < DEEPEST) await look(path, depth + 1);
    }
  };
  await look("", 0);
  return found;
}

const DEEPEST = 3;

const TAG = "Signature: 8a477f597d28d172789f06886806bc55";

async function isTagged(folder: string): Promise<boolean> {
  const file = await open(join(folder, "CACHEDIR.TAG")).catch(() => null);
  if (file === null) return false;
  try {
    const { buffer } = await file.read(Buffer.alloc(TAG.length), 0, TAG.length, 0);
    return buffer.toString("latin1") === TAG;
  } finally {
    await file.close();
  }
}

/** Moves the caches of a run of the base to a layer, which later checkouts of this tree and of its successors show. */
export async function keepCaches(pristine: Pristine, written: string, caches: readonly string[]): Promise<void> {
  if (pristine.hasOwnCaches || caches.length === 0) return;
  await pristine.addCaches(async (layer) => {
    for (const path of caches) {
      await mkdir(dirname(join(layer, path)), { recursive: true });
      await rename(join(written, path), join(layer, path));
    }
  });
}
