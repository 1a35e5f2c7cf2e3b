import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  type Dirent,
  type Stats,
} from "node:fs";
import { copyFile, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isSecretName } from "../../parse/secrets/secret-literals.ts";
import type { Environment } from "./environment.ts";

/** How one path of the user's HOME is provided. */
interface HomeEntry {
  readonly path: string;
  /**
   * Settings are copied, so that they stay as they are now. Toolchains, caches and the user's own folders are linked.
   */
  readonly kind: "folder" | "copy" | "link";
  /** For a copy: size and times of the original file. */
  readonly stamp: string;
}

export interface HomePlan {
  readonly home: string;
  readonly entries: readonly HomeEntry[];
  /** Secrets that are left out. */
  readonly leftOut: readonly string[];
}

/**
 * Plans a HOME for checks by general rules: small files at the top and in dot-folders are settings; a folder that is
 * large, deep or holds folders is a toolchain or a cache. `withSecrets` is for setup commands, which log in.
 */
export function planHome(home: string, { withSecrets }: { readonly withSecrets: boolean }): HomePlan {
  const entries: HomeEntry[] = [];
  const leftOut: string[] = [];
  const open: string[] = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const { name } of entriesOf(join(home, folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (OWN.has(path)) continue;
      if (!withSecrets && isSecret(path, name)) {
        leftOut.push(path);
        continue;
      }
      const stat = statOf(join(home, path));
      if (stat === null) continue;
      const isFull = entries.length >= MOST_ENTRIES;
      const kind = isFull ? "link" : stat.isDirectory() ? folderKind(home, path) : fileKind(stat);
      entries.push({ path, kind, stamp: kind === "copy" ? `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}` : "" });
      if (kind === "folder") open.push(path);
    }
  }
  return { home, entries, leftOut };
}

/** Remand's own folders: no program that it starts needs them. */
const OWN: ReadonlySet<string> = new Set([".config/remand", ".local/state/remand"]);

/** Logins. A file is also one if its name says so. */
const SECRETS: ReadonlySet<string> = new Set([
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".netrc",
  "_netrc",
  ".pypirc",
  ".config/gh",
  ".config/glab-cli",
  ".config/hub",
  ".config/gcloud",
  ".config/github-copilot",
  ".local/share/keyrings",
  ".claude",
  ".claude.json",
  ".codex",
  ".gemini",
]);

const isSecret = (path: string, name: string): boolean =>
  SECRETS.has(path) || (path.startsWith(".") && isSecretName(name)) || /^\.\w*_history$/.test(path);

const MOST_ENTRIES = 5000;
const MOST_BYTES = 256_000;

const fileKind = (stat: Stats): HomeEntry["kind"] => (stat.isFile() && stat.size <= MOST_BYTES ? "copy" : "link");

/** Folders in which programs keep their settings: `.config` of XDG, and its equivalent on macOS. */
const SETTINGS = [".config", "Library/Application Support"];
/** Where Python finds the user's packages, and files that it runs at startup. */
const USER_SITE = /^\.local\/lib(?:\/python[\d.]+(?:\/site-packages)?)?$/;
const CACHES = /^(?:\.?caches?|_cacache|registry|repository|\.git)$/i;

function folderKind(home: string, path: string): HomeEntry["kind"] {
  const isAbove = (each: string): boolean => each.startsWith(`${path}/`);
  if (SETTINGS.includes(path) || USER_SITE.test(path) || [...OWN, ...SECRETS, ...SETTINGS].some(isAbove))
    return "folder";
  const base = SETTINGS.find((each) => path.startsWith(`${each}/`));
  const parts = (base === undefined ? path : path.slice(base.length + 1)).split("/");
  const name = parts.at(-1)!;
  if ((base === undefined && !path.startsWith(".")) || parts.length > 2 || CACHES.test(name)) return "link";
  const inside = entriesOf(join(home, path));
  if (inside.length > MOST_IN_FOLDER || inside.some((entry) => entry.name === "CACHEDIR.TAG")) return "link";
  if (parts.length === 1) return "folder";
  const isToolchain = inside.some((entry) => entry.isDirectory() && /^(?:bin|lib)$/.test(entry.name));
  return isToolchain || !inside.some((entry) => !entry.isDirectory()) ? "link" : "folder";
}

const MOST_IN_FOLDER = 500;

/** An earlier copy of the settings, for a HOME that is made again while work is under way. */
export interface EarlierHome {
  readonly folder: string;
  /** The stamps of the user's files when the last engine ended. */
  readonly left: Readonly<Record<string, string>>;
}

/**
 * Makes a HOME in a new folder. A file that is unchanged since the last engine ended keeps its earlier copy, because an
 * agent may have changed it before. A file that changed since then was changed by a person.
 */
export async function makeHome(
  { home, entries }: HomePlan,
  target: string,
  { withSecrets, earlier }: { readonly withSecrets: boolean; readonly earlier?: EarlierHome },
): Promise<void> {
  await mkdir(target, { recursive: true, mode: 0o700 });
  for (const { path, kind, stamp } of entries) {
    const to = join(target, path);
    if (kind === "folder") await mkdir(to, { recursive: true, mode: 0o700 });
    else if (kind === "link") await symlink(join(home, path), to);
    else if (earlier !== undefined && earlier.left[path] === stamp)
      await copyFile(join(earlier.folder, path), to).catch(unlessMissing);
    else await copySettings(join(home, path), to, path, withSecrets);
  }
}

export const stampsOf = ({ entries }: HomePlan): Readonly<Record<string, string>> =>
  Object.fromEntries(entries.filter(({ kind }) => kind === "copy").map(({ path, stamp }) => [path, stamp]));

async function copySettings(from: string, to: string, path: string, withSecrets: boolean): Promise<void> {
  const edit = withSecrets ? undefined : WITHOUT_LOGINS[path];
  if (edit === undefined) return copyFile(from, to).catch(unlessMissing);
  await writeFile(to, edit(await readFile(from, "utf8")), { mode: 0o600 });
}

/** Settings that contain logins among other things. */
const WITHOUT_LOGINS: Readonly<Record<string, (text: string) => string>> = {
  ".npmrc": (text) => text.replaceAll(/^.*(?:_auth|_authToken|_password|username)\s*=.*$/gm, ""),
  ".yarnrc.yml": (text) => text.replaceAll(/^\s*npm(?:AuthToken|AuthIdent)\s*:.*$/gm, ""),
  ".docker/config.json": withoutDockerLogins,
};

/** Returns the files of a HOME that contain logins, with their text without the logins. */
export function withoutLogins(home: string, read: (path: string) => string | null): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [name, edit] of Object.entries(WITHOUT_LOGINS)) {
    const text = read(join(home, name));
    if (text !== null && edit(text) !== text) texts.set(join(home, name), edit(text));
  }
  return texts;
}

function withoutDockerLogins(text: string): string {
  try {
    const { auths: _1, credsStore: _2, credHelpers: _3, ...rest } = JSON.parse(text) as Record<string, unknown>;
    return JSON.stringify(rest);
  } catch {
    // A text that cannot be parsed may contain a login.
    return "{}";
  }
}

/** Makes a HOME for one checkout from another one, so that what is written there reaches no other check. */
export async function copyHome(from: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true, mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, to] = [join(from, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await copyHome(source, to);
    else if (entry.isSymbolicLink()) await symlink(readlinkSync(source), to);
    else await copyFile(source, to);
  }
}

/**
 * Returns an environment with another HOME. Variables that name a copied setting lead to the copy. Linked paths stay,
 * because build caches depend on them.
 */
export function withHome(env: Environment, real: string, home: string): Environment {
  const moveIntoHome = (name: string, value: string): string => {
    if (value === real) return home;
    if (name === "PATH" || !value.startsWith(`${real}/`)) return value;
    const copy = join(home, value.slice(real.length + 1));
    return isCopied(copy, home) ? copy : value;
  };
  const moved = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, moveIntoHome(name, value)]));
  return { ...goPath(env, real, home), ...moved, HOME: home };
}

/** Keeps Go's module folder, which is in HOME by default: its path is part of Go's compiled output. */
function goPath(env: Environment, real: string, home: string): Environment {
  if ("GOPATH" in env || statOf(join(real, "go")) === null) return {};
  const isSet = GO_SETTINGS.some((file) => /^GOPATH=/m.test(textOf(join(home, file))));
  return isSet ? {} : { GOPATH: join(real, "go") };
}

const GO_SETTINGS = [".config/go/env", "Library/Application Support/go/env"];

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Missing.
    return "";
  }
}

function isCopied(path: string, home: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  return `${realpathSync(path)}/`.startsWith(`${realpathSync(home)}/`);
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // An unreadable folder has nothing for checks.
    return [];
  }
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    // A broken link.
    return null;
  }
}

function unlessMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
