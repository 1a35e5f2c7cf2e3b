import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { entranceTo } from "../process/mounted-folder.ts";
import type { CellRequest } from "../../ports/sandbox.ts";
import { type PathRule, isBelow } from "./mount-plan.ts";
import { temporaryPaths } from "./private-paths.ts";

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

export interface RuleOptions {
  /** What is not as it is for the user, whatever program runs. */
  readonly rules: readonly PathRule[];
  /** What a folder below /tmp is that the command line names. */
  readonly named: "read" | "write";
  /** The user's own checkout, which is never written because a command line names it. */
  readonly top: string;
}

/** What one program finds at each path: the rules for all, and those that its folder and command line add. */
export function* cellRules(
  { rules, named, top: own }: RuleOptions,
  request: CellRequest,
  aside: string,
): Iterable<PathRule> {
  const { cwd, env, writes, copies, command } = request;
  yield { path: "/", kind: "read" };
  for (const path of temporaryPaths(Object.values(env))) yield { path, kind: "read" };
  for (const path of temporaryPaths(command)) yield { path, kind: path === own ? "read" : named };
  const top = checkoutAround(cwd, rules);
  const { HOME: home } = env;
  const isOwnHome = home !== undefined && rules.some(({ path, kind }) => kind === "hidden" && isBelow(home, path));
  const repository = repositoryOf(top);
  const all: readonly PathRule[] = [
    ...rules,
    ...[top, ...writes, ...(isOwnHome ? [home] : [])].map((path) => ({ path, kind: "write" }) as const),
    ...[...copies, ...(repository === null ? [] : [repository])].map((path) => ({ path, kind: "copy" }) as const),
  ];
  for (const { path, kind } of all) {
    const real = realPath(path);
    if (real !== null && !(kind === "copy" && (real === "/" || isBelow(aside, real)))) yield { path: real, kind };
  }
}

/** Where git keeps the checkout's history: the program may use it, and what it writes there is thrown away. */
function repositoryOf(top: string): string | null {
  const own = join(top, ".git");
  try {
    if (lstatSync(own).isDirectory()) return own;
  } catch {
    return null;
  }
  return null;
}
