import type { Problem, SourceLocation } from "../core/events/error.ts";
import { parseDocument } from "yaml";

export type Path = readonly (string | number)[];

/** One source of the config, with the location of each key and value. */
export interface ConfigLayer {
  readonly name: "set" | "project" | "user";
  readonly value: Tree;
  keyPlace(path: Path): SourceLocation;
  valuePlace(path: Path): SourceLocation;
}

/** A layer with Remand's own names of keys. */
export interface PlainLayer extends ConfigLayer {
  readonly value: TreeMap;
}

interface Alias {
  readonly from: Path;
  readonly to: Path;
  readonly convert?: (value: Tree) => Tree;
  readonly note?: string;
}

const reworksAsFailures = (value: Tree): Tree => (typeof value === "number" ? value + 1 : value);

/** Other names for the same settings, from S1.29 and S4.69. */
const ALIASES: readonly Alias[] = [
  { from: ["autonomy_level"], to: ["autonomy"] },
  { from: ["rework_budget"], to: ["limits", "failures"] },
  {
    from: ["refinement", "maxIterations"],
    to: ["limits", "failures"],
    convert: reworksAsFailures,
    note: ", which counts failures and so is one more than the reworks",
  },
  { from: ["refinement", "escalateOnMaxAttempts"], to: ["onExhausted"] },
  { from: ["refinement", "enableCircuitBreaker"], to: ["enableCircuitBreaker"] },
];

/** Renames other tools' keys to Remand's, with a note for each. Locations still point to the person's file. */
export function withoutAliases(layer: ConfigLayer & { readonly value: TreeMap }, problems: Problem[]): PlainLayer {
  let value = layer.value;
  const renamed: Alias[] = [];
  for (const alias of ALIASES) {
    const given = valueAt(value, alias.from);
    if (given === undefined) continue;
    const [from, to] = [alias.from.join("."), alias.to.join(".")];
    const both = valueAt(value, alias.to) !== undefined;
    value = without(value, alias.from);
    if (both) {
      const message = `"${from}" and "${to}" are the same setting`;
      problems.push({ ...layer.keyPlace(alias.from), severity: "error", message, hint: `Keep "${to}".` });
      continue;
    }
    value = withValue(value, alias.to, alias.convert?.(given) ?? given);
    renamed.push(alias);
    const message = `"${from}" is read as "${to}"${alias.note ?? ""}`;
    problems.push({ ...layer.keyPlace(alias.from), severity: "warning", message, hint: `Write "${to}" here.` });
  }
  const original = (path: Path): Path => renamed.find((alias) => samePath(alias.to, path))?.from ?? path;
  return {
    ...layer,
    value,
    keyPlace: (path) => layer.keyPlace(original(path)),
    valuePlace: (path) => layer.valuePlace(original(path)),
  };
}

export function valueAt(tree: Tree | undefined, path: Path): Tree | undefined {
  let at: Tree | undefined = tree;
  for (const key of path) {
    if (Array.isArray(at)) at = (at as readonly Tree[])[Number(key)];
    else at = isMap(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

/** A copy of the tree with one value set; missing maps are created. */
function withValue(tree: TreeMap, path: Path, value: Tree): TreeMap {
  const [key, ...rest] = path as readonly [string, ...string[]];
  const inner = Object.hasOwn(tree, key) ? tree[key] : undefined;
  const next = rest.length === 0 ? value : withValue(isMap(inner) ? inner : {}, rest, value);
  return Object.fromEntries([...Object.entries(tree).filter(([name]) => name !== key), [key, next]]);
}

/** A copy without one value, and without maps that become empty. */
function without(tree: TreeMap, path: Path): TreeMap {
  const [key, ...rest] = path;
  const entries = Object.entries(tree).flatMap(([name, value]): [string, Tree][] => {
    if (name !== key) return [[name, value]];
    if (rest.length === 0 || !isMap(value)) return [];
    const inner = without(value, rest);
    return Object.keys(inner).length === 0 ? [] : [[name, inner]];
  });
  return Object.fromEntries(entries);
}

const samePath = (a: Path, b: Path): boolean => a.length === b.length && a.every((key, i) => key === b[i]);

/** Plain data of a config file. */
export type Tree = string | number | boolean | null | readonly Tree[] | TreeMap;
export interface TreeMap {
  readonly [key: string]: Tree;
}

/** Maps that are replaced as a whole: two layers must not each contribute half of a threshold. */
const WHOLE = new Set(["failOn"]);

export const isWhole = (key: string | undefined): boolean => key !== undefined && WHOLE.has(key);

/** Maps whose entries are replaced as a whole, whatever their names: the parts of a price belong together. */
const OF_WHOLES = new Set(["prices"]);

/** Merges `over` into `base`: maps key by key, anything else as a whole. */
export function overlay(base: TreeMap, over: TreeMap, areWhole = false): TreeMap {
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const before = merged.get(key);
    const isLaidUpon = isMap(before) && isMap(value) && !areWhole && !isWhole(key);
    merged.set(key, isLaidUpon ? overlay(before, value, OF_WHOLES.has(key)) : value);
  }
  // `fromEntries` defines its keys, so `__proto__` is an ordinary key here.
  return Object.fromEntries(merged);
}

export function isMap(tree: Tree | undefined): tree is TreeMap {
  return typeof tree === "object" && tree !== null && !Array.isArray(tree);
}

interface Assignment {
  readonly path: readonly string[];
  readonly text: string;
  /** Which `--set` it was, counted from 1. */
  readonly number: number;
  readonly valueStart: number;
}

/**
 * Builds the layer of `--set path=value`. A path is a list of keys joined with dots (a key with a dot is in double
 * quotes), a value is YAML: `--set limits.time=2h`, `--set 'gates.checks.commands=[npm test]'`.
 */
export function setLayer(texts: readonly string[]): { layer: ConfigLayer; problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const assignments: Assignment[] = [];
  let value: TreeMap = {};
  for (const [index, text] of texts.entries()) {
    const read = readAssignment(text, index + 1);
    if (!("path" in read)) problems.push({ ...place(text, index + 1, 0, text.length), severity: "error", ...read });
    else {
      assignments.push(read.assignment);
      value = withValue(value, read.path, read.value);
    }
  }
  const find = (path: Path, part: "key" | "value"): SourceLocation => {
    // The last assignment of the value, or of a part of it, wins.
    const said = assignments.findLast(
      (one) => samePath(one.path.slice(0, path.length), path) || samePath(one.path, path.slice(0, one.path.length)),
    );
    if (said === undefined) return { file: "--set", line: 1, column: 1 };
    return part === "key"
      ? place(said.text, said.number, 0, said.valueStart - 1)
      : place(said.text, said.number, said.valueStart, said.text.length);
  };
  const layer: ConfigLayer = {
    name: "set",
    value,
    keyPlace: (path) => find(path, "key"),
    valuePlace: (path) => find(path, "value"),
  };
  return { layer, problems };
}

function place(text: string, number: number, start: number, end: number): SourceLocation {
  return { file: "--set", line: number, column: start + 1, source: text, length: Math.max(1, end - start) };
}

type AssignmentFault = Pick<Problem, "message" | "hint">;
type ReadAssignment =
  | AssignmentFault
  | { readonly path: readonly string[]; readonly value: Tree; readonly assignment: Assignment };

const LONGEST = 10_000;

function readAssignment(text: string, number: number): ReadAssignment {
  const path: string[] = [];
  let at = 0;
  while (text.length <= LONGEST) {
    const key = /^(?:"([^"]+)"|([^".=\s]+))([.=])/.exec(text.slice(at));
    if (key === null) break;
    path.push(key[1] ?? key[2]!);
    at += key[0].length;
    if (key[3] === ".") continue;
    const value = yamlValue(text.slice(at));
    if (value === undefined) return { message: `the value in "${text}" is not YAML`, hint: "Quote it." };
    return { path, value, assignment: { path, text, number, valueStart: at } };
  }
  return { message: `"${text.slice(0, 60)}" is not path=value`, hint: "Write it so: --set limits.failures=4" };
}

/** More brackets in one value are a mistake, and would nest deeper than the parser can handle. */
const MOST_BRACKETS = 200;

function yamlValue(text: string): Tree | undefined {
  if ((text.match(/[[{]|[-?:]\s/g)?.length ?? 0) > MOST_BRACKETS) return undefined;
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) return undefined;
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return isTree(value) ? value : undefined;
  } catch {
    // The value is an alias, which has no anchor to refer to.
    return undefined;
  }
}

function isTree(value: unknown): value is Tree {
  if (Array.isArray(value)) return value.every(isTree);
  if (isMap(value as Tree)) return Object.values(value as TreeMap).every(isTree);
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
