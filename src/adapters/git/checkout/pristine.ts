import { mkdir, open, readFile, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "../../../stdx/sha256.ts";
import { runProcess } from "../../process/run-process.ts";
import { type Repository, isAlivePid, ownName } from "../repository.ts";
import { removeFolder } from "../remove-folder.ts";
import { applyChanges, treeChanges } from "../tree-changes.ts";
import { type CheckoutSettings, makePrivateRepository, nameOwnPath } from "./private-repository.ts";

/** A checkout in which nothing ever ran: clean checkouts show its files and write elsewhere. */
export interface Pristine {
  readonly path: string;
  /** Layers with what builds of this tree left, the newest first. */
  readonly caches: readonly string[];
  /** Is one of them of a build of this very tree? */
  readonly hasOwnCaches: boolean;
  /** Adds a layer; `move` fills its folder. */
  addCaches(move: (folder: string) => Promise<void>): Promise<void>;
  /** It may be removed when no checkout uses it. */
  release(): Promise<void>;
}

/**
 * The pristine checkout of a tree, made if there is none. A new one is made of the newest that there is: files that do
 * not differ are the same files on the disk, with the same times.
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
        // Each build adds a layer; instead of too many, the next build begins without any.
        const layers = caches.layers.length < MOST_LAYERS ? [ownName(), ...caches.layers] : [];
        if (layers.length > 0) await move(join(folder, "caches", layers[0]!));
        const aside = join(path, `${ownName()}.json`);
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

/** Marks it before it is looked for: a process that removes old ones sees the mark. */
async function markUsed(path: string): Promise<() => Promise<void>> {
  const marks = `${path}.used`;
  await mkdir(marks, { recursive: true });
  const mark = join(marks, ownName());
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
  const making = join(all, `${ownName()}.making`);
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
      // What differs was written now, and so after these caches: builds see that.
      await writeFile(join(making, CACHES), JSON.stringify({ ...(await cachesOf(source)), isOwn: false }));
    }
    await rename(making, join(all, key)).catch(async (error: unknown) => {
      // Another process made the same one meanwhile.
      if (!(await exists(join(all, key, "files")))) throw error;
    });
  } finally {
    await removeFolder(making);
  }
}

/** Hard links: only git writes here, and it never writes into a file that is there. */
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

/** Long ago, so that no build takes a file for newer than what was made of it. */
async function setTimes(folder: string, paths: readonly string[]): Promise<void> {
  // A link, and a submodule's folder, have no time that a build asks for.
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

/** What builds of a tree left, in layers. */
export interface KeptCaches {
  /** Was one of them made by a build of this very tree? Else they are those of the tree that it was made of. */
  readonly isOwn: boolean;
  /** Names of folders, the newest first. */
  readonly layers: readonly string[];
}

const NO_CACHES: KeptCaches = { isOwn: false, layers: [] };

async function cachesOf(pristine: string): Promise<KeptCaches> {
  const text = await readFile(join(pristine, CACHES), "utf8").catch(() => null);
  return text === null ? NO_CACHES : (JSON.parse(text) as KeptCaches);
}

const CACHES = "caches.json";

/** Are there caches for this tree, with whatever settings? */
export async function hasCaches(folder: string, tree: string): Promise<boolean> {
  const all = join(folder, "pristine");
  for (const name of await readdir(all).catch(() => []))
    if (name.startsWith(`${tree}-`) && (await cachesOf(join(all, name))).layers.length > 0) return true;
  return false;
}

const MOST_LAYERS = 6;

/** A few are kept, for stories that started from different commits. */
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
    // Renamed first: what is half removed is never used.
    const gone = join(all, `${ownName()}.making`);
    await rename(join(all, name), gone).catch(() => undefined);
    // A checkout that began to use it meanwhile keeps it.
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

/** A checkout that shows them may still be open. */
const A_DAY = 24 * 60 * 60 * 1000;

const ageOf = async (path: string): Promise<number> => Date.now() - (await stat(path)).mtimeMs;

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;

/**
 * Folders with what a build keeps for the next one, by the tag that tools put there (https://bford.info/cachedir):
 * `target` of Cargo, the caches of pytest, mypy and ruff. `written` holds what a run wrote; `checkout` shows all of it.
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

/** Moves the caches of a run of the base to a layer that later checkouts of this tree, and of those after it, show. */
export async function keepCaches(pristine: Pristine, written: string, caches: readonly string[]): Promise<void> {
  if (pristine.hasOwnCaches || caches.length === 0) return;
  await pristine.addCaches(async (layer) => {
    for (const path of caches) {
      await mkdir(dirname(join(layer, path)), { recursive: true });
      await rename(join(written, path), join(layer, path));
    }
  });
}
