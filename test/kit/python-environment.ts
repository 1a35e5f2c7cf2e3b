import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { write } from "./git-repository.ts";

/** A Python environment outside of every checkout, and the ways in which installers lead it to a project's files. */
export interface PythonEnvironment {
  readonly folder: string;
  readonly bin: string;
  readonly site: string;
  readonly python: string;
  readonly env: Readonly<Record<string, string>>;
  /** A line in a `.pth` file: what setuptools, hatch, flit, pdm, poetry and uv write by default. */
  byPath(...folders: string[]): void;
  /** A finder with a table, at the end of the finders: setuptools, where a path would show too much. */
  byTable(mapping: Readonly<Record<string, string>>, namespaces?: Readonly<Record<string, readonly string[]>>): void;
  /** The finder of the package `editables`, which hatch and pdm use when they are asked to be exact. */
  byRedirections(table: Readonly<Record<string, string>>): void;
  /** An opaque finder that comes before all others, as those of native builds do. */
  byFirstFinder(name: string, file: string): void;
  /** A link among the packages: flit. */
  byLink(name: string, target: string): void;
}

export function pythonProgram(): string | null {
  try {
    return execFileSync("python3", ["-c", "import sys; print(sys._base_executable)"], { encoding: "utf8" }).trim();
  } catch {
    return null;
  }
}

export function makePython(folder: string, program: string): PythonEnvironment {
  const version = execFileSync(program, ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"], {
    encoding: "utf8",
  });
  const bin = join(folder, "bin");
  const site = join(folder, "lib", `python${version.trim()}`, "site-packages");
  mkdirSync(bin, { recursive: true });
  mkdirSync(site, { recursive: true });
  write(folder, "pyvenv.cfg", `home = ${join(program, "..")}\ninclude-system-site-packages = false\n`);
  for (const name of ["python", "python3"]) symlinkSync(program, join(bin, name));
  const module = (name: string, text: string): void => {
    writeFileSync(join(site, `${name}.py`), text);
    writeFileSync(join(site, `${name}.pth`), `import ${name}; ${name}.install()\n`);
  };
  return {
    folder,
    bin,
    site,
    python: join(bin, "python"),
    env: { PATH: [bin, process.env["PATH"] ?? ""].join(delimiter), HOME: folder },
    byPath: (...folders) => writeFileSync(join(site, "__editable__.shop-1.0.pth"), `${folders.join("\n")}\n`),
    byTable: (mapping, namespaces = {}) => module("__editable___shop_1_0_finder", tableFinder(mapping, namespaces)),
    byRedirections: (table) => module("_editable_impl_shop", redirectingFinder(table)),
    byFirstFinder: (name, file) => module("_shop_editable_loader", firstFinder(name, file)),
    byLink: (name, target) => symlinkSync(target, join(site, name)),
  };
}

const tableFinder = (mapping: object, namespaces: object): string => `\
import os, sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location

MAPPING = ${JSON.stringify(mapping)}
NAMESPACES = ${JSON.stringify(namespaces)}
PATH_PLACEHOLDER = "__editable__.shop-1.0.finder.__path_hook__"

class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        for name, where in MAPPING.items():
            if fullname == name or fullname.startswith(name + "."):
                base = os.path.join(where, *fullname[len(name) + 1:].split("."))
                for file in (os.path.join(base, "__init__.py"), base.rstrip("/") + ".py"):
                    if os.path.exists(file):
                        return spec_from_file_location(fullname, file)
        return None

class _EditableNamespaceFinder:
    @classmethod
    def _path_hook(cls, path):
        if path == PATH_PLACEHOLDER:
            return cls
        raise ImportError

    @classmethod
    def find_spec(cls, fullname, target=None):
        if fullname not in NAMESPACES:
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = NAMESPACES[fullname] or [PATH_PLACEHOLDER]
        return spec

def install():
    sys.meta_path.append(_EditableFinder)
    if NAMESPACES:
        sys.path_hooks.append(_EditableNamespaceFinder._path_hook)
        sys.path.append(PATH_PLACEHOLDER)
`;

const redirectingFinder = (table: object): string => `\
import sys
from importlib.util import spec_from_file_location

class RedirectingFinder:
    _redirections = ${JSON.stringify(table)}

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        file = None if path is not None else cls._redirections.get(fullname)
        return None if file is None else spec_from_file_location(fullname, file)

def install():
    sys.meta_path.append(RedirectingFinder)
`;

const firstFinder = (name: string, file: string): string => `\
import sys
from importlib.util import spec_from_file_location

class Finder:
    def find_spec(self, fullname, path=None, target=None):
        return spec_from_file_location(fullname, "${file}") if fullname == "${name}" else None

def install():
    sys.meta_path.insert(0, Finder())
`;
