import { mkdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { delimiter, join, relative, sep } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import type { Environment } from "../../process/environment.ts";
import { runProcess } from "../../process/run-process.ts";
import { type Repository, ensureStateFolder, processUniqueName, repositoryOpener } from "../repository.ts";
import { clonesAmong, hasPython, interpretersOf, otherPlaces, topAround } from "./python-folders.ts";
import { PYTHON_STARTUP } from "./python-startup.ts";
import type { Sandbox } from "../../../ports/sandbox.ts";
import { NO_SANDBOX } from "../../process/launch.ts";

export interface OwnPythonOptions {
  /** A folder in the user's checkout. */
  readonly root: string;
  /** The folder for Remand's own state. */
  readonly state: string;
  /** The commands that run in the worktrees. They tell which Python is used. */
  readonly commands: readonly string[];
  /** The environment of those commands. */
  readonly env: Environment;
  /** The sandbox in which Pythons are queried; default: none. */
  readonly sandbox?: Sandbox;
  /** Reports something that a person should know and that blocks nothing. */
  onNotice?(text: string): void;
}

export interface OwnPython {
  /**
   * Returns the environment with which every Python imports the project from the worktree it runs in, wherever the
   * project is installed. Empty if nothing is needed. Throws a RemandError if that is impossible.
   */
  in(path: string, pythonPath?: string): Promise<Environment>;
  /** Returns a report about a worktree for a person. `null` if the repository has no Python project. */
  look(path: string): Promise<PythonReport | null>;
}

/** What the Pythons that would run in a worktree import. */
export interface PythonReport {
  readonly own: string;
  /** Other checkouts of the same project that imports were resolved to. */
  readonly others: readonly string[];
  /** Packages that are installed as editable from this worktree. Other worktrees need redirects for them. */
  readonly installed: readonly string[];
  /** Import finders that lead to this worktree and cannot be redirected for other worktrees. */
  readonly notRedirectable: readonly (readonly [module: string, file: string])[];
  /** Each path that led to another checkout, and where it leads now. */
  readonly moved: readonly (readonly [from: string, to: string])[];
  /** Why no Python in this worktree can be trusted. */
  readonly refusal: RemandError | null;
}

/**
 * Makes Python import the project from the right worktree. A package that is installed as editable (`pip install -e .`)
 * is imported from one checkout, wherever Python runs, so a check in a worktree would test that checkout and not the
 * work. A startup file redirects such imports to the worktree in which Python was started.
 */
export function createOwnPython(options: OwnPythonOptions): OwnPython {
  const repositoryNow = repositoryOpener(options.root);
  const looks = new Map<string, Promise<PythonReport>>();
  let isPython: boolean | null = null;

  async function lookIn(path: string): Promise<PythonReport | null> {
    const repository = await repositoryNow().catch((error: unknown) => {
      // Two checkouts of the same files exist only in a repository.
      if (error instanceof RemandError && error.code === "not-a-repository") return null;
      throw error;
    });
    if (repository === null || !(isPython ??= await hasPython(repository))) return null;
    const own = await topAround(path);
    if (own === null) return null;
    let look = looks.get(own);
    if (look === undefined) looks.set(own, (look = lookAt(repository, own, path, options)));
    // Do not cache a refusal: the user may fix its reason before the next call.
    const forget = (): boolean => looks.delete(own);
    look.then(({ refusal }) => refusal !== null && forget(), forget);
    return look;
  }

  return {
    look: lookIn,
    async in(path, pythonPath) {
      const look = await lookIn(path);
      if (look === null) return {};
      if (look.refusal !== null) throw look.refusal;
      // The main checkout needs no redirects, unless something leads out of it.
      if (look.own === (await repositoryNow()).top && look.moved.length === 0) return {};
      return variables(await startupFolder(options.state), look, pythonPath);
    },
  };
}

/**
 * Returns the variables for a worktree. Folders in the user's PYTHONPATH name the main checkout; they are changed to
 * the same folders of the worktree.
 */
function variables(startup: string, { own, others }: Pick<PythonReport, "own" | "others">, given = ""): Environment {
  const roots = others.filter((each) => !each.startsWith("=") && !each.endsWith("*"));
  const paths = given.split(delimiter).map((path) => {
    const root = roots.find((each) => path === each || path.startsWith(`${each}${sep}`));
    const moved = root === undefined || path.startsWith(own) ? path : join(own, relative(root, path));
    return existsSync(moved) ? moved : path;
  });
  return {
    PYTHONPATH: [startup, ...paths.filter((path) => path !== "")].join(delimiter),
    REMAND_PLACE: own,
    REMAND_OTHER_PLACES: others.join(delimiter),
  };
}

/** Returns the folder of the startup file. Checks the content every time, because an agent could have changed it. */
async function startupFolder(state: string): Promise<string> {
  await ensureStateFolder(state);
  const folder = join(await realpath(state), "python");
  const file = join(folder, "sitecustomize.py");
  if ((await readFile(file, "utf8").catch(() => null)) === PYTHON_STARTUP) return folder;
  await mkdir(folder, { recursive: true });
  // Rename, because another Python may be reading the file.
  const fresh = `${file}.${processUniqueName()}`;
  await writeFile(fresh, PYTHON_STARTUP);
  await rename(fresh, file);
  return folder;
}

async function lookAt(
  repository: Repository,
  own: string,
  path: string,
  options: OwnPythonOptions,
): Promise<PythonReport> {
  const startup = await startupFolder(options.state);
  const state = await realpath(options.state);
  const { sure, likely } = await interpretersOf(options.commands, path, options.env);
  const ask = async (others: readonly string[]) => {
    const env = { ...options.env, ...variables(startup, { own, others }, options.env["PYTHONPATH"]) };
    return Promise.all(
      [...sure, ...likely].map((program) => askPython(program, path, env, options.sandbox ?? NO_SANDBOX)),
    );
  };
  let others = await otherPlaces(repository, state, own);
  let answers = await ask(others);
  const extra = [
    ...(await clonesAmong([...new Set(answers.flatMap(({ seen }) => seen))], own)).filter(
      (top) => !others.includes(top),
    ),
    ...(await unownedPaths(repository, answers)),
  ];
  if (extra.length > 0) answers = await ask((others = [...others, ...extra]));
  const refused = answers.flatMap((answer) => refusalsOf(answer, own));
  const sureOnes = refused.filter(({ program }) => sure.includes(program));
  for (const { program, hasNoReport } of answers)
    if (hasNoReport)
      options.onNotice?.(`${program} does not say what it imports: a package installed as editable may mislead it`);
  for (const { program, why } of refused)
    if (!sure.includes(program)) options.onNotice?.(`${why} (what the checks start with ${program} cannot import it)`);
  const moved = new Map(answers.flatMap((answer) => answer.moved));
  const isHere = (each: string): boolean =>
    each === own || (each.startsWith(`${own}${sep}`) && !each.startsWith(`${state}${sep}`));
  const installed = [...new Set(answers.flatMap(({ seen }) => seen.filter(isHere)))];
  const notRedirectable = answers.filter(({ program }) => sure.includes(program)).flatMap((answer) => answer.fixed);
  return {
    own,
    others,
    installed,
    notRedirectable,
    moved: [...moved],
    refusal: sureOnes.length === 0 ? null : refusal(sureOnes[0]!.why),
  };
}

interface PythonAnswer {
  readonly program: string;
  readonly moved: readonly (readonly [string, string])[];
  /** Folders that do not exist in the worktree. */
  readonly lost: readonly string[];
  /** Import finders that cannot be redirected: the module and its file. */
  readonly closed: readonly (readonly [string, string])[];
  /** Import finders that could not be redirected if this were not the worktree they lead to. */
  readonly fixed: readonly (readonly [string, string])[];
  readonly seen: readonly string[];
  /** Whether the Python did not read the startup file. */
  readonly hasNoReport: boolean;
}

const WORD = "REMAND_PLACE_TELL";

async function askPython(program: string, cwd: string, env: Environment, sandbox: Sandbox): Promise<PythonAnswer> {
  const ended = await runProcess({
    command: [program, "-c", ""],
    cwd,
    env: { ...env, [WORD]: "1" },
    timeoutMs: PATIENCE_MS,
    sandbox,
  });
  const line = ended.stdout.split("\n").find((each) => each.startsWith(`${WORD} `));
  const nothing = { program, moved: [], lost: [], closed: [], fixed: [], seen: [], hasNoReport: ended.exitCode === 0 };
  return line === undefined
    ? nothing
    : { ...nothing, ...(JSON.parse(line.slice(WORD.length)) as PythonAnswer), hasNoReport: false };
}

const PATIENCE_MS = 30_000;

/**
 * Returns paths that are neither tracked by git nor made by an installer from the project's files. They belong to no
 * story and stay as they are.
 */
async function unownedPaths({ git, top }: Repository, answers: readonly PythonAnswer[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of new Set(answers.flatMap(({ lost }) => lost))) {
    if (path.includes("__editable__") || !path.startsWith(`${top}${sep}`)) continue;
    if ((await git.run(["ls-files", "-z", "--", relative(top, path)])) === "") found.push(`=${path}`);
  }
  return found;
}

function refusalsOf({ program, closed, lost }: PythonAnswer, own: string): { program: string; why: string }[] {
  const whys = [
    ...closed.map(([module, file]) => `${module} (${file}) leads imports to another checkout, before ${own} is asked`),
    ...lost
      .filter((path) => path.includes("__editable__"))
      .map((path) => `the project is installed as links in ${path}, and there is no such folder in ${own}`),
  ];
  return whys.map((why) => ({ program, why }));
}

function refusal(why: string): RemandError {
  return new RemandError(
    "workspace-broken",
    `the checks would test files other than the story's: ${why}`,
    "Give each worktree its own environment, and let the checks use it: set workspace.setup to " +
      "`python3 -m venv .venv && .venv/bin/pip install -e .`, and the check to `.venv/bin/python -m pytest`.",
  );
}
