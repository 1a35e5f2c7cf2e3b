import { createHash } from "node:crypto";
import { lstat, readFile, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { existsSync } from "node:fs";
import type { Finding } from "../../core/gates/finding.ts";
import type { GitPaths } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

/** Untracked files that decide the checks: name to content hash. */
export type UntrackedState = ReadonlyMap<string, string>;

/**
 * The programs that run tests as they are installed in a place, and what git is told to overlook. Contents count, and
 * not times: installing the same again changes nothing.
 */
export async function readUntrackedState(place: string, git: GitPaths | null): Promise<UntrackedState> {
  const found = new Map<string, string>();
  for (const folder of await runnerFolders(place)) await addFiles(found, place, folder, 0);
  await addPrograms(found, place, "node_modules/.bin");
  await addPrograms(found, place, ".venv/bin");
  if (git === null) return found;
  for (const name of ["info/exclude", "info/attributes", "config"]) {
    const text = await readFile(join(git.commonDir, name), "utf8").catch(() => "");
    for (const line of linesOf(name, text)) found.set(`.git/${name}: ${line}`, "");
  }
  return found;
}

/**
 * What is different now. A package in another version was reinstalled; where a lockfile changed, so were the ways to
 * the programs. Files that git ignores are reported where they grew.
 */
export function changedSurroundings(was: UntrackedState, is: UntrackedState, isInstalled: boolean): string[] {
  const renewed = new Set(
    [...is].filter(([name, text]) => isVersion(name) && was.get(name) !== text).map(([name]) => packageOf(name)),
  );
  const isOurs = (name: string): boolean =>
    !isVersion(name) && !renewed.has(packageOf(name)) && !(isInstalled && /\/\.?bin\//.test(name));
  return [
    ...[...was]
      .filter(([name, text]) => !name.startsWith(".git/") && is.has(name) && is.get(name) !== text)
      .map(([name]) => name),
    ...[...is.keys()].filter((name) => !was.has(name) && (name.startsWith(".git/") || name.endsWith(".pth"))),
  ].filter(isOurs);
}

/** The untracked state of many worktrees: most are the same, and those are kept once. */
export function createStateCache(): {
  keep(place: string, found: UntrackedState): void;
  at(place: string): UntrackedState | undefined;
} {
  const places = new Map<string, UntrackedState>();
  let last: UntrackedState = new Map();
  return {
    keep(place, found) {
      const isSame = found.size === last.size && [...found].every(([name, text]) => last.get(name) === text);
      if (!isSame) last = found;
      places.delete(place);
      places.set(place, last);
      if (places.size > MOST_PLACES) places.delete(places.keys().next().value!);
    },
    at: (place) => places.get(place),
  };
}

/** More are not worked on at once. */
const MOST_PLACES = 1000;

const isVersion = (name: string): boolean => name.endsWith(" version");
/** `node_modules/@vitest/runner/dist/index.js` belongs to `node_modules/@vitest/runner`. */
const packageOf = (name: string): string =>
  /^(?:.*\/)?(?:node_modules|site-packages)\/(?:@[^/]+\/)?[^/ ]+/.exec(name)?.[0] ?? name;

/** Only what lets git overlook tests, configs of runners, or what is in files. */
function linesOf(name: string, text: string): string[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (name === "info/exclude") return lines.filter((line) => OVERLOOKED.test(line));
  if (name === "info/attributes") return lines.filter((line) => /\bfilter=(?!lfs\b)/.test(line));
  return lines.filter((line) => /^\[filter "(?!lfs")|^(?:excludesFile|attributesFile)\s*=/i.test(line));
}

const OVERLOOKED =
  /(?:\.config\.|conftest\.py|pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|package\.json|\.mocharc|akefile|[._-](?:test|spec)\.|^\/?(?:tests?|__tests__|spec)\/?\**$|^\*+$)/;

const RUNNERS =
  /^(?:vitest|@vitest|jest|jest-.*|@jest|expect|mocha|chai|ava|tap|jasmine|jasmine-core|karma|playwright|playwright-core|@playwright|cypress|c8|nyc|typescript|eslint|oxlint|@biomejs|pytest|_pytest|pluggy|coverage|mypy|ruff)$/;

async function runnerFolders(place: string): Promise<string[]> {
  const libraries = (await namesIn(join(place, ".venv/lib"))).map((name) => `.venv/lib/${name}/site-packages`);
  const folders: string[] = [];
  for (const library of ["node_modules", ...libraries]) {
    for (const name of await namesIn(join(place, library))) {
      if (name.endsWith(".pth") || /^(?:site|user)customize\.py$/.test(name)) folders.push(`${library}/${name}`);
      else if (RUNNERS.test(name))
        folders.push(
          ...(name.startsWith("@")
            ? (await namesIn(join(place, library, name))).map((part) => `${library}/${name}/${part}`)
            : [`${library}/${name}`]),
        );
    }
  }
  return folders;
}

async function addPrograms(found: Map<string, string>, place: string, folder: string): Promise<void> {
  for (const name of await namesIn(join(place, folder))) {
    const path = `${folder}/${name}`;
    const leadsTo = await readlink(join(place, path)).catch(() => null);
    if (leadsTo !== null) found.set(path, leadsTo);
    else if (found.size < MOST_FILES) await addFile(found, place, path);
  }
}

async function addFiles(found: Map<string, string>, place: string, path: string, depth: number): Promise<void> {
  const full = await realpath(join(place, path)).catch(() => null);
  const stats = full === null ? null : await lstat(full).catch(() => null);
  if (full === null || stats === null || found.size >= MOST_FILES) return;
  if (!stats.isDirectory()) return addFile(found, place, path);
  for (const name of await namesIn(full))
    if (depth < DEEPEST && !/^(?:node_modules|__pycache__|\.cache|\.\w+)$/.test(name))
      await addFiles(found, place, `${path}/${name}`, depth + 1);
}

/** Of what is large only how large it is: it would take long to read, and it is not edited by hand. */
async function addFile(found: Map<string, string>, place: string, path: string): Promise<void> {
  if (/\.(?:map|md|txt|ts|mts|cts|pyc|pyi|html|css|svg)$/i.test(path)) return;
  const full = await realpath(join(place, path)).catch(() => null);
  const stats = full === null ? null : await lstat(full).catch(() => null);
  if (full === null || stats === null || !stats.isFile()) return;
  if (stats.size > MOST_BYTES) return void found.set(path, String(stats.size));
  const text = await readFile(full).catch(() => null);
  if (text === null) return;
  found.set(path, createHash("sha256").update(text).digest("hex"));
  const version = /\/(?:package\.json|METADATA)$/.test(path)
    ? /"version":\s*"([^"]+)"|^Version: (.+)$/m.exec(text.toString("utf8"))
    : null;
  if (version !== null) found.set(`${packageOf(path)} version`, version[1] ?? version[2]!);
}

const MOST_FILES = 4000;
const MOST_BYTES = 4 * 1024 * 1024;
const DEEPEST = 8;

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/**
 * What an agent left at a changed path and no commit can hold: a repository of its own, of which git keeps a number, a
 * pipe, a socket or a device, which git takes for a deleted file. `submodules` reads `.gitmodules`.
 */
export async function unimportedFiles(
  top: string,
  changed: readonly string[],
  submodules: () => Promise<string | null>,
  book: RuleReporter,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const path of changed) {
    const what = await lstat(join(top, path)).catch(() => null);
    if (what === null || what.isFile() || what.isSymbolicLink()) continue;
    if (!what.isDirectory()) {
      const kind = what.isFIFO() ? "a named pipe" : what.isSocket() ? "a socket" : "a device";
      findings.push(
        ...book.report("not-looked-at", {
          file: path,
          message: `this is ${kind}, which git cannot keep`,
          suggestedFix: `Remove ${path}, and write a regular file if one is needed there.`,
        }),
      );
    } else if (existsSync(join(top, path, ".git")) && !pathsIn((await submodules()) ?? "").includes(path))
      findings.push(
        ...book.report("not-looked-at", {
          file: path,
          message: "this is a git repository of its own: its files are not in the work",
          suggestedFix: `Remove ${path}/.git, so that its files are kept with the rest, or make ${path} a submodule.`,
        }),
      );
  }
  return findings;
}

const pathsIn = (submodules: string): readonly string[] =>
  [...submodules.matchAll(/^\s*path\s*=\s*"?(.*?)"?\s*$/gm)].map(([, path]) => path!);
