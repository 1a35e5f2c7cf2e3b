/**
 * JSON with the keys of every object in order, so that equal values give equal bytes whatever order their
 * keys were written in. Fingerprints, hash chains and "same input, same bytes" rest on it.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (isPlainObject(item) ? sortedKeys(item) : item));
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sortedKeys(object: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(object);
  // A null prototype, because a key called "__proto__" must stay a key.
  const sorted = Object.create(null) as Record<string, unknown>;
  for (const key of keys.sort()) sorted[key] = object[key];
  return sorted;
}
