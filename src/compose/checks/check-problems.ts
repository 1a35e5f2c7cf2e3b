import { access, constants, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Probe } from "../../app/host.ts";
import { scriptOf, startedPrograms, type StartedProgram } from "../../parse/code/check-line.ts";
import { LOCKFILES } from "../../parse/code/manifests.ts";
import { isRecord } from "../../stdx/assert.ts";
import { nearMiss } from "../../stdx/plain-text.ts";
import { allowedEnvironment, type Environment } from "../../adapters/process/environment.ts";
import { runProcess } from "../../adapters/process/run-process.ts";

export interface CheckLocation {
  readonly root: string;
  /** The environment of the checks. */
  readonly env: Environment;
  /** Whether the checks run in a checkout of their own, which has the committed files and what set-up installs. */
  readonly isElsewhere: boolean;
  readonly hasSetup: boolean;
}

/** Finds reasons why a check cannot start here, without running it; each with its fix. */
export async function checkProblems(commands: readonly string[], place: CheckLocation): Promise<readonly Probe[]> {
  const problems: Probe[] = [];
  for (const command of commands) {
    const found = await problemIn(command, place, 0);
    if (found !== null) problems.push({ name: `check \`${command}\``, ok: false, ...found });
  }
  return problems;
}

/** A person waits for the answer. If loading takes longer, the answer stays unknown. */
const LONGEST_LOAD_MS = 1500;
/** Exit codes of pytest: a test file does not load, pytest itself broke, or its command line is wrong. */
const UNLOADED = new Set([2, 3, 4]);

/** Finds checks whose tests cannot be loaded, if their runner can report that without running the tests. */
export async function loadProblems(
  commands: readonly string[],
  { root, env }: CheckLocation,
): Promise<readonly Probe[]> {
  const found = await Promise.all(
    commands.map(async (command): Promise<readonly Probe[]> => {
      if (!PYTEST.test(command)) return [];
      const ended = await runProcess({
        command: `${command} --collect-only -q -p no:cacheprovider`,
        cwd: root,
        env: { ...env, PYTHONDONTWRITEBYTECODE: "1" },
        timeoutMs: LONGEST_LOAD_MS,
        sandbox: null,
      });
      if (ended.status !== "exited" || !UNLOADED.has(ended.exitCode ?? 0)) return [];
      const why =
        /^E +(\w+(?:Error|Exception)\b.*)$/m.exec(ended.output)?.[1] ?? ended.output.trim().split("\n").at(-1);
      const detail = `its tests cannot be loaded: ${why}`;
      const fix = `See ${command} --collect-only. Install what is missing where the check finds it, or correct the command.`;
      return [{ name: `check \`${command}\``, ok: false, detail, fix }];
    }),
  );
  return found.flat();
}

/** Matches a single plain command, to which an option can be appended. */
const PYTEST =
  /^(?:[\w./-]*python[\d.]* -m pytest|(?:[\w./-]*\/)?pytest|(?:uv|poetry|pdm|pipenv) run (?:python -m )?pytest)(?: [\w./=:-]+)*$/;

type CheckProblem = Pick<Probe, "detail" | "fix">;

const DEEPEST_SCRIPT = 3;

async function problemIn(line: string, place: CheckLocation, depth: number): Promise<CheckProblem | null> {
  for (const started of startedPrograms(line)) {
    const found =
      (await programProblem(started, place, depth > 0)) ??
      (await scriptFileProblem(started, place)) ??
      (await scriptProblem(started, place, depth));
    if (found !== null) return found;
  }
  return null;
}

async function programProblem({ program, isMoved }: StartedProgram, place: CheckLocation, isScript: boolean) {
  if (program.includes("/")) return isMoved ? null : fileProblem(program, place);
  if (isScript && (await isInstalled(program, place))) return null;
  if (await isKnownToShell(program, place)) return null;
  if (await isInstalled(program, place))
    return { detail: `there is no program ${program} on the PATH`, fix: `It is in node_modules/.bin: npx ${program}` };
  // The dependencies of package.json get installed in the checkout of the checks.
  if (isScript && place.isElsewhere && (place.hasSetup || (await hasLockfile(place.root)))) return null;
  return {
    detail: `there is no program ${program}`,
    fix: isScript
      ? `Install the project's packages first (npm ci), or correct the script in package.json.`
      : `Install ${program}, put its folder on the PATH, or correct the command.`,
  };
}

/** Checks the file that an interpreter runs: `sh check.sh`, `node test/all.mjs`. */
async function scriptFileProblem(
  { program, args, isMoved }: StartedProgram,
  place: CheckLocation,
): Promise<CheckProblem | null> {
  const [file = ""] = args;
  const isFile = INTERPRETER.test(program) && /^[\w./@-]+\.\w+$/.test(file) && !file.startsWith("-");
  return isFile && !isMoved ? fileProblem(file, place, false) : null;
}

const INTERPRETER = /^(?:sh|bash|dash|ksh|zsh|node|python|python3|ruby|perl|php)$/;

async function fileProblem(
  program: string,
  { root, isElsewhere, hasSetup }: CheckLocation,
  isStarted = true,
): Promise<CheckProblem | null> {
  const [first = ""] = program.replace(/^\.\//, "").split("/");
  const isVenv = /^\.?venv$/.test(first);
  const mayBeMade = isElsewhere && hasSetup;
  if (!(await isThere(resolve(root, program), constants.F_OK))) {
    if (mayBeMade) return null;
    const venv = `Make it: python3 -m venv ${first} && ${first}/bin/pip install -r requirements.txt`;
    return {
      detail: `there is no file ${program}`,
      fix: isVenv ? venv : "Correct the path, or make the file before the work begins.",
    };
  }
  if (isStarted && !(await isThere(resolve(root, program), constants.X_OK)))
    return { detail: `${program} may not be executed`, fix: `chmod +x ${program}` };
  if (!isElsewhere || program.startsWith("/") || mayBeMade) return null;
  if (INSTALLED.test(first)) return unignoredProblem(root, first, program);
  if (await isInGit(root, program)) return null;
  return {
    detail: `${program} is not in git, so a clean checkout does not have it`,
    fix: `Commit it: git add ${program}. Or have it made there: workspace: { setup: … }`,
  };
}

/** Folders that are copied from the checkout to a worktree. */
const INSTALLED = /^(?:node_modules|\.?venv|vendor)$/;

/** A folder of installed packages that git does not ignore counts as part of the work. */
async function unignoredProblem(root: string, folder: string, program: string): Promise<CheckProblem | null> {
  if ((await saysYes(root, ["check-ignore", "--quiet", "--", program])) || (await isInGit(root, program))) return null;
  return {
    detail: `git does not ignore ${folder}, so that it counts as part of the work and is not lent to a clean checkout`,
    fix: `Have git ignore it: echo '/${folder}/' >> .git/info/exclude (or .gitignore)`,
  };
}

async function scriptProblem(
  started: StartedProgram,
  place: CheckLocation,
  depth: number,
): Promise<CheckProblem | null> {
  const name = scriptOf(started);
  if (name === null || depth >= DEEPEST_SCRIPT) return null;
  const text = await readFile(join(place.root, "package.json"), "utf8").catch(() => null);
  const call = `${started.program} ${started.args.join(" ")}`;
  if (text === null)
    return {
      detail: `\`${call}\` needs a package.json, and there is none in this folder`,
      fix: "Run it elsewhere: cd …",
    };
  const scripts = scriptsIn(text);
  if (scripts === null) return null;
  const script = scripts[name];
  if (script !== undefined) return problemIn(script, place, depth + 1);
  const meant = nearMiss(name, Object.keys(scripts));
  const known = Object.keys(scripts).slice(0, 8).join(", ") || "none";
  return {
    detail: `package.json has no script "${name}"`,
    fix: meant === undefined ? `Add it, or name another one. There are: ${known}.` : `Did you mean "${meant}"?`,
  };
}

/** `null` where package.json is invalid: the package manager itself reports what is wrong. */
function scriptsIn(text: string): Readonly<Record<string, string>> | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return null;
    const scripts = isRecord(value["scripts"]) ? value["scripts"] : {};
    return Object.fromEntries(
      Object.entries(scripts).filter((each): each is [string, string] => typeof each[1] === "string"),
    );
  } catch {
    return null;
  }
}

/** Asks the shell that will run the check, which also knows builtins and functions. */
async function isKnownToShell(program: string, { root, env }: CheckLocation): Promise<boolean> {
  const command = ["sh", "-c", 'command -v -- "$1"', "sh", program] as const;
  const ended = await runProcess({ command, cwd: root, env, timeoutMs: 10_000, sandbox: null });
  return ended.status !== "exited" || ended.exitCode === 0;
}

async function isInstalled(program: string, { root }: CheckLocation): Promise<boolean> {
  for (let folder = resolve(root); ; folder = dirname(folder)) {
    if (await isThere(join(folder, "node_modules/.bin", program), constants.F_OK)) return true;
    if (dirname(folder) === folder) return false;
  }
}

async function hasLockfile(root: string): Promise<boolean> {
  for (const name of LOCKFILES) if (await isThere(join(root, name), constants.F_OK)) return true;
  return false;
}

const isInGit = (root: string, path: string): Promise<boolean> =>
  saysYes(root, ["ls-files", "--error-unmatch", "--", path]);

async function saysYes(root: string, args: readonly string[]): Promise<boolean> {
  const ended = await runProcess({
    command: ["git", ...args],
    cwd: root,
    env: allowedEnvironment(process.env),
    timeoutMs: 30_000,
    sandbox: null,
  });
  return ended.status !== "exited" || ended.exitCode === 0;
}

async function isThere(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
