import type { z } from "zod";
import type { Problem } from "../domain/problem.ts";
import { knownConfigKeys } from "../schemas/config-keys.ts";
import { expectedWords } from "../schemas/issue-words.ts";
import { nearMiss } from "../stdx/near-miss.ts";
import { valueAt, type Path, type PlainLayer } from "./layer.ts";
import type { Tree } from "./merge.ts";

type Issue = z.core.$ZodIssue;

/** What the schema found, as problems at their places in the person's file. */
export function issueProblems(issue: Issue, layer: PlainLayer, above: Path = []): Problem[] {
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
  const message = `${name} must be ${expectedWords(issue)}, and is ${said(value)}`;
  return [{ ...layer.valuePlace(path), severity: "error", message, hint: hintFor(issue, value) }];
}

export function unknownKey(layer: PlainLayer, path: Path, key: string): Problem {
  const place = { ...layer.keyPlace([...path, key]), severity: "error" } as const;
  return { ...place, message: `unknown key "${shortened(key)}"`, hint: meantKey(key, path) };
}

function meantKey(key: string, path: Path): string {
  const known = knownConfigKeys(path) ?? [];
  const meant = nearMiss(key, known);
  if (meant !== undefined) return `did you mean "${meant}"?`;
  // Perhaps it exists, and belongs into another map: `failures` at the top is meant to be `limits.failures`.
  const top = knownConfigKeys([])!;
  const above = path.length > 0 ? nearMiss(key, top) : undefined;
  if (above !== undefined) return `did you mean "${above}"? It stands at the top, not in "${path.join(".")}".`;
  const owner = top.find((name) => knownConfigKeys([name])?.includes(key) === true);
  return owner === undefined ? `Known here: ${known.join(", ")}.` : `did you mean "${owner}.${key}"?`;
}

/** Of several forms a value may have, the one the person was writing: the one whose outermost kind is right. */
function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.find((issues) => issues.every((issue) => !(issue.path.length === 0 && isWrongKind(issue))));
}

const isWrongKind = (issue: Issue): boolean => issue.code === "invalid_type" || issue.code === "invalid_value";

function hintFor(issue: Issue, value: Tree): string {
  if (issue.code === "invalid_value" && typeof value === "string") {
    const meant = nearMiss(value, issue.values.map(String));
    if (meant !== undefined) return `did you mean "${meant}"?`;
  }
  return "";
}

function said(value: Tree): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a map";
  return shortened(JSON.stringify(value));
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
