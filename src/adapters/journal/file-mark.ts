import { statSync } from "node:fs";
import type { FileMark } from "../../domain/journal-anchor.ts";

/** `null`: the file is not there, or lines that are not in it yet wait beside it. */
export function fileMarkOf(file: string): FileMark | null {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || hasWaitingLines(file)) return null;
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return {
    dev: String(dev),
    ino: String(ino),
    size: String(size),
    mtimeNs: String(mtimeNs),
    ctimeNs: String(ctimeNs),
  };
}

/** So it is while somebody writes, and after a crash. */
export function hasWaitingLines(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

export function isSameFile(a: FileMark, b: FileMark): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}
