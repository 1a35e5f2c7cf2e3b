import { readlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";
import type { TreeChange } from "./tree-changes.ts";

/**
 * Removes the links of a fresh checkout that lead out of it: what is behind them is no part of the commit, and could be
 * written by the author of the link. Those that the base has too, unchanged, are the project's own and stay.
 */
export async function removeEscapingLinks(
  checkout: string,
  changes: readonly TreeChange[],
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { path, mode } of changes) {
    if (mode !== LINK_MODE || !leadsOut(checkout, path)) continue;
    await rm(join(checkout, path), { force: true });
    removed.push(path);
  }
  return removed;
}

const LINK_MODE = "120000";

function leadsOut(checkout: string, path: string): boolean {
  // Where links cannot be made, git writes a file with the link's text.
  return linkAt(join(checkout, path)) !== null && pathInside(checkout, path) === null;
}

/** Does writing to this path of a checkout stay inside of it? A folder on the way may be a link. */
export const staysInside = (checkout: string, path: string): boolean => pathInside(checkout, path) !== null;

/**
 * The path in a checkout that another one leads to, over all links on the way; `null` if it leaves the checkout, even
 * if only to come back. What does not exist leads to itself.
 */
export function pathInside(checkout: string, path: string): string | null {
  let links = 0;
  let at: string[] = [];
  const ahead = path.split(sep);
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (at.length === 0) return null;
      at.pop();
      continue;
    }
    const target = linkAt(join(checkout, ...at, part));
    if (target === null) at.push(part);
    else if (++links > MOST_LINKS) return null;
    else if (!isAbsolute(target)) ahead.unshift(...target.split(sep));
    else if (isBelow(checkout, target)) {
      at = [];
      ahead.unshift(...target.slice(checkout.length).split(sep));
    } else return null;
  }
  return at.join(sep);
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    // Not a link, or not there.
    return null;
  }
}

/** As many as the system follows. */
const MOST_LINKS = 40;

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}${sep}`);
