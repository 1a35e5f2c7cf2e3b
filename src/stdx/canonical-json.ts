/**
 * JSON with the keys of every object in order, so that equal values give equal bytes whatever order their
 * keys were written in. Fingerprints, hash chains and "same input, same bytes" rest on it.
 */
export function canonicalJson(value: unknown): string {
  return canonical(value).text;
}

/** The text, and the value that parsing it gives: what JSON omits or rewrites is omitted or rewritten here too. */
export function canonical(value: unknown): { readonly text: string; readonly value: unknown } {
  // Put in order first and written then: a replacer, which JSON asks about every single value, takes twice as long.
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
    // Assigned, it would not become a key.
    if (key === "__proto__")
      Object.defineProperty(sorted, key, { value: item, enumerable: true, configurable: true, writable: true });
    else sorted[key] = item;
  }
  return sorted;
}

/** JSON as it is kept in files: two spaces, one newline at the end, so that a diff of it can be read. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A moment as S1.44 and S3.27 write it: UTC, to the second, with a Z. */
export function instant(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
