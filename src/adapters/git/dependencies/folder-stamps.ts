import { lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate as otherWork } from "node:timers/promises";
import { sha256 } from "../../../stdx/sha256.ts";
import { isKeptByTools } from "./link-packages.ts";

/** A file or link below a folder. Folders are not listed, because a folder's time changes when a tool adds a cache. */
export interface StampedFile {
  /** Relative to the root of the walk. */
  readonly path: string;
  readonly isLink: boolean;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  /** Size and times. Includes the ctime, which no program can set back, so every edit changes the stamp. */
  readonly stamp: string;
}

export const stampOf = ({ size, mtimeMs, ctimeMs }: Pick<Stats, "size" | "mtimeMs" | "ctimeMs">): string =>
  `${size} ${mtimeMs} ${ctimeMs}`;

/**
 * Lists all files below these paths without reading them: a walk of 30,000 files takes a fraction of a second. Skips
 * paths that do not exist, and files that tools keep beside installed packages.
 */
export async function stampFiles(root: string, paths: readonly string[]): Promise<readonly StampedFile[]> {
  const found: StampedFile[] = [];
  const open: { readonly path: string; readonly isTop: boolean }[] = [];
  const add = (path: string, isTop: boolean): void => {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (stat.isDirectory()) open.push({ path, isTop });
    else if (stat.isFile() || stat.isSymbolicLink())
      found.push({
        path,
        isLink: stat.isSymbolicLink(),
        mode: stat.mode,
        size: stat.size,
        mtimeMs: stat.mtimeMs,
        stamp: stampOf(stat),
      });
  };
  for (const path of paths) add(path, true);
  let seen = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of readdirSync(join(root, next.path), { withFileTypes: true })) {
      if (next.isTop && isKeptByTools(entry)) continue;
      add(`${next.path}/${entry.name}`, false);
      // Yield, so that the engine can do other work.
      if (++seen % 2000 === 0) await otherWork();
    }
  }
  return found;
}

/**
 * Returns one hash for the state of many files. Ignores compiled Python, which Python writes when a module is first
 * imported and which changes no package.
 */
export function fingerprintOf(files: readonly StampedFile[]): string {
  const lines = files.filter(({ path }) => !isCompiledPython(path)).map(({ path, stamp }) => `${path}\0${stamp}`);
  return sha256(lines.toSorted().join("\n"));
}

const isCompiledPython = (path: string): boolean => path.includes("/__pycache__/");
