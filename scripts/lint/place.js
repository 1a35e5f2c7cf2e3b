import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the tree that is linted is two folders above this file, wherever oxlint was started. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The room a file belongs to: `domain`, `adapters/git`, `main.ts`, `web`; `null` for what stands outside the house
 * (tests, benchmarks, scripts), which may import anything.
 *
 * @param {string} file @returns {string | null}
 */
export function roomOf(file) {
  const [top, room = "", inner = "", ...deeper] = relative(ROOT, file).split(sep);
  if (top === "web") return room === "src" ? "web" : null;
  if (top !== "src") return null;
  if (room === "adapters" && deeper.length > 0) return `adapters/${inner}`;
  return room;
}

/** @param {string} file @param {string} specifier */
export function resolved(file, specifier) {
  return resolve(dirname(file), specifier);
}

/** @param {string} file */
export function partsFromRoot(file) {
  return relative(ROOT, file).split(sep);
}
