/** A package of the project's own, which others of its packages import by name. */
export interface WorkspacePackage {
  readonly folder: string;
  /** What its manifest says an import of the bare name leads to, from its folder. */
  readonly entries: readonly string[];
}

/** Manifests that are looked into. */
const MOST_MANIFESTS = 300;

/** The packages of a workspace (npm, pnpm, yarn, bun), by the names they are imported by. */
export function readWorkspacePackages(
  paths: readonly string[],
  textOf: (path: string) => string | null,
): ReadonlyMap<string, WorkspacePackage> {
  const found = new Map<string, WorkspacePackage>();
  const manifests = paths.filter((path) => /(?:^|\/)package\.json$/.test(path) && !path.includes("node_modules/"));
  for (const path of manifests.slice(0, MOST_MANIFESTS)) {
    const manifest = manifestOf(textOf(path));
    if (manifest === null || typeof manifest["name"] !== "string") continue;
    const { source, module, main, exports } = manifest;
    const entries = [source, module, main, ...leaves(entryOf(exports))].filter((each) => typeof each === "string");
    found.set(manifest["name"], { folder: path.slice(0, Math.max(0, path.lastIndexOf("/"))), entries });
  }
  return found;
}

function manifestOf(text: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    // What is no JSON names no package: then its imports are those of a library.
    return null;
  }
}

/** `exports` is a path, conditions, or a map of subpaths in which `.` is the package itself. */
function entryOf(exports: unknown): unknown {
  const isMap = typeof exports === "object" && exports !== null && Object.hasOwn(exports, ".");
  return isMap ? (exports as Record<string, unknown>)["."] : exports;
}

function leaves(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [value];
}

/**
 * Paths, without endings where none is said, at which an import by name may lie; none for a library. What is built lies
 * beside what it was built from, and only that is the project's.
 */
export function workspaceStems(name: string, packages: ReadonlyMap<string, WorkspacePackage>): string[] {
  const [bare = "", rest = ""] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.+))?$/.exec(name)?.slice(1) ?? [];
  const own = packages.get(bare);
  return own === undefined ? [] : stemsIn(own, rest);
}

/** The same for an import of a package by its folder: `require("..")` in a test. */
export function folderStems(folder: string, packages: ReadonlyMap<string, WorkspacePackage>): string[] {
  const own = [...packages.values()].find((each) => each.folder === folder);
  return own === undefined ? [] : stemsIn(own, "");
}

function stemsIn({ folder, entries }: WorkspacePackage, rest: string): string[] {
  const inside =
    rest === "" || rest === undefined ? [...entries, "src/index", "index", "lib/index"] : [rest, `src/${rest}`];
  return inside.flatMap((path) => {
    const stem = [folder, path.replace(/^\.?\//, "")].filter((part) => part !== "").join("/");
    const built = /^(?:(.*)\/)?(?:dist|lib|build|out|esm|cjs)\/(.*?)(?:\.d)?\.[cm]?[jt]sx?$/.exec(stem);
    return built === null ? [stem] : [stem, [built[1], "src", built[2]].filter((part) => part !== undefined).join("/")];
  });
}
