import { yamlScalar, type Scalar } from "./yaml-scalar.ts";

export type PlainTree = Scalar | readonly PlainTree[] | { readonly [key: string]: PlainTree };

/**
 * Plain data as YAML: maps in blocks, everything else on its key's line. `note` may say something about a value
 * by its path, which then stands behind it as a comment.
 */
export function yamlTree(
  tree: { readonly [key: string]: PlainTree },
  note: (path: readonly string[]) => string = noNote,
): string {
  return block(tree, [], note).join("\n") + "\n";
}

const noNote = (): string => "";

function block(
  map: { readonly [key: string]: PlainTree },
  path: readonly string[],
  note: (path: readonly string[]) => string,
): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const here = [...path, key];
    const head = `${"  ".repeat(path.length)}${yamlScalar(key)}:`;
    const comment = note(here);
    if (isMap(value) && comment === "" && Object.keys(value).length > 0) return [head, ...block(value, here, note)];
    return [`${head} ${flow(value)}${comment === "" ? "" : `  # ${comment}`}`];
  });
}

function flow(value: PlainTree): string {
  if (Array.isArray(value)) return `[${(value as readonly PlainTree[]).map(flow).join(", ")}]`;
  if (!isMap(value)) return yamlScalar(value as Scalar);
  const entries = Object.entries(value).map(([key, inner]) => `${yamlScalar(key)}: ${flow(inner)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

function isMap(value: PlainTree): value is { readonly [key: string]: PlainTree } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
