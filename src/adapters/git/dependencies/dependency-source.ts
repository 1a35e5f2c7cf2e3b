import { existsSync } from "node:fs";
import { cp, open, readFile, writeFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, delimiter } from "node:path";
import type { Git } from "../git.ts";
import { LOCKFILES } from "../../../parse/code/manifests.ts";
import { sha256 } from "../../../stdx/sha256.ts";
import type { Environment } from "../../process/environment.ts";

/** The source of files that git does not hold: the user's checkout, or an earlier copy of it. */
export interface DependencySource {
  /** The folder with the files, at the same relative paths as in the checkout. */
  readonly root: string;
  /** The checkout that the files were installed in. Absolute links and shebang lines contain its path. */
  readonly checkout: string;
  /** Returns what git ignores there. For a folder that is ignored as a whole, only the folder's name. */
  ignored(): Promise<readonly string[]>;
  isIgnored(path: string): Promise<boolean>;
}

/** Keeps installations for later worktrees. */
export interface InstallationStore {
  /**
   * Returns an entry in its original state: added files are removed, changed files are copied again. An entry that
   * cannot be restored is removed, and `onLost` gets the lost file.
   */
  find(key: string, onLost?: (path: string) => void): Promise<DependencySource | null>;
  /** Moves folders of a temporary worktree to the store. */
  keepMoved(key: string, place: string, folders: readonly string[]): Promise<DependencySource>;
}

/** Dependencies as they were at one time. */
export interface KeptDependencies {
  /** Returns a copy that is verified before each use. Throws if it was changed and cannot be restored. */
  source(): Promise<DependencySource>;
  readonly store: InstallationStore;
}

/** Returns the user's checkout in its current state as a source. */
export function liveSource(git: Git, checkout: string): DependencySource {
  return {
    root: checkout,
    checkout,
    ignored: () => ignoredIn(git, checkout),
    isIgnored: async (path) =>
      (await git.ask(["check-ignore", "--quiet", "--", path], { cwd: checkout })).exitCode === 0,
  };
}

/** Returns a copy as a source, with the list of what git ignored when it was made. */
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

/** Whether a path is a folder of installed packages that is not inside another one. */
export function isInstalledFolder(path: string): boolean {
  const parts = path.split("/");
  return INSTALLED.test(parts.at(-1)!) && !parts.slice(0, -1).some((part) => INSTALLED.test(part));
}

const INSTALLED = /^(?:node_modules|bower_components|\.venv|venv|vendor|deps|\.bundle)$/;

/**
 * Copies files that an installation left among a Python project's own files and that git ignores: its version, its name
 * and entry points, generated code, compiled parts. Without them the package cannot be imported in a worktree. Ignored
 * files that a person wrote stay where they are: they may be secrets.
 */
export async function copyGenerated(
  source: DependencySource,
  worktree: string,
  onNotice: (text: string) => void,
): Promise<void> {
  const compiled: string[] = [];
  for (const path of await generatedIn(source)) {
    // Copy only into folders that the work has: a folder of its own belongs to another program.
    if (existsSync(join(worktree, path)) || !existsSync(join(worktree, dirname(path)))) continue;
    await cp(join(source.root, path), join(worktree, path), { recursive: true });
    if (isCompiled(path)) compiled.push(path);
  }
  if (compiled.length > 0)
    onNotice(
      `${compiled[0]} is a prebuilt copy from ${source.checkout}; if stories change its sources, build it in the checks`,
    );
}

/** Returns the paths of files that an installation left among a Python project's files. */
export async function generatedIn({ root, ignored }: DependencySource): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of await ignored())
    if (isPythonProduct(path) && (isCompiled(path) || (await isGenerated(join(root, path))))) found.push(path);
  return found;
}

/** Whether a path may be left by an installation, by its name. */
export const isPythonProduct = (path: string): boolean => /\.(?:pyi?|so|pyd|egg-info)$/.test(path);

const isCompiled = (path: string): boolean => /\.(?:so|pyd)$/.test(path);

/**
 * Copies a Go workspace file that git ignores, rewritten to the worktree's modules. Otherwise Go searches the parent
 * folders and finds the main checkout's file, which does not list the worktree's modules.
 */
export async function copyGoWorkspace(source: DependencySource, worktree: string): Promise<void> {
  const main = source.checkout;
  for (const name of GO_WORKSPACE) {
    const text = await readFile(join(source.root, name), "utf8").catch(() => null);
    if (text === null || existsSync(join(worktree, name)) || !(await source.isIgnored(name))) continue;
    // Compare whole path segments: another folder's name may begin with the checkout's.
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
  /** Patterns of more files that affect what is installed. */
  readonly inputs: readonly string[];
}

/**
 * Returns the key of an installation: worktrees with the same key get the same packages. If the project's own code runs
 * during the installation (an install script, a package copied from a folder, a custom command), the key covers every
 * file, or those that `inputs` names. Otherwise a rejected attempt could leave its packages to the next one.
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

/** Installers that do only what lockfiles and manifests say. */
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

/** Returns which program a name resolves to, by its real path, size and time, without starting it. */
async function toolVersion(name: string, path: string): Promise<string> {
  for (const folder of path.split(delimiter)) {
    const file = folder === "" ? null : await realpath(join(folder, name)).catch(() => null);
    if (file === null) continue;
    const { size, mtimeMs } = await stat(file);
    return `${file} ${size} ${mtimeMs}`;
  }
  return "";
}

/** Files besides lockfiles that say what is installed, in any folder of the project. */
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

/** Files that change how packages are installed. */
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
