/** Plain data as a config file holds it. */
export type Tree = string | number | boolean | null | readonly Tree[] | TreeMap;
export interface TreeMap {
  readonly [key: string]: Tree;
}

/** Maps whose value is one thing: half of a threshold from here and half from there would be nobody's threshold. */
const WHOLE = new Set(["failOn"]);

export const isWhole = (key: string | undefined): boolean => key !== undefined && WHOLE.has(key);

/** Maps of such maps, whatever their names: a price, too, is one thing. */
const OF_WHOLES = new Set(["prices"]);

/** `over` laid upon `base`: maps key by key, anything else as a whole. */
export function overlay(base: TreeMap, over: TreeMap, areWhole = false): TreeMap {
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const before = merged.get(key);
    const isLaidUpon = isMap(before) && isMap(value) && !areWhole && !isWhole(key);
    merged.set(key, isLaidUpon ? overlay(before, value, OF_WHOLES.has(key)) : value);
  }
  // `fromEntries` defines its keys, so one called `__proto__` is just a key.
  return Object.fromEntries(merged);
}

export function isMap(tree: Tree | undefined): tree is TreeMap {
  return typeof tree === "object" && tree !== null && !Array.isArray(tree);
}
