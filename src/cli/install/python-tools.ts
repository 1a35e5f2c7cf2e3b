import type { ProjectReader, ProjectTools } from "./project-reader.ts";

const MANIFESTS = ["pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt"];
const VENVS = [".venv", "venv", "env"];

/** Tools that run a program in the project's own environment, by their lockfiles. */
const RUNNERS = [
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
    // Started by its interpreter, it finds the project's modules without an installation.
    return prefix === "" && (await isInstalled("pytest")) ? "pytest -q" : `${python} -m pytest -q`;
  }
}

async function textOf(at: ProjectReader, names: readonly string[]): Promise<string> {
  return (await Promise.all(names.map((name) => at.text(name)))).map((text) => text ?? "").join("\n");
}

interface PythonEnvironment {
  /** Before a program: `.venv/bin/`, `uv run `, or nothing. */
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
  for (const [lockfile, program] of RUNNERS)
    if ((await at.has(lockfile)) && (await at.isOnPath(program)))
      return {
        prefix: `${program} run `,
        python: `${program} run python`,
        stack: `Python by ${program} (${lockfile})`,
      };
  const python = (await at.isOnPath("python3")) || !(await at.isOnPath("python")) ? "python3" : "python";
  return { prefix: "", python, stack: `Python (${manifest})` };
}
