import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { entranceTo } from "../process/mounted-folder.ts";
import type { PathRule } from "./mount-plan.ts";

/**
 * The folder around a program's folder that git knows as the top of a checkout; else the folder itself. It is not looked
 * for beyond a hidden folder: a program that removes its own `.git` must not get the checkout around that.
 */
export function checkoutAround(cwd: string, rules: readonly PathRule[]): string {
  const hidden = new Set(rules.filter(({ kind }) => kind === "hidden").map(({ path }) => realPath(path)));
  for (let folder = cwd; dirname(folder) !== folder && !hidden.has(folder); folder = dirname(folder))
    if (existsSync(join(folder, ".git"))) return folder;
  return cwd;
}

/** A path that is mounted for this process alone looks like a link from outside, and is itself inside. */
export function realPath(path: string): string | null {
  if (entranceTo(path) !== null) return path;
  try {
    return realpathSync(path);
  } catch {
    // What is not there needs no rule.
    return null;
  }
}
