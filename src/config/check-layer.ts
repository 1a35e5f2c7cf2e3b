import type { z } from "zod";
import type { Problem } from "../core/events/error.ts";
import { configFileSchema } from "../core/schemas/config.ts";
import { expectedWords } from "../core/schemas/issue-text.ts";
import { nearMiss } from "../stdx/plain-text.ts";
import type { ConfigPart } from "./config.ts";
import { durationMs, sizeOf } from "./duration.ts";
import {
  type ConfigLayer,
  type Path,
  type PlainLayer,
  type Tree,
  type TreeMap,
  isMap,
  valueAt,
  withoutAliases,
} from "./layer.ts";

/** Validates a layer and renames other tools' keys to Remand's; reports errors in `problems`. */
export function checkLayer(layer: ConfigLayer, problems: Problem[]): PlainLayer {
  const value = layer.value ?? {};
  if (!isMap(value)) {
    const hint = "Write one `key: value` on each line.";
    problems.push({ ...layer.valuePlace([]), severity: "error", message: "a config must be a map of keys", hint });
    return { ...layer, value: {} };
  }
  const plain = withoutAliases({ ...layer, value }, problems);
  // In maps with free names, the schema library silently drops this key, so it is looked for here.
  for (const path of protoKeys(plain.value)) {
    if (knownConfigKeys(path) === null) problems.push(unknownKey(plain, path, "__proto__"));
  }
  const checked = configFileSchema.safeParse(plain.value);
  if (!checked.success) problems.push(...checked.error.issues.flatMap((issue) => issueProblems(issue, plain)));
  else checkDetails(plain, checked.data, problems);
  return { ...plain, value: withOneKindOfParts(plain, problems) };
}

function protoKeys(tree: Tree, path: Path = []): Path[] {
  if (Array.isArray(tree)) return tree.flatMap((item: Tree, index) => protoKeys(item, [...path, index]));
  if (!isMap(tree)) return [];
  const here = Object.hasOwn(tree, "__proto__") ? [path] : [];
  return [...here, ...Object.entries(tree).flatMap(([key, value]) => protoKeys(value, [...path, key]))];
}

/**
 * Checks what the schema's patterns cannot express: that a duration is not zero, that a secret's pattern is a valid
 * regular expression. Passing the schema's result as `part` also shows at compile time that schema and `Config` agree.
 */
function checkDetails(layer: PlainLayer, part: ConfigPart, problems: Problem[]): void {
  const wrong = (path: Path, message: string, hint: string): void => {
    problems.push({ ...layer.valuePlace(path), severity: "error", message, hint });
  };
  if (part.people !== undefined && layer.name !== "user") {
    const hint = "Move it to ~/.config/remand/config.yaml: who counts as a person is not the project's to say.";
    problems.push({ ...layer.keyPlace(["people"]), severity: "error", message: "a project cannot set `people`", hint });
  }
  for (const [index, pattern] of (part.redact ?? []).entries()) {
    if (isPattern(pattern)) continue;
    const hint = "Put a backslash in front of characters that mean something in one.";
    wrong(["redact", index], `"${pattern}" is not a regular expression`, hint);
  }
  visit(layer.value, [], (path, text) => {
    if (path[0] !== "limits" && path[0] !== "gates") return;
    const isTime =
      path.includes("time") || path.includes("timeout") || path.includes("backoff") || path.includes("baseWait");
    const amount = isTime ? durationMs(text) : path.at(-1) === "tokens" ? sizeOf(text) : 1;
    if (amount === 0) wrong(path, `"${path.join(".")}" must be greater than 0`, "");
    if (amount === null)
      wrong(path, `"${path.join(".")}" is longer than a timer can wait`, "Leave it empty for no limit.");
  });
}

function visit(tree: Tree, path: Path, seen: (path: Path, text: string) => void): void {
  if (typeof tree === "string") seen(path, tree);
  else if (Array.isArray(tree)) for (const [index, item] of tree.entries()) visit(item as Tree, [...path, index], seen);
  else if (isMap(tree)) for (const [key, value] of Object.entries(tree)) visit(value, [...path, key], seen);
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** A gate has either stages or perspectives. A setting of one removes the other, which came from a preset. */
function withOneKindOfParts(layer: PlainLayer, problems: Problem[]): TreeMap {
  const gates = layer.value["gates"];
  if (!isMap(gates)) return layer.value;
  const changed = Object.entries(gates).map(([name, gate]): [string, Tree] => {
    if (!isMap(gate)) return [name, gate];
    const [staged, sided] = [isFilled(gate["stages"]), isFilled(gate["perspectives"])];
    if (staged && sided) {
      const message = `"gates.${name}" has stages, one after the other, and perspectives, side by side`;
      problems.push({
        ...layer.keyPlace(["gates", name, "perspectives"]),
        severity: "error",
        message,
        hint: "Keep one of the two.",
      });
    }
    if (staged === sided) return [name, gate];
    return [name, { ...gate, [staged ? "perspectives" : "stages"]: [] }];
  });
  return { ...layer.value, gates: Object.fromEntries(changed) };
}

const isFilled = (parts: Tree | undefined): boolean => Array.isArray(parts) && parts.length > 0;

type ZodIssue = z.core.$ZodIssue;

/** Turns an issue of the schema into problems at their locations in the person's file. */
function issueProblems(issue: ZodIssue, layer: PlainLayer, above: Path = []): Problem[] {
  const path = [...above, ...(issue.path as Path)];
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(layer, path, key));
  if (issue.code === "invalid_union") {
    const branch = meantBranch(issue.errors);
    if (branch !== undefined) return branch.flatMap((inner) => issueProblems(inner, layer, path));
  }
  if (issue.code === "invalid_key") {
    const message = `"${path.at(-1)}" cannot be a name here`;
    const hint = `Write ${issue.issues[0]?.message ?? "a name"}.`;
    return [{ ...layer.keyPlace(path), severity: "error", message, hint }];
  }
  const value = valueAt(layer.value, path);
  const name = path.length === 0 ? "the config" : `"${path.join(".")}"`;
  if (value === undefined) {
    const message = `${name} is missing`;
    return [{ ...layer.keyPlace(path), severity: "error", message, hint: `It must be ${expectedWords(issue)}.` }];
  }
  const message = `${name} must be ${expectedWords(issue)}, and is ${describeValue(value)}`;
  return [{ ...layer.valuePlace(path), severity: "error", message, hint: hintFor(issue, value) }];
}

function unknownKey(layer: PlainLayer, path: Path, key: string): Problem {
  const place = { ...layer.keyPlace([...path, key]), severity: "error" } as const;
  return { ...place, message: `unknown key "${shorten(key)}"`, hint: meantKey(key, path) };
}

function meantKey(key: string, path: Path): string {
  const known = knownConfigKeys(path) ?? [];
  const meant = nearMiss(key, known);
  if (meant !== undefined) return `did you mean "${meant}"?`;
  // The key may belong to another map: `failures` at the top is meant to be `limits.failures`.
  const top = knownConfigKeys([])!;
  const above = path.length > 0 ? nearMiss(key, top) : undefined;
  if (above !== undefined) return `did you mean "${above}"? It stands at the top, not in "${path.join(".")}".`;
  const owner = top.find((name) => knownConfigKeys([name])?.includes(key) === true);
  return owner === undefined ? `Known here: ${known.join(", ")}.` : `did you mean "${owner}.${key}"?`;
}

/** If a value may have several forms, chooses the form that the person meant: the one with the right outermost type. */
function meantBranch(branches: readonly (readonly ZodIssue[])[]): readonly ZodIssue[] | undefined {
  return branches.find((issues) => issues.every((issue) => !(issue.path.length === 0 && isWrongKind(issue))));
}

const isWrongKind = (issue: ZodIssue): boolean => issue.code === "invalid_type" || issue.code === "invalid_value";

function hintFor(issue: ZodIssue, value: Tree): string {
  if (issue.code === "invalid_value" && typeof value === "string") {
    const meant = nearMiss(value, issue.values.map(String));
    if (meant !== undefined) return `did you mean "${meant}"?`;
  }
  return "";
}

function describeValue(value: Tree): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a map";
  return shorten(JSON.stringify(value));
}

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** The keys that a map at this path of a config may have; `null` where any key is allowed, or where there is no map. */
function knownConfigKeys(path: readonly PropertyKey[]): readonly string[] | null {
  let at: Shape | undefined = bare(configFileSchema as unknown as Shape);
  for (const key of path) {
    const { def }: Shape = at;
    at = bare(def.shape?.[String(key)] ?? def.valueType ?? def.element);
    if (at === undefined) return null;
  }
  return at.def.shape === undefined ? null : Object.keys(at.def.shape);
}

/** The part of zod's schema description that is used here. */
interface Shape {
  readonly def: {
    readonly innerType?: Shape;
    readonly shape?: Readonly<Record<string, Shape>>;
    readonly valueType?: Shape;
    readonly element?: Shape;
    readonly options?: readonly Shape[];
  };
}

/** Unwraps optional schemas; of alternatives, returns the one with keys. */
function bare(schema: Shape): Shape;
function bare(schema: Shape | undefined): Shape | undefined;
function bare(schema: Shape | undefined): Shape | undefined {
  if (schema?.def.innerType !== undefined) return bare(schema.def.innerType);
  if (schema?.def.options === undefined) return schema;
  return schema.def.options.map((option) => bare(option)).find((option) => option.def.shape !== undefined) ?? schema;
}
