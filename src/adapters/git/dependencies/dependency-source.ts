import { existsSync } from "node:fs";
import { cp, open, readFile, writeFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, delimiter } from "node:path";
import type { Git } from "../git.ts";
import { LOCKFILES } from "../../../parse/code/manifests.ts";
import { sha256 } from "../../../stdx/sha256.ts";
import type { Environment } from "../../process/environment.ts";

/** Where clean checkouts get what git does not hold: the user's checkout, or a copy of it from an earlier time. */
export interface DependencySource {
  /** The folder with the files, by their paths in the checkout. */
  readonly root: string;
  /** The checkout that they belong to: absolute links and the first lines of programs name this folder. */
  readonly checkout: string;
  /** What git ignores there; of a folder that is ignored as a whole, its name alone. */
  ignored(): Promise<readonly string[]>;
  isIgnored(path: string): Promise<boolean>;
}

/** Keeps what was installed in one place for others. */
export interface InstallationStore {
  /**
   * An entry that is as it was made. What was added to it since is removed, what was changed is copied again. One that
   * cannot be brought back is removed, and the file that is lost is named.
   */
  find(key: string, onLost?: (path: string) => void): Promise<DependencySource | null>;
  /** Moves folders of a place that is thrown away. */
  keepMoved(key: string, place: string, folders: readonly string[]): Promise<DependencySource>;
}

/** Dependencies as they were at one time. */
export interface KeptDependencies {
  /** A copy that is looked at before each use. An error where it was changed and cannot be made again. */
  source(): Promise<DependencySource>;
  readonly store: InstallationStore;
}

/** The user's checkout as it is now. */
export function liveSource(git: Git, checkout: string): DependencySource {
  return {
    root: checkout,
    checkout,
    ignored: () => ignoredIn(git, checkout),
    isIgnored: async (path) =>
      (await git.ask(["check-ignore", "--quiet", "--", path], { cwd: checkout })).exitCode === 0,
  };
}

/** A copy, with what git ignored when it was made. */
export function keptSource(root: string, checkout: string, ignored: readonly string[]): DependencySource {
  return {
    root,
    checkout,
    ignored: () => Promise.resolve(ignored),
    isIgnored: (path) => Promise.resolve(ignored.some((each) => `${path}/`.startsWith(`${each}/`))),
  };
}

export async function ignoredIn(git: Git, folder: string): Promise<readonly string[]> {
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const listed = (await git.run(args, { cwd: folder })).split("\0");
  return listed.map((path) => path.replace(/\/$/, "")).filter((path) => path !== "");
}

/** Is this a folder of installed packages, and not one inside another? */
export function isInstalledFolder(path: string): boolean {
  const parts = path.split("/");
  return INSTALLED.test(parts.at(-1)!) && !parts.slice(0, -1).some((part) => INSTALLED.test(part));
}

const INSTALLED = /^(?:node_modules|bower_components|\.venv|venv|vendor|deps|\.bundle)$/;

/**
 * An installation in the checkout leaves files among a Python project's own that git ignores: its version, its name
 * and entry points, code made of a schema, compiled parts. Without them the package cannot be imported in a worktree,
 * whatever the work is. What a person wrote, and git ignores, stays where it is: it may be a secret.
 */
export async function bringGenerated(
  source: DependencySource,
  worktree: string,
  onNotice: (text: string) => void,
): Promise<void> {
  const compiled: string[] = [];
  for (const path of await generatedIn(source)) {
    // Beside files of the work only: what lies in a folder of its own belongs to another program.
    if (existsSync(join(worktree, path)) || !existsSync(join(worktree, dirname(path)))) continue;
    await cp(join(source.root, path), join(worktree, path), { recursive: true });
    if (isCompiled(path)) compiled.push(path);
  }
  if (compiled.length > 0)
    onNotice(
      `${compiled[0]} was compiled in ${source.checkout} and is copied from there: if stories change what it is made of, let the checks build it first`,
    );
}

/** Paths of what an installation left among a Python project's files. */
export async function generatedIn({ root, ignored }: DependencySource): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of await ignored())
    if (isPythonProduct(path) && (isCompiled(path) || (await isGenerated(join(root, path))))) found.push(path);
  return found;
}

/** May this be what an installation left, by its name? */
export const isPythonProduct = (path: string): boolean => /\.(?:pyi?|so|pyd|egg-info)$/.test(path);

const isCompiled = (path: string): boolean => /\.(?:so|pyd)$/.test(path);

/**
 * Go looks for its workspace in the folders above too, and would find the checkout's, in which the worktree's modules
 * are none. One that git ignores is brought along, about the same modules of the worktree.
 */
export async function bringGoWorkspace(source: DependencySource, worktree: string): Promise<void> {
  const main = source.checkout;
  for (const name of GO_WORKSPACE) {
    const text = await readFile(join(source.root, name), "utf8").catch(() => null);
    if (text === null || existsSync(join(worktree, name)) || !(await source.isIgnored(name))) continue;
    // A folder whose name only begins like the checkout's is another one.
    const moved = text.split(/(?<=["\s])|(?=["\s])/).map((word) => {
      const isOurs = word === main || word.startsWith(`${main}/`);
      return isOurs ? `${worktree}${word.slice(main.length)}` : word;
    });
    await writeFile(join(worktree, name), moved.join(""));
  }
}

export const GO_WORKSPACE: readonly string[] = ["go.work", "go.work.sum"];

async function isGenerated(file: string): Promise<boolean> {
  if (file.endsWith(".egg-info") || /^_{0,2}version_{0,2}\.py$/.test(basename(file))) return true;
  const opened = await open(file);
  try {
    if (!(await opened.stat()).isFile()) return false;
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(1000), 0, 1000, 0);
    return /generated|do(?: not|n't) (?:edit|change|modify)/i.test(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await opened.close();
  }
}

export interface InstallationRequest {
  readonly command: string;
  readonly env: Environment;
  /** Patterns of more files that decide what is installed. */
  readonly inputs: readonly string[];
}

/**
 * What an installation depends on, as one text: two places with the same one get the same packages. Where the project's
 * own code takes part (a script that runs on install, a package copied from a folder, a command of the user's), that is
 * every file, unless `inputs` says which: else an attempt that is refused could leave its packages to the next one.
 */
export async function installationKey(
  git: Git,
  worktree: string,
  { command, env, inputs }: InstallationRequest,
): Promise<string> {
  const named = [...LOCKFILES, ...MANIFESTS, ...INSTALL_SETTINGS].map((name) => `:(glob)**/${name}`);
  const patterns = [...named, ...inputs.map((pattern) => `:(glob)${pattern}`)];
  const list = async (of: readonly string[]): Promise<string> =>
    git.run(["ls-files", "--stage", "-z", ...(of.length === 0 ? [] : ["--", ...of])], { cwd: worktree });
  const files = await list(patterns);
  const isWhole = inputs.length === 0 && (await runsOwnCode(worktree, command, files));
  const tools = await Promise.all(TOOLS.map((name) => toolVersion(name, env["PATH"] ?? "")));
  const variables = Object.entries(env).filter(([name]) => DECIDING.test(name));
  const machine = [process.platform, process.arch, tools, variables.toSorted(([a], [b]) => (a < b ? -1 : 1))];
  return sha256(JSON.stringify([command, isWhole ? await list([]) : files, machine]));
}

const TOOLS = ["node", "npm", "pnpm", "yarn", "bun", "python3", "uv", "poetry", "ruby", "bundle", "php", "composer"];
const DECIDING = /^(?:NODE_ENV|CI|npm_config_.*|(?:PIP|UV|POETRY|YARN|PNPM|BUN|PYENV|BUNDLE|COMPOSER)_.*)$/i;

/** Installers that do nothing but what lockfiles and manifests say. */
const PLAIN_INSTALLER =
  /^(?:npm (?:ci|install)|pnpm install --frozen-lockfile|yarn install --(?:immutable|frozen-lockfile)|bun install --frozen-lockfile)$/;
const OWN_CODE = /"(?:(?:pre|post)?install|(?:pre|post)?prepare|prepublish)"\s*:|"(?:file|link|portal|patch):/;

async function runsOwnCode(worktree: string, command: string, listed: string): Promise<boolean> {
  if (!PLAIN_INSTALLER.test(command)) return true;
  const paths = listed.split("\0").map((entry) => entry.slice(entry.indexOf("\t") + 1));
  if (paths.some((path) => /(?:^|\/)(?:\.pnpmfile\.cjs|binding\.gyp|\.yarn\/.+)$/.test(path))) return true;
  for (const path of paths.filter((each) => /(?:^|\/)package\.json$/.test(each)))
    if (OWN_CODE.test(await readFile(join(worktree, path), "utf8").catch(() => ""))) return true;
  return false;
}

/** Which program a name stands for, without starting it: where it really is, and when it was put there. */
async function toolVersion(name: string, path: string): Promise<string> {
  for (const folder of path.split(delimiter)) {
    const file = folder === "" ? null : await realpath(join(folder, name)).catch(() => null);
    if (file === null) continue;
    const { size, mtimeMs } = await stat(file);
    return `${file} ${size} ${mtimeMs}`;
  }
  return "";
}

/** Files that say what is to be installed, beside lockfiles; each in any folder of the project. */
export const MANIFESTS: readonly string[] = [
  "package.json",
  ".npmrc",
  "pnpm-workspace.yaml",
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "requirements*.txt",
  "Gemfile*",
  "composer.*",
];

/** Files that change how it is installed. */
const INSTALL_SETTINGS: readonly string[] = [
  ".nvmrc",
  ".node-version",
  ".python-version",
  ".tool-versions",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  "bunfig.toml",
  "binding.gyp",
  "uv.toml",
  "poetry.toml",
  "patches/**",
  ".yarn/**",
];
