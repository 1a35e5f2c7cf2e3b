/**
 * Writes JSON with sorted keys, so that equal values give equal bytes in any order of their keys. Fingerprints, hash
 * chains and "same input, same bytes" depend on it.
 */
export function canonicalJson(value: unknown): string {
  return canonical(value).text;
}

/**
 * Returns the text, and the value that parsing it gives: what JSON omits or rewrites is omitted or rewritten here too.
 */
export function canonical(value: unknown): { readonly text: string; readonly value: unknown } {
  // Sorting first and writing then is twice as fast as a replacer, which JSON calls for every single value.
  const normal = orderKeys(value, "");
  return { text: JSON.stringify(normal), value: normal };
}

function orderKeys(value: unknown, key: string): unknown {
  if (typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function")
    return inside(value.toJSON(key));
  return inside(value);
}

function inside(value: unknown): unknown {
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Array.from(value, (item: unknown, place) => orderKeys(item, String(place)) ?? null);
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const item = orderKeys((value as Record<string, unknown>)[key], key);
    if (item === undefined) continue;
    // An assignment would not make it a key.
    if (key === "__proto__")
      Object.defineProperty(sorted, key, { value: item, enumerable: true, configurable: true, writable: true });
    else sorted[key] = item;
  }
  return sorted;
}

/**
 * Writes JSON as it is stored in files: indented by two spaces, with a newline at the end, so that diffs are readable.
 */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Formats a time as in S1.44 and S3.27: UTC, to the second, with a Z. */
export function instant(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
