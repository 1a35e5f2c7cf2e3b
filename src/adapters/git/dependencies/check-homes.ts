import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile, rename } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { sha256 } from "../../../stdx/sha256.ts";
import type { Environment } from "../../process/environment.ts";
import { copyHome, makeHome, planHome, stampsOf, withHome, type EarlierHome } from "../../process/private-home.ts";
import { topAround } from "../python/python-folders.ts";
import { removeFolder } from "../remove-folder.ts";

/** What a program is started for. Setup commands may log in to registries; checks may not. */
export type Purpose = "checks" | "setup";
const PURPOSES: readonly Purpose[] = ["checks", "setup"];

/** A copy of the settings in the user's HOME, in a folder of Remand. */
export interface KeptHome {
  readonly folder: string;
  /** Paths of the user's HOME that checks do not get. */
  readonly leftOut: readonly string[];
}

/** Returns the stamps of the user's current settings. */
export const homeStamps = (home: string): Readonly<Record<string, string>> =>
  stampsOf(planHome(home, { withSecrets: true }));

/**
 * Copies the settings of a HOME. With `earlier`, settings that did not change since the last engine ended keep their
 * earlier copy.
 */
export async function keepHome(
  home: string,
  folder: string,
  earlier: { readonly kept: KeptHome; readonly left: EarlierHome["left"] } | null,
): Promise<KeptHome> {
  const aside = `${folder}.new`;
  await removeFolder(aside);
  let leftOut: readonly string[] = [];
  for (const purpose of PURPOSES) {
    const withSecrets = purpose === "setup";
    const plan = planHome(home, { withSecrets });
    if (!withSecrets) leftOut = plan.leftOut;
    const before =
      earlier === null ? {} : { earlier: { folder: join(earlier.kept.folder, purpose), left: earlier.left } };
    await makeHome(plan, join(aside, purpose), { withSecrets, ...before });
  }
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await rename(aside, folder);
  return { folder, leftOut };
}

export interface CheckHomes {
  /** Returns the environment of a program that is started in this folder. */
  environment(folder: string, env: Environment, purpose: Purpose): Promise<Environment>;
  /** Removes the HOME of a checkout; the next checkout in the same folder gets a new one. */
  forget(checkout: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Gives each checkout its own HOME with the kept settings, so that nothing written there by one attempt's code reaches
 * another check. The HOME is removed with its checkout.
 */
export function createCheckHomes(userState: string, real: string, kept: KeptHome): CheckHomes {
  const folder = join(userState, "homes");
  const made = new Map<string, { readonly checkout: string; readonly home: Promise<string> }>();
  // A checkout always gets the same HOME path, because compiler caches contain the paths of packages.
  const make = async (purpose: Purpose, checkout: string): Promise<string> => {
    const home = join(folder, sha256(`${purpose} ${checkout}`).slice(0, 16));
    await removeFolder(home);
    await copyHome(join(kept.folder, purpose), home);
    return home;
  };
  const drop = async (isOver: (checkout: string) => boolean): Promise<void> => {
    for (const [key, { checkout, home }] of made) {
      if (!isOver(checkout)) continue;
      made.delete(key);
      await removeFolder(await home);
    }
  };
  return {
    async environment(checkout, env, purpose) {
      const key = `${purpose} ${checkout}`;
      let own = made.get(key);
      if (own === undefined) {
        own = { checkout, home: make(purpose, checkout) };
        made.set(key, own);
      }
      return withHome(env, real, await own.home);
    },
    forget: (checkout) => drop((each) => `${each}/`.startsWith(`${checkout}/`)),
    close: () => drop(() => true),
  };
}

/**
 * Rewrites PATH: programs that it takes from the user's checkout (an activated virtual environment,
 * `node_modules/.bin`) come from the folder in which the check runs.
 */
export async function rewritePathVariable(env: Environment, top: string, folder: string): Promise<Environment> {
  const own = await topAround(folder);
  if (own === null || own === top) return env;
  const movePath = (path: string): string => {
    const there =
      path.startsWith(`${top}/`) && !path.startsWith(`${own}/`) ? join(own, path.slice(top.length + 1)) : path;
    return existsSync(there) ? there : path;
  };
  const rewritten: Record<string, string> = {};
  for (const name of ["PATH", "VIRTUAL_ENV"]) {
    const value = env[name];
    if (value !== undefined) rewritten[name] = value.split(delimiter).map(movePath).join(delimiter);
  }
  return { ...env, ...rewritten };
}

/** What is known about the HOME that a project's checks need, stored where no agent works. */
export interface HomeNotes {
  /** Whether the checks need the user's own HOME. */
  isReal(): Promise<boolean>;
  /** Whether the real HOME was tried for this note and made no difference. */
  isSame(note: string): Promise<boolean>;
  add(kind: "real" | "same", note: string): Promise<void>;
  readonly file: string;
}

export function createHomeNotes(userState: string, root: string): HomeNotes {
  const file = join(userState, "home-notes", sha256(root).slice(0, 16));
  const lines = async (): Promise<readonly string[]> =>
    (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  return {
    file,
    isReal: async () => (await lines()).some((line) => line.startsWith("real ")),
    isSame: async (note) => (await lines()).includes(`same ${note}`),
    async add(kind, note) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await appendFile(file, `${kind} ${note}\n`);
    },
  };
}
