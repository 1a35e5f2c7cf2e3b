/** A package of the project that its other packages import by name. */
export interface WorkspacePackage {
  readonly folder: string;
  /** Where an import of the bare name leads according to the manifest, from the package's folder. */
  readonly entries: readonly string[];
}

/** The most manifests that are read. */
const MOST_MANIFESTS = 300;

/** Returns the packages of a workspace (npm, pnpm, yarn, bun), by the names with which they are imported. */
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
    // Invalid JSON names no package: imports of it count as a library.
    return null;
  }
}

/**
 * Returns the entry of `exports`, which is a path, conditions, or a map of subpaths in which `.` is the package itself.
 */
function entryOf(exports: unknown): unknown {
  const isMap = typeof exports === "object" && exports !== null && Object.hasOwn(exports, ".");
  return isMap ? (exports as Record<string, unknown>)["."] : exports;
}

function leaves(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [value];
}

/**
 * Returns paths, possibly without an extension, for an import by name; none for a library. Build output is next to its
 * source, and only the source belongs to the project.
 */
export function workspaceStems(name: string, packages: ReadonlyMap<string, WorkspacePackage>): string[] {
  const [bare = "", rest = ""] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.+))?$/.exec(name)?.slice(1) ?? [];
  const own = packages.get(bare);
  return own === undefined ? [] : stemsIn(own, rest);
}

/** Does the same for an import of a package by its folder: `require("..")` in a test. */
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
