import { readFile, realpath, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { LOCKFILES } from "../../../parse/code/manifests.ts";
import { sha256 } from "../../../stdx/sha256.ts";
import type { Environment } from "../../process/environment.ts";
import type { Git } from "../git.ts";

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
