import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the linted tree is two folders above this file, wherever oxlint was started. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Folders whose subfolders are separate layers. */
const SPLIT = { adapters: () => true, core: (/** @type {string} */ inner) => inner === "schemas" };

/**
 * The layer that a file belongs to: `core`, `core/schemas`, `adapters/git`, `main.ts`, `web`; `null` for tests,
 * benchmarks and scripts, which may import anything.
 *
 * @param {string} file @returns {string | null}
 */
export function layerOf(file) {
  const [top, layer = "", inner = "", ...deeper] = relative(ROOT, file).split(sep);
  if (top === "web") return layer === "src" ? "web" : null;
  if (top !== "src") return null;
  const isSplit = deeper.length > 0 && (layer === "adapters" || layer === "core") && SPLIT[layer](inner);
  return isSplit ? `${layer}/${inner}` : layer;
}

/** @param {string} file @param {string} specifier */
export function resolvePath(file, specifier) {
  return resolve(dirname(file), specifier);
}

/** @param {string} file */
export function partsFromRoot(file) {
  return relative(ROOT, file).split(sep);
}
