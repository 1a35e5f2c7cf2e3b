import { constants, existsSync } from "node:fs";
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { runProcess } from "../../process/run-process.ts";
import { keptSource, type DependencySource, type InstallationStore } from "./dependency-source.ts";
import { stampFiles, stampOf, type StampedFile } from "./folder-stamps.ts";
import { projectTargetOf } from "./link-packages.ts";
import { processUniqueName } from "../repository.ts";
import { removeOrphaned, removeFolder } from "../remove-folder.ts";

/** What to copy from a checkout. */
export interface CheckoutCopy {
  readonly checkout: string;
  /** Paths to copy, with everything below them. */
  readonly paths: readonly string[];
  /** Paths that git ignores there. */
  readonly ignored: readonly string[];
  /** The files below `paths`. */
  readonly files: readonly StampedFile[];
}

/**
 * Installed packages of one repository, kept in the user's state folder, where no agent works. An entry is written to a
 * temporary folder and renamed, so that it is complete or absent, even after a kill or with a second writer.
 */
interface DependencyStore extends InstallationStore {
  /** Pins or unpins an entry. A pinned entry is not removed to save space. */
  pin(key: string, isPinned: boolean): Promise<void>;
  keepCopy(key: string, copy: CheckoutCopy, onProgress: () => void): Promise<DependencySource>;
}

interface Entry {
  readonly checkout: string;
  readonly paths: readonly string[];
  readonly ignored: readonly string[];
  readonly bytes: number;
  /** Per file, its stamp in the store and in the checkout it was copied from (empty: it was moved here). */
  readonly files: Readonly<Record<string, readonly [own: string, source: string]>>;
}

export function createDependencyStore(folder: string): DependencyStore {
  const at = (key: string): string => join(folder, key.slice(0, 32));
  const sourceOf = (key: string, { checkout, ignored }: Entry): DependencySource =>
    keptSource(join(at(key), "files"), checkout, ignored);
  const keep = async (key: string, fill: (files: string) => Promise<Entry>): Promise<DependencySource> => {
    await mkdir(join(folder, ASIDE), { recursive: true, mode: 0o700 });
    await removeOrphaned(join(folder, ASIDE));
    const aside = join(folder, ASIDE, processUniqueName());
    await mkdir(join(aside, "files"), { recursive: true });
    try {
      const entry = await fill(join(aside, "files"));
      await writeEntry(aside, entry);
      await rename(aside, at(key)).catch(async (error: unknown) => {
        // Another engine made the same entry in the meantime.
        if (!/^(?:EEXIST|ENOTEMPTY)$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
      });
    } finally {
      await removeFolder(aside);
    }
    await trim(folder, at(key));
    const made = await readEntry(at(key));
    if (made === null) throw brokenStore(at(key), "it was removed while it was made");
    return sourceOf(key, made);
  };
  return {
    async find(key, onLost) {
      const entry = await readEntry(at(key));
      if (entry === null) return null;
      const lost = (await isUntouched(at(key))) ? null : await restore(at(key), entry);
      if (lost === null) {
        const now = new Date();
        await utimes(join(at(key), "entry.json"), now, now);
        return sourceOf(key, entry);
      }
      onLost?.(lost);
      await removeFolder(at(key));
      return null;
    },
    async pin(key, isPinned) {
      if (isPinned) await writeFile(join(at(key), PINNED), "");
      else await rm(join(at(key), PINNED), { force: true });
    },
    keepCopy: (key, copy, onProgress) => keep(key, (files) => copyInto(files, copy, onProgress)),
    keepMoved: (key, place, folders) => keep(key, (files) => moveInto(files, place, folders)),
  };
}

/** The folder of entries that are not complete yet. */
const ASIDE = "unfinished";
/** The name of a file which marks that stories depend on the entry. */
const PINNED = "pinned";

async function readEntry(folder: string): Promise<Entry | null> {
  const text = await readFile(join(folder, "entry.json"), "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  });
  return text === null ? null : (JSON.parse(text) as Entry);
}

async function copyInto(target: string, copy: CheckoutCopy, onProgress: () => void): Promise<Entry> {
  const files: Record<string, readonly [string, string]> = {};
  const folders = new Set<string>();
  for (const { path } of copy.files) folders.add(dirname(path));
  for (const folder of folders) await mkdir(join(target, folder), { recursive: true });
  await eachOf(copy.files, async (file) => {
    files[file.path] = [await copyOne(copy.checkout, target, file), file.stamp];
    onProgress();
  });
  const { checkout, paths, ignored } = copy;
  return { checkout, paths, ignored, bytes: copy.files.reduce((sum, { size }) => sum + size, 0), files };
}

/** Copies one file or link and returns the stamp of the copy. */
async function copyOne(checkout: string, target: string, { path, isLink, mode, mtimeMs }: CopiedFile): Promise<string> {
  const [from, to] = [join(checkout, path), join(target, path)];
  if (isLink) {
    await symlink(await linkText(checkout, from, path), to);
  } else {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await chmod(to, mode & 0o777);
    // Compiled Python is valid only for a source with a certain time.
    await utimes(to, mtimeMs / 1000, mtimeMs / 1000);
  }
  return stampOf(await lstat(to));
}

type CopiedFile = Pick<StampedFile, "path" | "isLink" | "mode" | "mtimeMs">;

/**
 * Returns the target of a copied link. Links among packages stay as they are; links to the project's files or to
 * anything else get an absolute target.
 */
async function linkText(checkout: string, link: string, path: string): Promise<string> {
  const text = await readlink(link);
  const project = await projectTargetOf(link, { root: checkout, checkout });
  if (project !== null && !isAmongInstalled(project)) return join(checkout, project);
  const target = resolve(dirname(link), text);
  const inside = relative(checkout, target);
  if (inside.startsWith(`..${sep}`) || inside === "..") return target;
  return relative(dirname(path), inside) || ".";
}

const isAmongInstalled = (path: string): boolean =>
  /(?:^|\/)(?:\.?venv|vendor|deps|\.bundle|bower_components)\//.test(path);

async function moveInto(target: string, place: string, folders: readonly string[]): Promise<Entry> {
  for (const folder of folders) {
    await mkdir(dirname(join(target, folder)), { recursive: true });
    await rename(join(place, folder), join(target, folder));
  }
  const stamped = await stampFiles(target, folders);
  const files = Object.fromEntries(stamped.map(({ path, stamp }) => [path, [stamp, ""] as const]));
  return {
    checkout: place,
    paths: folders,
    ignored: folders,
    bytes: stamped.reduce((sum, { size }) => sum + size, 0),
    files,
  };
}

/**
 * Restores an entry to its original state, because a check may write into it where nothing prevents that. Removes added
 * files, and copies changed files again if their source is unchanged. Returns a file that cannot be restored, or
 * `null`.
 */
async function restore(folder: string, entry: Entry): Promise<string | null> {
  const root = join(folder, "files");
  const beganAt = Date.now();
  const there = new Map((await stampFiles(root, entry.paths)).map((file) => [file.path, file.stamp]));
  for (const path of there.keys()) if (!Object.hasOwn(entry.files, path)) await rm(join(root, path), { force: true });
  const changed = Object.keys(entry.files).filter((path) => there.get(path) !== entry.files[path]![0]);
  if (changed.length === 0) {
    await markLookedAt(folder, beganAt);
    return null;
  }
  const files = { ...entry.files };
  for (const path of changed) {
    const [, source] = entry.files[path]!;
    const now = source === "" ? null : await lstat(join(entry.checkout, path)).catch(() => null);
    if (now === null || stampOf(now) !== source) return path;
    await rm(join(root, path), { recursive: true, force: true });
    await mkdir(dirname(join(root, path)), { recursive: true });
    const { mode, mtimeMs } = now;
    files[path] = [await copyOne(entry.checkout, root, { path, isLink: now.isSymbolicLink(), mode, mtimeMs }), source];
  }
  await writeEntry(folder, { ...entry, files });
  return null;
}

/** The name of a file whose time says when the entry was last found complete. */
const LOOKED_AT = "looked-at";

async function markLookedAt(folder: string, beganAt: number): Promise<void> {
  const time = (beganAt - CLOCK_MS) / 1000;
  await writeFile(join(folder, LOOKED_AT), "");
  await utimes(join(folder, LOOKED_AT), time, time);
}

/** File systems keep times with a coarser clock than the process. */
const CLOCK_MS = 20;

/**
 * Whether nothing below has changed since it was last found complete. The system's `find` walks many times faster than
 * Node; if it fails, the answer is no and every file is compared.
 */
async function isUntouched(folder: string): Promise<boolean> {
  const marker = join(folder, LOOKED_AT);
  if (!existsSync(marker)) return false;
  const { status, exitCode, output } = await runProcess({
    command: ["find", join(folder, "files"), "-cnewer", marker, "-print", "-quit"],
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
    timeoutMs: 60_000,
    sandbox: null,
    survivors: "spare",
  });
  return status === "exited" && exitCode === 0 && output === "";
}

async function writeEntry(folder: string, entry: Entry): Promise<void> {
  const fresh = join(folder, `entry.${processUniqueName()}`);
  await writeFile(fresh, JSON.stringify(entry));
  await rename(fresh, join(folder, "entry.json"));
}

function brokenStore(folder: string, why: string): RemandError {
  return new RemandError(
    "workspace-broken",
    `the kept packages in ${folder} cannot be used: ${why}`,
    "Run the same command again.",
  );
}

/** Removes the oldest entries when there are too many or they are too large, except those that a run may still use. */
async function trim(folder: string, kept: string): Promise<void> {
  const entries: { path: string; usedAt: number; bytes: number }[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const entry = name === ASIDE ? null : await readEntry(path);
    if (entry === null) continue;
    entries.push({ path, usedAt: (await stat(join(path, "entry.json"))).mtimeMs, bytes: entry.bytes });
  }
  entries.sort((a, b) => b.usedAt - a.usedAt);
  let bytes = 0;
  for (const [at, entry] of entries.entries()) {
    bytes += entry.bytes;
    const isInUse =
      entry.path === kept || existsSync(join(entry.path, PINNED)) || Date.now() - entry.usedAt < IN_USE_MS;
    if (!isInUse && (at >= MOST_ENTRIES || bytes > MOST_BYTES)) await removeFolder(entry.path);
  }
}

const MOST_ENTRIES = 6;
const MOST_BYTES = 5_000_000_000;
const IN_USE_MS = 2 * 60 * 60 * 1000;

/** Runs `work` on several items at once, because each waits for the disk most of the time. */
async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < all.length) await work(all[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const AT_ONCE = 16;
