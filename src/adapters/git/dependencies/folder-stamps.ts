import { lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate as otherWork } from "node:timers/promises";
import { sha256 } from "../../../stdx/sha256.ts";
import { isKeptByTools } from "./lend-folder.ts";

/** A file or link below a folder. Folders are not listed: their times change when a tool adds a cache. */
export interface StampedFile {
  /** From the root of the walk. */
  readonly path: string;
  readonly isLink: boolean;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  /** Size and times. A program cannot set the time of the last change of a file back, so an edit changes this. */
  readonly stamp: string;
}

export const stampOf = ({ size, mtimeMs, ctimeMs }: Pick<Stats, "size" | "mtimeMs" | "ctimeMs">): string =>
  `${size} ${mtimeMs} ${ctimeMs}`;

/**
 * All files below these paths, without reading them: a walk of 30,000 files takes a fraction of a second. A path that
 * is not there is left out, and so is what tools keep for themselves beside installed packages.
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
      // The engine has other things to do meanwhile.
      if (++seen % 2000 === 0) await otherWork();
    }
  }
  return found;
}

/**
 * One text for the state of many files. Compiled Python is left out: Python writes it when a module is first imported,
 * which changes no package.
 */
export function fingerprintOf(files: readonly StampedFile[]): string {
  const lines = files.filter(({ path }) => !isCompiledPython(path)).map(({ path, stamp }) => `${path}\0${stamp}`);
  return sha256(lines.toSorted().join("\n"));
}

const isCompiledPython = (path: string): boolean => path.includes("/__pycache__/");
