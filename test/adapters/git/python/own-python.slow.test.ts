import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linkPackages } from "../../../../src/adapters/git/dependencies/link-packages.ts";
import { createOwnPython } from "../../../../src/adapters/git/python/own-python.ts";
import { RemandError } from "../../../../src/core/events/error.ts";
import { gitIn, makeRepository, write, type TestRepository } from "../../../kit/git-repository.ts";
import { makePython, pythonProgram, type PythonEnvironment } from "../../../kit/python-environment.ts";

/* A project that is installed as editable in an environment outside of the checkout, and a worktree of Remand. */

const program = pythonProgram();
if (program === null) console.warn("NOT RUN: there is no python3 here");

let repository: TestRepository;
let outside: PythonEnvironment;
let worktree: string;
let notices: string[];

const FILES = {
  "pyproject.toml": '[project]\nname = "shop"\n',
  "src/shop/__init__.py": "",
  "src/shop/price.py": "",
  "src/oldshop.py": "",
};

function begin(files: Readonly<Record<string, string>>): void {
  repository?.clear();
  repository = makeRepository(files);
  outside = makePython(join(repository.home, "environment"), program!);
  worktree = placeOf("story");
  notices = [];
}

function placeOf(name: string): string {
  const path = join(repository.root, ".remand/worktrees", name);
  repository.git("worktree", "add", "--quiet", "--detach", path);
  write(repository.root, ".remand/.gitignore", "*\n");
  return path;
}

const ownPython = (commands: readonly string[] = ["python -m pytest"], root = repository.root) =>
  createOwnPython({
    root,
    state: join(root, ".remand"),
    commands,
    env: outside.env,
    onNotice: (text) => notices.push(text),
  });

/** Returns the file from which a Python started in a folder imports a module, or its error. */
function fileOf(module: string, folder: string, more: Readonly<Record<string, string>>): string {
  const text = `import importlib; m = importlib.import_module("${module}"); print(m.__file__ or list(m.__path__))`;
  try {
    return execFileSync(outside.python, ["-c", text], {
      cwd: join(folder, ".."),
      env: { ...outside.env, ...more },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  } catch (error) {
    return (error as { stderr: string }).stderr.trim().split("\n").at(-1)!;
  }
}

describe.skipIf(program === null)("a Python in a worktree", () => {
  beforeEach(() => begin(FILES));
  afterEach(() => repository.clear());
  const src = (root: string): string => join(root, "src");

  it("imports the checkout without the startup file, which is the problem", () => {
    outside.byPath(src(repository.root));
    expect(fileOf("shop", worktree, {})).toBe(join(repository.root, "src/shop/__init__.py"));
  });

  const FORMS: Readonly<Record<string, (root: string) => void>> = {
    "a path": (root) => outside.byPath(src(root)),
    "a table": (root) => outside.byTable({ shop: join(src(root), "shop"), oldshop: join(src(root), "oldshop") }),
    redirections: (root) =>
      outside.byRedirections({ shop: join(src(root), "shop/__init__.py"), oldshop: join(src(root), "oldshop.py") }),
    "a link": (root) => {
      outside.byLink("shop", join(src(root), "shop"));
      outside.byLink("oldshop.py", join(src(root), "oldshop.py"));
    },
  };
  it.each(Object.keys(FORMS))("imports its own files if the project is installed by %s", async (form) => {
    FORMS[form]!(repository.root);
    const env = await ownPython().in(worktree);
    expect(fileOf("shop", worktree, env)).toBe(join(worktree, "src/shop/__init__.py"));
    expect(fileOf("shop.price", worktree, env)).toBe(join(worktree, "src/shop/price.py"));
    expect(fileOf("oldshop", worktree, env)).toBe(join(worktree, "src/oldshop.py"));
    // Files that the work removed are gone, even though the checkout still has them.
    rmSync(join(worktree, "src/oldshop.py"));
    expect(fileOf("oldshop", worktree, env)).toMatch(/^(?:ModuleNotFoundError|FileNotFoundError)/);
  });

  it("is not changed in the checkout itself", async () => {
    for (const install of Object.values(FORMS)) install(repository.root);
    expect(await ownPython().in(repository.root)).toEqual({});
    expect(await ownPython().in(join(repository.root, "src"))).toEqual({});
  });

  it.each(Object.keys(FORMS))("is not redirected to another story by an installation there: %s", async (form) => {
    const other = placeOf("other");
    FORMS[form]!(other);
    const python = ownPython();
    const [env, here] = [await python.in(worktree), await python.in(repository.root)];
    rmSync(other, { recursive: true });
    expect(fileOf("shop", worktree, env)).toBe(join(worktree, "src/shop/__init__.py"));
    expect(fileOf("shop", repository.root, here)).toBe(join(repository.root, "src/shop/__init__.py"));
  });

  it("finds a package whose folder has another name, and nothing else of the checkout", async () => {
    begin({ "setup.py": "", "lib/store/__init__.py": "", "tests/__init__.py": "" });
    outside.byTable({ shop: join(repository.root, "lib/store") });
    const env = await ownPython().in(worktree);
    expect(fileOf("shop", worktree, env)).toBe(join(worktree, "lib/store/__init__.py"));
    expect(fileOf("tests", worktree, env)).toContain("ModuleNotFoundError");
  });

  it("is the checkout's own, active or linked: its packages stay, and the project is the worktree's", async () => {
    outside = makePython(join(repository.root, ".venv"), program!);
    write(outside.site, "dep.py", "");
    outside.byPath(src(repository.root));
    const active = await ownPython().in(worktree);
    expect(fileOf("dep", worktree, active)).toBe(join(outside.site, "dep.py"));
    expect(fileOf("shop", worktree, active)).toBe(join(worktree, "src/shop/__init__.py"));
    await linkPackages({ root: repository.root, checkout: repository.root }, ".venv", worktree);
    const lent = await ownPython([".venv/bin/python -m pytest"]).in(worktree);
    outside = { ...outside, python: join(worktree, ".venv/bin/python") };
    expect(fileOf("dep", worktree, lent)).toContain(join(worktree, ".venv/lib"));
    expect(fileOf("shop", worktree, lent)).toBe(join(worktree, "src/shop/__init__.py"));
  });

  it("has only its own half of a namespace package", async () => {
    begin({ "setup.cfg": "", "src/acme/shop/__init__.py": "" });
    outside.byPath(src(repository.root));
    const byPath = await ownPython().in(worktree);
    expect(fileOf("acme", worktree, byPath)).toBe(`['${join(worktree, "src/acme")}']`);
    outside.byPath("");
    outside.byTable({ "acme.shop": join(src(repository.root), "acme/shop") }, { acme: [] });
    expect(fileOf("acme.shop", worktree, await ownPython().in(worktree))).toBe(
      join(worktree, "src/acme/shop/__init__.py"),
    );
    outside.byTable({}, { acme: [join(src(repository.root), "acme")] });
    expect(fileOf("acme.shop", worktree, await ownPython().in(worktree))).toBe(
      join(worktree, "src/acme/shop/__init__.py"),
    );
  });

  it("finds each of several packages of one repository", async () => {
    begin({ "one/pyproject.toml": "", "one/src/one.py": "", "two/pyproject.toml": "", "two/two.py": "" });
    outside.byPath(join(repository.root, "one/src"), join(repository.root, "two"));
    const env = await ownPython().in(join(worktree, "one"));
    expect(fileOf("one", worktree, env)).toBe(join(worktree, "one/src/one.py"));
    expect(fileOf("two", worktree, env)).toBe(join(worktree, "two/two.py"));
  });

  it("is redirected from another clone of the project, and not from other projects", async () => {
    const clone = join(repository.home, "clone");
    gitIn(repository.home, repository.env, "clone", "--quiet", repository.root, clone);
    const library = join(repository.home, "library");
    gitIn(repository.home, repository.env, "clone", "--quiet", repository.root, library);
    write(library, "pyproject.toml", '[project]\nname = "tools"\n');
    write(library, "src/tools.py", "");
    outside.byPath(src(clone), src(library));
    const env = await ownPython().in(worktree);
    expect(fileOf("shop", worktree, env)).toBe(join(worktree, "src/shop/__init__.py"));
    expect(fileOf("tools", worktree, env)).toBe(join(library, "src/tools.py"));
    // A person's own checkout needs redirects too, if another checkout is installed.
    expect(fileOf("shop", repository.root, await ownPython().in(repository.root))).toBe(
      join(repository.root, "src/shop/__init__.py"),
    );
  });

  it("is not started if an import finder cannot be redirected, because it would test the wrong files", async () => {
    const file = join(repository.root, "src/shop/__init__.py");
    outside.byFirstFinder("shop", file);
    const refused = await ownPython()
      .in(worktree)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RemandError);
    expect((refused as RemandError).message).toContain("_shop_editable_loader");
    expect((refused as RemandError).hint).toContain("workspace.setup");
    // Which Python make starts is unknown, so that Python itself refuses.
    const env = await ownPython(["make test"]).in(worktree);
    expect(notices.join("\n")).toContain("_shop_editable_loader");
    expect(fileOf("shop", worktree, env)).toMatch(
      /ModuleNotFoundError: remand: shop would be imported from .* not from/,
    );
    expect(fileOf("json", worktree, env)).toContain("json/__init__.py");
  });

  it("is queried again after that was fixed", async () => {
    outside.byFirstFinder("shop", join(repository.root, "src/shop/__init__.py"));
    const python = ownPython();
    await expect(python.in(worktree)).rejects.toThrow("files other than the story's");
    rmSync(join(outside.site, "_shop_editable_loader.pth"));
    expect(await python.in(worktree)).toMatchObject({ REMAND_PLACE: worktree });
  });

  it("is refused a tree of links that was built in the checkout, and keeps other untracked paths", async () => {
    const links = join(repository.root, "build/__editable__.shop-1.0");
    mkdirSync(links, { recursive: true });
    symlinkSync(join(repository.root, "src/shop"), join(links, "shop"));
    outside.byPath(links);
    await expect(ownPython().in(worktree)).rejects.toThrow("installed as links");
    write(repository.root, "vendored/gift.py", "");
    outside.byPath(join(repository.root, "vendored"));
    expect(fileOf("gift", worktree, await ownPython().in(worktree))).toBe(join(repository.root, "vendored/gift.py"));
  });

  it("keeps its PYTHONPATH, and other startup code", async () => {
    const mine = join(repository.home, "mine");
    write(mine, "sitecustomize.py", "import sys; sys.mine = True\n");
    write(mine, "shown.py", "import sys; __file__ = str(sys.mine)\n");
    outside.byPath(src(repository.root));
    const env = await ownPython().in(worktree, [src(repository.root), mine].join(delimiter));
    expect(env["PYTHONPATH"]!.split(delimiter).slice(1)).toEqual([src(worktree), mine]);
    expect(fileOf("shown", worktree, env)).toBe("True");
    expect(fileOf("shop", worktree, env)).toBe(join(worktree, "src/shop/__init__.py"));
  });

  it("is not started if an installed package cannot be inspected, because its imports are unknown", async () => {
    outside.byPath(src(repository.root));
    const odd = 'type("Odd", (), {"__module__": property(lambda self: 1 / 0)})()';
    write(outside.site, "odd.pth", `import sys; sys.meta_path.append(${odd})\n`);
    const said = fileOf("shop", worktree, await ownPython().in(worktree));
    expect(said).toContain(`cannot be led to ${worktree}: ZeroDivisionError`);
  });

  it("reads the startup file, even after it was overwritten", async () => {
    outside.byPath(src(repository.root));
    const python = ownPython();
    await python.in(worktree);
    writeFileSync(join(repository.root, ".remand/python/sitecustomize.py"), "");
    expect(fileOf("shop", worktree, await python.in(worktree))).toBe(join(worktree, "src/shop/__init__.py"));
  });

  it("is left alone without a Python project, and outside of a repository", async () => {
    begin({ "package.json": "{}" });
    expect(await ownPython().in(worktree)).toEqual({});
    expect(await ownPython([], repository.home).in(repository.home)).toEqual({});
    expect(existsSync(join(repository.root, ".remand/python"))).toBe(false);
  });
});
