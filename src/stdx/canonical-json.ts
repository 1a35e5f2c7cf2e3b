/**
 * JSON with the keys of every object in order, so that equal values give equal bytes whatever order their
 * keys were written in. Fingerprints, hash chains and "same input, same bytes" rest on it.
 */
export function canonicalJson(value: unknown): string {
  // Put in order first and written then: a replacer, which JSON asks about every single value, takes twice as long.
  return JSON.stringify(ordered(value, ""));
}

function ordered(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("toJSON" in value && typeof value.toJSON === "function") return inside(value.toJSON(key));
  return inside(value);
}

function inside(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item, place) => ordered(item, String(place)));
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const item = ordered((value as Record<string, unknown>)[key], key);
    // Assigned, it would not become a key.
    if (key === "__proto__")
      Object.defineProperty(sorted, key, { value: item, enumerable: true, configurable: true, writable: true });
    else sorted[key] = item;
  }
  return sorted;
}
