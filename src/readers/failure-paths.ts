import type { PathIndex } from "./imports.ts";

/**
 * The project's name for a path in an output. Outputs come from other machines and containers, with other roots, from
 * Windows, from bundlers; so what is not below the root is looked for by its end. `null`: not a file of the project.
 */
export function projectPath(raw: string, root: string, index: PathIndex): string | null {
  const path = plainPath(raw);
  const base = `${plainPath(root).replace(/\/$/, "")}/`;
  const relative = path.startsWith(base) ? path.slice(base.length) : path;
  const inside = relative.replace(/^(?:\.{1,2}\/)+/, "");
  if (index.has(inside)) return inside;
  if (/(?:^|\/)(?:node_modules|site-packages|dist-packages|\.cargo|go\/pkg\/mod|rustc|vendor)\//.test(path))
    return null;
  if (/^(?:node|internal|ext|native):/.test(path)) return null;
  return index.bySuffix(inside);
}

function plainPath(raw: string): string {
  let path = raw.trim().replaceAll("\\", "/");
  path = path.replace(/^(?:file|webpack-internal|webpack|rollup|vite|https?):\/\/(?:\/?[^/]*\/(?=\.)|\/)?/, (scheme) =>
    scheme.startsWith("file") ? "/" : "",
  );
  path = path.replace(/^\([^()/]*\)\//, "").replace(/\?[\w=&.-]*$/, "");
  if (/%[0-9a-f]{2}/i.test(path)) path = decoded(path);
  return path.replace(/^\/+(?=[A-Za-z]:\/)/, "");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A stray percent sign: the path is what it says.
    return path;
  }
}
