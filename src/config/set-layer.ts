import { parseDocument } from "yaml";
import type { SourceLocation, Problem } from "../core/events/error.ts";
import { type ConfigLayer, type Path, type Tree, type TreeMap, isMap, samePath, withValue } from "./layer.ts";

interface Assignment {
  readonly path: readonly string[];
  readonly text: string;
  /** Which `--set` it was, from 1. */
  readonly number: number;
  readonly valueStart: number;
}

/**
 * The layer that `--set path=value` makes. A path is keys with dots between them (a key with a dot in it stands in
 * double quotes), a value is YAML: `--set limits.time=2h`, `--set 'gates.checks.commands=[npm test]'`.
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
    // The last one that set it, or a part of it, is the one that counts.
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

/** More than this in one value on a command line is a mistake, and would nest deeper than the parser can go. */
const MOST_BRACKETS = 200;

function yamlValue(text: string): Tree | undefined {
  if ((text.match(/[[{]|[-?:]\s/g)?.length ?? 0) > MOST_BRACKETS) return undefined;
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) return undefined;
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return isTree(value) ? value : undefined;
  } catch {
    // An alias: there is nothing in one value that it could mean.
    return undefined;
  }
}

function isTree(value: unknown): value is Tree {
  if (Array.isArray(value)) return value.every(isTree);
  if (isMap(value as Tree)) return Object.values(value as TreeMap).every(isTree);
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
