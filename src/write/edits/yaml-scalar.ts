export type Scalar = string | number | boolean | null;

/** How the previous value was quoted. It is kept, so that a new value changes nothing else. */
export type Quotes = "as-needed" | "single" | "double";

/** A value on one line, quoted where YAML would otherwise parse something else. Also valid in flow lists. */
export function yamlScalar(value: Scalar, quotes: Quotes = "as-needed"): string {
  if (typeof value === "number") return yamlNumber(value);
  if (typeof value !== "string") return String(value);
  if (quotes === "double" || NEEDS_ESCAPES.test(value)) return doubleQuoted(value);
  return quotes === "as-needed" && isPlain(value) ? value : `'${value.replaceAll("'", "''")}'`;
}

function yamlNumber(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Plain words only: an unneeded quote is better than a guess at the rest of YAML's rules. */
const PLAIN = /^[\p{L}_/][\p{L}\p{N}_/ .()@+=-]*$/u;

/** `15m` starts with a digit but is not a number. */
const LENGTH_OF_TIME = /^\d+(?:ms|[smhd])$/;

/** Some YAML parsers read these words as other values. */
const RESERVED = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n"]);

function isPlain(text: string): boolean {
  if (LENGTH_OF_TIME.test(text)) return true;
  return PLAIN.test(text) && !text.endsWith(" ") && !RESERVED.has(text.toLowerCase());
}

const NEEDS_ESCAPES = /[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffe\uffff]/u;

/** A JSON string is valid YAML, except for a few characters that JSON does not escape. */
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export type PlainTree = Scalar | readonly PlainTree[] | { readonly [key: string]: PlainTree };

/**
 * Writes plain data as YAML: maps as blocks, everything else on its key's line. `note` may return a comment for a
 * value, by its path.
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
