import { existsSync } from "node:fs";
import { access, constants, open, readFile, realpath } from "node:fs/promises";
import { basename, delimiter, dirname, join, relative, resolve, sep } from "node:path";
import { readWorktreeList } from "../../../parse/code/git-output.ts";
import type { Repository } from "../repository.ts";
import type { Environment } from "../../process/environment.ts";

const PROJECT_FILES = ["pyproject.toml", "setup.py", "setup.cfg"];

export const isPythonProject = (path: string): boolean => PROJECT_FILES.includes(basename(path));

/** Whether the repository contains a Python project, in any folder. */
export async function hasPython({ git, top }: Pick<Repository, "git" | "top">): Promise<boolean> {
  if (PROJECT_FILES.some((file) => existsSync(join(top, file)))) return true;
  const patterns = PROJECT_FILES.map((file) => `:(glob)**/${file}`);
  return (await git.run(["ls-files", "-z", "--", ...patterns])) !== "";
}

/** Returns the top folder of the checkout, worktree or clone that contains a path. */
export async function topAround(path: string): Promise<string | null> {
  let folder = await realpath(path).catch(() => path);
  while (!existsSync(join(folder, ".git"))) {
    const above = dirname(folder);
    if (above === folder) return null;
    folder = above;
  }
  return folder;
}

/**
 * Returns the other folders with the same files: the checkout, its worktrees, and those of Remand (as a pattern with a
 * star, because they come and go).
 */
export async function otherPlaces({ git, top }: Repository, state: string, own: string): Promise<readonly string[]> {
  const ours = [join(state, "worktrees")];
  const registered = readWorktreeList(await git.run(["worktree", "list", "--porcelain"])).map(({ path }) => path);
  const outside = registered.filter((path) => !ours.some((folder) => path.startsWith(`${folder}${sep}`)));
  const all = new Set([top, ...outside].filter((path) => path !== own));
  return [...all, ...ours.map((folder) => join(folder, "*"))];
}

/** Returns the checkouts that contain these paths and hold the same project: further clones of it. */
export async function clonesAmong(paths: readonly string[], own: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    const top = await topAround(path);
    if (top === null || top === own || own.startsWith(`${top}${sep}`) || found.has(top)) continue;
    const project = projectFolder(path, top);
    if (project === null) continue;
    const name = await projectName(project);
    if (name !== null && name === (await projectName(join(own, relative(top, project))))) found.add(top);
  }
  return [...found];
}

/** Returns the nearest folder above a package that has the project's files. */
function projectFolder(path: string, top: string): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if (PROJECT_FILES.some((file) => existsSync(join(folder, file)))) return folder;
    if (folder === top || dirname(folder) === folder) return null;
  }
}

async function projectName(folder: string): Promise<string | null> {
  for (const file of PROJECT_FILES) {
    const text = await readFile(join(folder, file), "utf8").catch(() => "");
    const [, name] = /(?:^|[\s(,])name\s*=\s*["']?([\w.-]+)/.exec(text) ?? [];
    if (name !== undefined) return name.toLowerCase().replace(/[-_.]+/g, "-");
  }
  return null;
}

export interface Interpreters {
  /** Pythons that a command starts directly, or by the shebang of its program. */
  readonly sure: readonly string[];
  /** Pythons on the PATH, for commands (`make test`) that do not show which one they start. */
  readonly likely: readonly string[];
}

/** Returns the Pythons that commands would start in a folder. */
export async function interpretersOf(
  commands: readonly string[],
  folder: string,
  env: Environment,
): Promise<Interpreters> {
  const sure = new Set<string>();
  let isPlain = commands.length > 0;
  for (const command of commands) {
    const found = await interpreterOf(command, folder, env);
    if (found === null) isPlain = false;
    else sure.add(found);
  }
  const usual = isPlain ? [] : await Promise.all(["python3", "python"].map((name) => programAt(name, folder, env)));
  const likely = usual.filter((each): each is string => each !== null && !sure.has(each));
  return { sure: [...sure], likely: [...new Set(likely)] };
}

/** Words that only start the command after them. */
const BEFORE = /^(?:\w+=.*|env|exec|time|nice|command|timeout|-\w+|\d+[smh]?)$/;
const PYTHON = /(?:^|\/)(?:python|pypy)[\d.]*(?:\.exe)?$/i;

/**
 * Returns the Python of a command line. In a line of several commands the last one gives the result; the others are
 * preparation.
 */
async function interpreterOf(command: string, folder: string, env: Environment): Promise<string | null> {
  const parts = command.split(/&&|\|\||[;\n]/).map((part) => part.split("|")[0]!.trim().split(/\s+/));
  const words = parts.at(-1)!;
  const name = words.find((word) => !BEFORE.test(word))?.replace(/^(["'])(.*)\1$/, "$2");
  if (name === undefined) return null;
  const activated = parts
    .map(([first, file]) => (first === "." || first === "source" ? file : undefined))
    .find((file) => file?.endsWith("/bin/activate"));
  const path = [...(activated === undefined ? [] : [resolve(folder, activated, "..")]), env["PATH"] ?? ""];
  const seen = { ...env, PATH: path.join(delimiter) };
  const program = await programAt(name, folder, seen);
  if (program === null) return null;
  if (PYTHON.test(program)) return program;
  // A shim of pyenv or asdf: the `python` shim beside it selects the same version.
  if (basename(dirname(program)) === "shims") return programAt("python", folder, { PATH: dirname(program) });
  return interpreterNamedIn(await beginningOf(program), folder, seen);
}

/**
 * Returns the Python that a script's first lines name. For long paths, installers write a second form, because systems
 * truncate long shebang lines.
 */
async function interpreterNamedIn(text: string, folder: string, env: Environment): Promise<string | null> {
  if (!text.startsWith("#!")) return null;
  const [first = "", second = ""] = text.split("\n");
  const [, long] = /^'''exec' "?([^"\s]+)"? /.exec(second) ?? [];
  const [program = "", ...rest] = first.slice(2).trim().split(/\s+/);
  const named = long ?? (/(?:^|\/)env$/.test(program) ? rest.find((word) => !word.startsWith("-")) : program);
  return named !== undefined && PYTHON.test(named) ? programAt(named, folder, env) : null;
}

async function programAt(name: string, folder: string, env: Environment): Promise<string | null> {
  const places = name.includes("/") ? [resolve(folder, name)] : (env["PATH"] ?? "").split(delimiter);
  for (const place of places) {
    const file = name.includes("/") ? place : join(place, name);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return null;
}

async function beginningOf(file: string): Promise<string> {
  const opened = await open(file).catch(() => null);
  if (opened === null) return "";
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(1024), 0, 1024, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await opened.close();
  }
}
