import { familyOf, type LanguageFamily } from "./symbols-mask.ts";
import { folderStems, workspaceStems, type WorkspacePackage } from "./workspace-packages.ts";

/** Finds files of the project by the names that code and output use. */
export interface PathIndex {
  has(path: string): boolean;
  /** Returns the file whose path ends like this one, if exactly one matches best. */
  bySuffix(path: string): string | null;
  /** Returns all files in this folder, or in a folder whose path ends like it. */
  inFolder(folder: string): readonly string[];
  /** The project's own packages, by the names with which they are imported. */
  readonly packages: ReadonlyMap<string, WorkspacePackage>;
}

export function pathIndex(paths: readonly string[], packages: PathIndex["packages"] = new Map()): PathIndex {
  const known = new Set(paths);
  const byName = new Map<string, string[]>();
  const byFolder = new Map<string, string[]>();
  for (const path of paths) {
    const cut = path.lastIndexOf("/");
    push(byName, path.slice(cut + 1), path);
    push(byFolder, cut < 0 ? "" : path.slice(0, cut), path);
  }
  const foldersByName = new Map<string, string[]>();
  for (const folder of byFolder.keys()) push(foldersByName, folder.slice(folder.lastIndexOf("/") + 1), folder);
  return {
    packages,
    has: (path) => known.has(path),
    bySuffix: (path) => bestSuffix(path, byName.get(path.slice(path.lastIndexOf("/") + 1)) ?? []),
    inFolder(folder) {
      const exact = byFolder.get(folder);
      if (exact !== undefined) return exact;
      const best = bestSuffix(folder, foldersByName.get(folder.slice(folder.lastIndexOf("/") + 1)) ?? []);
      return best === null ? [] : byFolder.get(best)!;
    },
  };
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Returns the candidate that shares the most path parts, counted from the end; `null` if two share as many. */
function bestSuffix(path: string, candidates: readonly string[]): string | null {
  const wanted = path.split("/");
  let best: string | null = null;
  let most = 0;
  let isTie = false;
  for (const candidate of candidates) {
    const parts = candidate.split("/");
    let same = 0;
    while (same < parts.length && same < wanted.length && parts.at(-1 - same) === wanted.at(-1 - same)) same++;
    if (same > most) [best, most, isTie] = [candidate, same, false];
    else if (same === most) isTie = true;
  }
  return isTie ? null : best;
}

/**
 * Returns the files of the project that a file refers to: its imports, and data files whose names are in its strings.
 * Other names are libraries and left out.
 */
export function readImports(text: string, path: string, index: PathIndex): string[] {
  const family = familyOf(path);
  const found = new Set<string>();
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  for (const target of targets(text.slice(0, 400_000), path, folder, family, index)) {
    if (target !== path && index.has(target)) found.add(target);
  }
  for (const target of dataFiles(text, folder, index)) if (target !== path) found.add(target);
  return [...found];
}

function targets(text: string, path: string, folder: string, family: LanguageFamily, index: PathIndex): string[] {
  switch (family) {
    case "javascript":
      return matches(
        text,
        /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*|\bmock\s*\(\s*)["'`]([^"'`\n]{1,300})["'`]/g,
      ).flatMap((name) => scriptTarget(name, folder, index) ?? []);
    case "python":
      return pythonTargets(text, folder, index);
    case "go":
      // Files of one folder are one package, and use each other without an import.
      return [
        ...index.inFolder(folder).filter((each) => each.endsWith(".go")),
        ...matches(text, /^\s*(?:import\s+)?(?:[\w.]+\s+)?"([\w./-]+)"\s*$/gm).flatMap((name) =>
          name.includes("/")
            ? index.inFolder(name).filter((each) => each.endsWith(".go") && !each.endsWith("_test.go"))
            : [],
        ),
      ];
    case "rust":
      return rustTargets(text, path, folder);
    case "java":
      return javaTargets(text, folder, index);
    case "other":
      return otherTargets(text, folder, index);
  }
}

const SCRIPT_ENDINGS = [
  "",
  ".ts",
  ".tsx",
  ".js",
  ".jsx",
  ".mjs",
  ".cjs",
  ".mts",
  ".json",
  ".vue",
  "/index.ts",
  "/index.tsx",
  "/index.js",
  "/index.mjs",
];

function scriptTarget(name: string, folder: string, index: PathIndex): string | null {
  const isRelative = name.startsWith(".");
  const ownStems = isRelative
    ? folderStems(joinPath(folder, name), index.packages)
    : workspaceStems(name, index.packages);
  if (ownStems.length > 0) {
    for (const stem of ownStems)
      for (const ending of SCRIPT_ENDINGS) if (index.has(stem + ending)) return stem + ending;
    return null;
  }
  if (!isRelative && !/^[@~#]?\/|^(?:src|lib|app|test|tests)\//.test(name)) return null;
  const base = isRelative ? joinPath(folder, name) : name.replace(/^[@~#]?\//, "");
  // In TypeScript, an import can say `.js` for a `.ts` file.
  const stems = /\.[cm]?jsx?$/.test(base) ? [base, base.replace(/js(x?)$/, "ts$1")] : [base];
  for (const stem of stems) {
    for (const ending of SCRIPT_ENDINGS) {
      if (index.has(stem + ending)) return stem + ending;
      if (!isRelative) {
        const far = index.bySuffix(stem + ending);
        if (far?.endsWith(`/${stem}${ending}`)) return far;
      }
    }
  }
  return null;
}

function pythonTargets(text: string, folder: string, index: PathIndex): string[] {
  const found: string[] = [];
  for (const line of text.split("\n")) {
    const from = /^\s*from\s+(\.*)([\w.]*)\s+import\s+(.*)$/.exec(line);
    const plain = from === null ? /^\s*import\s+([\w., ]+)/.exec(line) : null;
    if (from !== null) {
      const dots = from[1]!.length;
      const up = dots > 1 ? "../".repeat(dots - 1) : "";
      const base =
        dots > 0 ? joinPath(folder, `./${up}${from[2]!.replaceAll(".", "/")}`) : from[2]!.replaceAll(".", "/");
      const parts = from[3]!
        .replaceAll(/[()#].*/g, "")
        .split(",")
        .map((part) => part.trim().split(/\s+/)[0]!);
      for (const name of ["", ...parts])
        found.push(...pythonModule(name === "" ? base : `${base}/${name}`, dots > 0, index));
    } else if (plain !== null) {
      for (const part of plain[1]!.split(","))
        found.push(...pythonModule(part.trim().split(/\s+/)[0]!.replaceAll(".", "/"), false, index));
    }
  }
  return found;
}

function pythonModule(base: string, isRelative: boolean, index: PathIndex): string[] {
  if (base === "" || base.endsWith("/")) return [];
  for (const path of [`${base}.py`, `${base}/__init__.py`]) {
    if (index.has(path)) return [path];
    const far = isRelative ? null : index.bySuffix(path);
    if (far?.endsWith(`/${path}`)) return [far];
  }
  return [];
}

function rustTargets(text: string, path: string, folder: string): string[] {
  const found: string[] = [];
  const inside = /^(.*?\bsrc)(?:\/|$)/.exec(folder)?.[1];
  // Tests and examples are separate crates, in a file or a folder next to the library that they use.
  const outside = inside === undefined ? /^(.*?\b(?:tests|benches|examples))(?:\/[^/]+)?/.exec(folder) : null;
  const crate = inside ?? outside?.[0] ?? joinPath(folder, "../src");
  const library = outside === null ? crate : joinPath(outside[1]!, "../src");
  const own = /\/(?:mod|lib|main)\.rs$/.test(path) ? folder : path.replace(/\.rs$/, "");
  for (const name of matches(text, /^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;/gm)) {
    found.push(...[own, folder].flatMap((base) => [`${base}/${name}.rs`, `${base}/${name}/mod.rs`]));
  }
  for (const use of matches(text, /\b(?:use\s+)?((?:crate|super|self|\w+)(?:::\w+)+)/g)) {
    const [head = "", ...rest] = use.split("::");
    const base = head === "super" ? joinPath(own, "..") : head === "self" ? own : head === "crate" ? crate : library;
    for (let length = rest.length; length > 0; length--) {
      const stem = `${base}/${rest.slice(0, length).join("/")}`;
      found.push(`${stem}.rs`, `${stem}/mod.rs`);
    }
  }
  // A test outside the crate uses the crate through its root.
  if (outside !== null) found.push(`${library}/lib.rs`);
  return found;
}

function javaTargets(text: string, folder: string, index: PathIndex): string[] {
  const imported = matches(text, /^\s*(?:import|using)\s+(?:static\s+)?([\w.]+)/gm).flatMap((name) => {
    const stem = name.replaceAll(".", "/");
    const parent = stem.slice(0, stem.lastIndexOf("/"));
    return [stem, parent].flatMap((each) =>
      [".java", ".kt", ".scala", ".cs"].flatMap((ending) => {
        const found = index.bySuffix(each + ending);
        return found?.endsWith(`/${each}${ending}`) ? [found] : [];
      }),
    );
  });
  // Classes of one package use each other, and their tests are in a folder of the same name elsewhere.
  const others = ["main", "src"].map((name) => folder.replace(/(^|\/)tests?\//, `$1${name}/`));
  const main = others.filter((other) => other !== folder).flatMap((other) => index.inFolder(other));
  return [...imported, ...index.inFolder(folder), ...main];
}

/** Finds headers, with the files that implement them, and scripts that a script calls: for C, C++ and shells. */
function otherTargets(text: string, folder: string, index: PathIndex): string[] {
  const headers = matches(text, /^[ \t]*#[ \t]*include[ \t]+"([^"\n]{1,200})"/gm);
  const scripts = matches(text, /([\w./-]{1,200}\.(?:sh|bash|bats))\b/g);
  return [...headers, ...scripts].flatMap((name) => {
    const near = joinPath(folder, name);
    const found = index.has(near) ? near : index.bySuffix(name.replace(/^(?:\.{0,2}\/)+/, ""));
    if (found === null) return [];
    const stem = found.replace(/\.h(?:h|pp|xx)?$/, "");
    return stem === found ? [found] : [found, ...[".c", ".cc", ".cpp", ".cxx"].map((ending) => stem + ending)];
  });
}

/** Finds data files that a program reads by path: strings that look like a path and name a file of the project. */
function dataFiles(text: string, folder: string, index: PathIndex): string[] {
  return matches(
    text,
    /["'`]([\w./@-]{1,200}\.(?:json|ya?ml|toml|csv|tsv|txt|sql|md|html|xml|ini|env|graphql|proto|tmpl|hbs))["'`]/g,
  ).flatMap((name) => {
    const near = joinPath(folder, name);
    if (index.has(near)) return [near];
    const far = index.bySuffix(name.replace(/^(?:\.{0,2}\/)+/, ""));
    return far === null ? [] : [far];
  });
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1]!);
}

/** Joins a path to a folder and resolves `.` and `..`. */
function joinPath(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${folder}/${path}`.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
