import { lstat, mkdir, open, readdir, realpath, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RemandError, systemFault } from "../../core/events/error.ts";
import { causeOfMissingFolder } from "../process/unwritable-folder.ts";
import type { Files, PathInfo } from "../../ports/files.ts";
import { byText } from "../../stdx/sorted-map.ts";

/** The longest JavaScript string. No file that a person writes comes near it. */
const MAX_BYTES = 512 * 1024 * 1024 - 1024;

/** Returns the machine's files. Tests set `maxBytes` so that they need no file of half a gigabyte. */
export function createNodeFiles(maxBytes = MAX_BYTES): Files {
  return {
    read: (path) => read(path, maxBytes),
    list,
    listLinks,
    write,
    look,
    remove,
  };
}

async function read(path: string, maxBytes: number): Promise<string | null> {
  try {
    const file = await open(path, "r");
    try {
      const { size } = await file.stat();
      if (size > maxBytes) throw tooLarge(path, maxBytes);
      // Count while reading too, because a pipe or a device reports no size.
      return await readAll(file.createReadStream({ autoClose: false }), path, maxBytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw asRemandError(error, "read", path);
  }
}

async function list(folder: string, ending: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const paths: string[] = [];
    for (const entry of entries) {
      if (!entry.name.endsWith(ending)) continue;
      const path = join(folder, entry.name);
      // A link counts as its target; a broken link is not a file.
      const leadsToFile = entry.isSymbolicLink() && (await unlessMissing(stat(path)))?.isFile();
      if (entry.isFile() || leadsToFile === true) paths.push(path);
    }
    return paths.sort();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw asRemandError(error, "list", folder);
  }
}

async function listLinks(folder: string, ending: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const links = entries.filter((entry) => entry.isSymbolicLink() && entry.name.endsWith(ending));
    return links.map((entry) => join(folder, entry.name)).sort();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw asRemandError(error, "list", folder);
  }
}

/**
 * Writes to a temporary file and renames it, so that a reader sees the old text or the new one. If the path is a link,
 * its target is replaced; permissions are kept.
 */
async function write(path: string, text: string): Promise<void> {
  let beside: string | null = null;
  try {
    await mkdir(dirname(path), { recursive: true });
    const place = (await unlessMissing(realpath(path))) ?? path;
    const old = await unlessMissing(stat(place));
    if (old?.isDirectory()) throw Object.assign(new Error("is a folder"), { code: "EISDIR" });
    beside = `${place}.${process.pid}.new`;
    await writeFile(beside, text, old === null ? {} : { mode: old.mode });
    await rename(beside, place);
  } catch (error) {
    if (beside !== null) await rm(beside, { force: true });
    throw asRemandError(await causeOfMissingFolder(error), "write", path);
  }
}

async function look(path: string): Promise<PathInfo> {
  try {
    const itself = await unlessMissing(lstat(path));
    if (itself === null) return { type: "absent" };
    const target = await unlessMissing(stat(path));
    if (target === null) return { type: "other" };
    const place = await realpath(path);
    if (target.isDirectory()) return { type: "folder", place, entries: (await readdir(path)).sort() };
    // Check the mode instead of access(): root can write to every file, even one that was made read-only on purpose.
    return target.isFile() ? { type: "file", place, isReadOnly: (target.mode & 0o222) === 0 } : { type: "other" };
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return { type: "absent" };
    if (codeOf(error) === "ELOOP") return { type: "other" };
    throw asRemandError(error, "look at", path);
  }
}

async function remove(path: string): Promise<void> {
  try {
    const itself = await unlessMissing(lstat(path));
    if (itself === null) return;
    if (itself.isDirectory()) await rmdir(path);
    else await rm(path);
  } catch (error) {
    throw asRemandError(error, "remove", path);
  }
}

/** Reads all the text of a stream. Invalid UTF-8 becomes the replacement character. */
export async function readAll(
  stream: AsyncIterable<Buffer | string>,
  name: string,
  maxBytes = MAX_BYTES,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const buffer = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    bytes += buffer.length;
    if (bytes > maxBytes) throw tooLarge(name, maxBytes);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks, bytes).toString("utf8");
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Whatever the reason, the folder is not usable.
    return false;
  }
}

async function unlessMissing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

function tooLarge(name: string, maxBytes: number): RemandError {
  const limit = maxBytes >= 1024 * 1024 ? `${Math.ceil(maxBytes / 1024 / 1024)} MB` : `${maxBytes} bytes`;
  return new RemandError("file-too-large", `${name} is larger than ${limit}`, "Cut it down to the relevant part.");
}

const REASONS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EACCES: ["permission denied", "Change its permissions, or run as a user who has access."],
  EPERM: ["permission denied", "Change its permissions, or run as a user who has access."],
  EISDIR: ["it is a folder", "Give the path of a file."],
  ENOTDIR: ["a part of its path is a file", "Give a path that leads through folders."],
  ELOOP: ["its links lead in a circle", "Fix the links, or give the real path."],
  ENAMETOOLONG: ["its path is too long", "Give a shorter path."],
  ERR_INVALID_ARG_VALUE: ["its path holds a null character", "Give a path without it."],
};

function asRemandError(error: unknown, verb: string, path: string): RemandError {
  if (error instanceof RemandError) return error;
  const code = codeOf(error);
  const fault = systemFault(error);
  const [reason, hint] = (fault === null ? REASONS[code] : [fault.fact, fault.fix]) ?? [
    error instanceof Error ? error.message : String(error),
    "See what the system says above.",
  ];
  return new RemandError("file-unreadable", `cannot ${verb} ${JSON.stringify(path).slice(1, -1)}: ${reason}`, hint, {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * Calls back when a file of the folder is created, changed or removed. It polls, because file events differ between
 * systems and get lost on network drives and in containers.
 */
export function watchFolder(folder: string, changed: () => void, everyMs = 1000): () => void {
  let before: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const look = async (): Promise<void> => {
    const now = await stateOf(folder);
    if (isOver) return;
    if (before !== null && now !== before) changed();
    before = now;
    timer = setTimeout(() => void look(), everyMs);
  };
  void look();
  return () => {
    isOver = true;
    if (timer !== null) clearTimeout(timer);
  };
}

/**
 * Returns names, times and sizes as one text. A missing folder and a file that disappears in between are states too.
 */
async function stateOf(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const parts = await Promise.all(
    names.map(async (name) => {
      const seen = await stat(join(folder, name)).catch(() => null);
      return seen === null ? name : `${name} ${seen.mtimeMs} ${seen.size}`;
    }),
  );
  return parts.sort(byText).join("\n");
}
