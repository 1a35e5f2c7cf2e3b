import type { Problem } from "../domain/problem.ts";
import { knownConfigKeys } from "../schemas/config-keys.ts";
import { configFileSchema } from "../schemas/config.ts";
import type { ConfigPart } from "./config.ts";
import { durationMs, sizeOf } from "./duration.ts";
import { issueProblems, unknownKey } from "./issue-problem.ts";
import { withoutAliases, type ConfigLayer, type Path, type PlainLayer } from "./layer.ts";
import { isMap, type Tree, type TreeMap } from "./merge.ts";

/** A layer whose every value is of the right kind, under our names; what is wrong with it goes to `problems`. */
export function checkLayer(layer: ConfigLayer, problems: Problem[]): PlainLayer {
  const value = layer.value ?? {};
  if (!isMap(value)) {
    const hint = "Write one `key: value` on each line.";
    problems.push({ ...layer.valuePlace([]), severity: "error", message: "a config must be a map of keys", hint });
    return { ...layer, value: {} };
  }
  const plain = withoutAliases({ ...layer, value }, problems);
  // In maps where any name goes the schema's library drops this one without a word, so it is looked for here.
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
 * What the schema's patterns cannot say: that a length of time is not zero, that a secret's pattern can be used.
 * That `part` is what the schema let through also shows, when this is compiled, that schema and config agree.
 */
function checkDetails(layer: PlainLayer, part: ConfigPart, problems: Problem[]): void {
  const wrong = (path: Path, message: string, hint: string): void => {
    problems.push({ ...layer.valuePlace(path), severity: "error", message, hint });
  };
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
    if (amount === 0) wrong(path, `"${path.join(".")}" must be more than nothing`, "");
    if (amount === null)
      wrong(path, `"${path.join(".")}" is longer than anybody can wait`, "Leave it empty for no limit.");
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

/** A gate has stages or perspectives. Whoever sets the one does away with the other that a preset brought. */
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
