import { delimiter, dirname, join } from "node:path";
import { LOCKFILES } from "../../parse/code/manifests.ts";
import { readJson } from "../../parse/data/data-text.ts";
import { isRecord } from "../../stdx/assert.ts";
import type { Checkout } from "../../app/command.ts";

/** How each package manager runs a script, runs a program of the project's packages, and adds a package. */
const MANAGERS = {
  npm: {
    test: "npm test",
    run: "npm run",
    exec: "npx",
    add: "npm install --save-dev",
    each: "npm test --workspaces --if-present",
  },
  pnpm: {
    test: "pnpm test",
    run: "pnpm run",
    exec: "pnpm exec",
    add: "pnpm add --save-dev",
    each: "pnpm --recursive test",
  },
  yarn: { test: "yarn test", run: "yarn run", exec: "yarn", add: "yarn add --dev", each: "yarn workspaces run test" },
  bun: { test: "bun run test", run: "bun run", exec: "bunx", add: "bun add --dev", each: "bun run --filter '*' test" },
} as const;
type Manager = keyof typeof MANAGERS;

/** Commands for test runners that no script starts; they run once and do not watch. */
const NODE_RUNNERS: Readonly<Record<string, string>> = {
  vitest: "vitest run",
  jest: "jest",
  mocha: "mocha",
  ava: "ava",
  jasmine: "jasmine",
};

const LINT_SCRIPTS = ["lint", "lint:check", "check:lint"];
const TYPE_SCRIPTS = ["typecheck", "type-check", "types", "types:check", "check-types", "check:types", "tsc"];
/** Scripts that run the tests once, for projects whose `test` script watches. */
const ONCE_SCRIPTS = ["test:run", "test:ci", "ci:test", "test:once", "test:unit"];

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: ReadonlySet<string>;
  readonly manager: string | null;
  readonly workspaces: readonly string[];
}

/** The tools of a package of npm's kind; `null` where there is no package.json. */
export async function nodeTools(at: ProjectReader): Promise<ProjectTools | null> {
  const manifest = manifestIn(await at.text("package.json"));
  if (manifest === null) return null;
  const { manager, by } = await managerOf(at, manifest);
  const packages = await packagesOf(at, manifest);
  const command = MANAGERS[manager];
  const script = testScript(manifest);
  const runner = Object.keys(NODE_RUNNERS).find((name) => manifest.dependencies.has(name));
  const test =
    script === "test"
      ? command.test
      : script !== null
        ? `${command.run} ${script}`
        : packages !== null
          ? command.each
          : runner === undefined
            ? null
            : `${command.exec} ${NODE_RUNNERS[runner]}`;
  const ran = script === null ? "" : expanded(script, manifest.scripts);
  const other = (names: readonly string[]): string | null => {
    const name = names.find((each) => Object.hasOwn(manifest.scripts, each) && !isWatching(manifest.scripts[each]!));
    // A command that the test script already runs is not added again.
    return name === undefined || runsScript(ran, name) || ran.includes(manifest.scripts[name]!)
      ? null
      : `${command.run} ${name}`;
  };
  return { stack: `${manager} (${by})`, packages, test, lint: other(LINT_SCRIPTS), types: other(TYPE_SCRIPTS) };
}

/** The commands of this package's manager; npm's where there is no package.json. */
export async function managerCommands(at: ProjectReader): Promise<{ run: string; exec: string; add: string }> {
  const manifest = manifestIn(await at.text("package.json"));
  return MANAGERS[manifest === null ? "npm" : (await managerOf(at, manifest)).manager];
}

/** The script for the tests. The placeholder of `npm init` always fails, which would look like a fault of the work. */
function testScript({ scripts }: Manifest): string | null {
  const { test } = scripts;
  if (test === undefined || /^echo .*no test specified/.test(test)) return null;
  if (!isWatching(test)) return "test";
  return ONCE_SCRIPTS.find((name) => Object.hasOwn(scripts, name) && !isWatching(scripts[name]!)) ?? null;
}

const isWatching = (script: string): boolean =>
  /--watch(?:All)?\b(?!=false)|\b(?:vitest|tsc) (?:watch|-w)\b/.test(script);

/** A script with the scripts that it runs. */
function expanded(name: string, scripts: Readonly<Record<string, string>>, seen: readonly string[] = []): string {
  const script = scripts[name] ?? "";
  const more = Object.keys(scripts).filter((each) => !seen.includes(each) && each !== name && runsScript(script, each));
  return [script, ...more.map((each) => expanded(each, scripts, [...seen, name]))].join(" && ");
}

const runsScript = (line: string, name: string): boolean =>
  line.split(/&&|\|\||;/).some((part) => {
    const [program = "", ...args] = part.trim().split(/\s+/);
    return Object.hasOwn(MANAGERS, program) && args[args[0] === "run" ? 1 : 0] === name;
  });

/** The package manager that the manifest names, else that of a lockfile here or above, else npm. */
async function managerOf(at: ProjectReader, manifest: Manifest): Promise<{ manager: Manager; by: string }> {
  for (let place: ProjectReader | null = at; place !== null; place = await place.above()) {
    const named = place === at ? manifest.manager : (manifestIn(await place.text("package.json"))?.manager ?? null);
    const manager = managerNames.find((name) => named?.startsWith(`${name}@`) === true);
    if (manager !== undefined) return { manager, by: "packageManager in package.json" };
    const lockfile = await place.first(...LOCKFILES.filter((name) => managerOfLockfile(name) !== undefined));
    if (lockfile !== null) return { manager: managerOfLockfile(lockfile)!, by: lockfile };
  }
  return { manager: "npm", by: "package.json" };
}

const managerNames = Object.keys(MANAGERS) as Manager[];

const managerOfLockfile = (lockfile: string): Manager | undefined =>
  lockfile === "package-lock.json" || lockfile === "npm-shrinkwrap.json"
    ? "npm"
    : managerNames.find((name) => lockfile.startsWith(name));

async function packagesOf(at: ProjectReader, { workspaces }: Manifest): Promise<string | null> {
  const text = await at.text("pnpm-workspace.yaml");
  const listed = /^packages:\s*\n((?:\s*(?:-.*|#.*)?\n?)+)/m.exec(text ?? "")?.[1] ?? "";
  const patterns = [
    ...workspaces,
    ...[...listed.matchAll(/^\s*-\s*["']?([^"'\s#]+)/gm)].map(([, pattern]) => pattern!),
  ];
  const inside = patterns.filter((pattern) => !pattern.startsWith("!"));
  return inside.length === 0 ? null : inside.join(", ");
}

function manifestIn(text: string | null): Manifest | null {
  const read = text === null ? null : readJson(text);
  const value = read?.ok === true ? read.value : null;
  if (!isRecord(value)) return null;
  const { scripts, workspaces, packageManager } = value;
  const patterns = isRecord(workspaces) ? workspaces["packages"] : workspaces;
  return {
    scripts: Object.fromEntries(
      Object.entries(isRecord(scripts) ? scripts : {}).filter(
        (each): each is [string, string] => typeof each[1] === "string",
      ),
    ),
    dependencies: new Set(
      [value["dependencies"], value["devDependencies"]].flatMap((each) => (isRecord(each) ? Object.keys(each) : [])),
    ),
    manager: typeof packageManager === "string" ? packageManager : null,
    workspaces: Array.isArray(patterns) ? patterns.filter((each) => typeof each === "string") : [],
  };
}

const MANIFESTS = ["pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt"];
const VENVS = [".venv", "venv", "env"];

/** Tools that run a program in the project's own environment, by their lockfiles. */
const PYTHON_RUNNERS = [
  ["uv.lock", "uv"],
  ["poetry.lock", "poetry"],
  ["pdm.lock", "pdm"],
  ["Pipfile.lock", "pipenv"],
] as const;

/** The tools of a Python project; `null` where there is none. An environment that exists is used as it is. */
export async function pythonTools(at: ProjectReader): Promise<ProjectTools | null> {
  const manifest = await at.first(...MANIFESTS);
  if (manifest === null) return null;
  const settings = await textOf(at, ["pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", "noxfile.py"]);
  const needed = await textOf(at, ["requirements.txt", "requirements-dev.txt", "requirements-test.txt"]);
  const { prefix, python, stack } = await environmentOf(at, manifest);
  const isInstalled = async (program: string): Promise<boolean> =>
    (prefix.endsWith("/") && (await at.has(`${prefix}${program}`))) || (await at.isOnPath(program));
  const withProgram = async (program: string, rest: string): Promise<string | null> => {
    if (prefix.endsWith("/") && !(await at.has(`${prefix}${program}`)))
      return (await at.isOnPath(program)) ? `${program}${rest}` : null;
    return prefix !== "" || (await at.isOnPath(program)) ? `${prefix}${program}${rest}` : null;
  };
  return {
    stack,
    packages: null,
    test: await testCommand(),
    lint:
      /^\[tool\.ruff/m.test(settings) || (await at.has("ruff.toml", ".ruff.toml"))
        ? await withProgram("ruff", " check .")
        : /^\[flake8\]/m.test(settings) || (await at.has(".flake8"))
          ? await withProgram("flake8", "")
          : null,
    types:
      /^\[(?:tool\.)?mypy/m.test(settings) || (await at.has("mypy.ini", ".mypy.ini"))
        ? await withProgram("mypy", " .")
        : /^\[tool\.pyright/m.test(settings) || (await at.has("pyrightconfig.json"))
          ? await withProgram("pyright", "")
          : null,
  };

  async function testCommand(): Promise<string> {
    const makefile = (await at.text("Makefile")) ?? "";
    const isPytest = /\bpytest\b/.test(`${settings}\n${needed}`) || (await at.has("conftest.py", "tests/conftest.py"));
    if (!isPytest && /-m unittest\b/.test(`${settings}\n${makefile}`)) return `${python} -m unittest -v`;
    // Run as a module of its interpreter, pytest finds the project's modules without an installation. A pytest that is
    // installed elsewhere has another interpreter.
    const isElsewhere = prefix === "" && (await at.folderOf("pytest")) !== (await at.folderOf(python));
    if (!isElsewhere || !(await isInstalled("pytest"))) return `${python} -m pytest -q`;
    // Run as a program, pytest finds them only by a setting, or by files next to them.
    const isSaid = /^\s*pythonpath\s*=/m.test(settings) || (await at.has("conftest.py", "tests/__init__.py", "src"));
    return isSaid ? "pytest -q" : "pytest -q -o pythonpath=.";
  }
}

async function textOf(at: ProjectReader, names: readonly string[]): Promise<string> {
  return (await Promise.all(names.map((name) => at.text(name)))).map((text) => text ?? "").join("\n");
}

interface PythonEnvironment {
  /** The prefix of programs: `.venv/bin/`, `uv run `, or nothing. */
  readonly prefix: string;
  readonly python: string;
  readonly stack: string;
}

async function environmentOf(at: ProjectReader, manifest: string): Promise<PythonEnvironment> {
  const interpreters = VENVS.map((folder) => `${folder}/bin/python`);
  const own = await at.first(...interpreters);
  if (own !== null) {
    const folder = own.slice(0, own.indexOf("/"));
    return { prefix: `${folder}/bin/`, python: own, stack: `Python of ${folder} (${manifest})` };
  }
  for (const [lockfile, program] of PYTHON_RUNNERS)
    if ((await at.has(lockfile)) && (await at.isOnPath(program)))
      return {
        prefix: `${program} run `,
        python: `${program} run python`,
        stack: `Python by ${program} (${lockfile})`,
      };
  const python = (await at.isOnPath("python3")) || !(await at.isOnPath("python")) ? "python3" : "python";
  return { prefix: "", python, stack: `Python (${manifest})` };
}

/** Reads a folder of a project, to detect its tools from its files. */
export interface ProjectReader {
  text(name: string): Promise<string | null>;
  has(...names: readonly string[]): Promise<boolean>;
  /** The first of these files that exists. */
  first(...names: readonly string[]): Promise<string | null>;
  /** Whether the shell finds this program here. */
  isOnPath(program: string): Promise<boolean>;
  /** The folder in which the shell finds the program; `null`: in none. */
  folderOf(program: string): Promise<string | null>;
  entries(): Promise<readonly string[]>;
  inside(folder: string): ProjectReader;
  /** The folder above, within the same repository. */
  above(): Promise<ProjectReader | null>;
}

export function readerOf({ cwd, env, files }: Checkout): ProjectReader {
  const isThere = async (path: string): Promise<boolean> => (await files.look(path)).type !== "absent";
  const first: ProjectReader["first"] = async (...names) => {
    for (const name of names) if (await isThere(join(cwd, name))) return name;
    return null;
  };
  const folderOf: ProjectReader["folderOf"] = async (program) => {
    const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
    const found = await Promise.all(folders.map((folder) => isThere(join(folder, program))));
    return folders[found.indexOf(true)] ?? null;
  };
  return {
    text: (name) => files.read(join(cwd, name)),
    first,
    has: async (...names) => (await first(...names)) !== null,
    folderOf,
    isOnPath: async (program) => (await folderOf(program)) !== null,
    async entries() {
      const found = await files.look(cwd);
      return found.type === "folder" ? found.entries : [];
    },
    inside: (folder) => readerOf({ cwd: join(cwd, folder), env, files }),
    async above() {
      const folder = dirname(cwd);
      return folder === cwd || (await isThere(join(cwd, ".git"))) ? null : readerOf({ cwd: folder, env, files });
    },
  };
}

/** The commands that check a change in a project, as its developers type them. */
export interface ProjectTools {
  /** The detected stack and the file that shows it: `pnpm (pnpm-lock.yaml)`. */
  readonly stack: string;
  /** Where the packages of a monorepo are; `null`: it is not a monorepo. */
  readonly packages: string | null;
  readonly test: string | null;
  readonly lint: string | null;
  readonly types: string | null;
}
