import type { Policy } from "../core/events/policy.ts";
import type { SourceLocation, Problem } from "../core/events/error.ts";
import { checkLayer } from "./check-layer.ts";
import type { Config, ConfigPart } from "./config.ts";
import { DEFAULTS } from "./defaults.ts";
import {
  type ConfigLayer,
  type Path,
  type PlainLayer,
  type Tree,
  type TreeMap,
  isMap,
  isWhole,
  overlay,
  valueAt,
} from "./layer.ts";
import { policyOf } from "./policy-of.ts";
import { AUTONOMY_PARTS, PRESET_PARTS } from "./presets.ts";
import { brokenRules } from "./rules.ts";
import { resolveSandbox } from "./sandbox.ts";

/** Where a value came from. */
export interface SettingOrigin {
  readonly layer: ConfigLayer["name"] | "preset" | "autonomy" | "default";
  /** A file for people's layers; the preset's or the autonomy's name for theirs. */
  readonly file?: string;
  readonly line?: number;
}

export interface ResolvedConfig {
  /** `null` where there is any error. */
  readonly config: Config | null;
  readonly policy: Policy | null;
  /** By path, `limits.failures`, of every value that is not a map itself. */
  readonly origins: ReadonlyMap<string, SettingOrigin>;
  readonly problems: readonly Problem[];
}

/** Merges the layers into one config, the strongest first: flags, project, user, then the preset and the defaults. */
export function resolveConfig({ layers }: { readonly layers: readonly ConfigLayer[] }): ResolvedConfig {
  const problems: Problem[] = [];
  const people = layers.map((layer) => checkLayer(layer, problems));
  if (hasError(problems)) return { config: null, policy: null, origins: new Map(), problems };
  const stack = [...people.map(fromPerson), ...ownLayers(people)];
  let merged: TreeMap = {};
  for (const layer of stack.toReversed()) merged = overlay(merged, layer.value);
  const sandbox = resolveSandbox(people, problems) as unknown as TreeMap;
  merged = { ...merged, env: namedVariables(people), sandbox };
  const config = merged as unknown as Config;
  for (const { path, ...rule } of brokenRules(config)) {
    problems.push({ ...placeOf(path, people), ...rule });
  }
  if (hasError(problems)) return { config: null, policy: null, origins: new Map(), problems };
  return { config, policy: policyOf(config), origins: originsOf(merged, stack), problems };
}

/** What the user passes to checks on this machine is passed in every project, whatever the project names itself. */
function namedVariables(people: readonly PlainLayer[]): readonly Tree[] {
  return [...new Set(people.flatMap(({ value }) => (Array.isArray(value["env"]) ? (value["env"] as Tree[]) : [])))];
}

const hasError = (problems: readonly Problem[]): boolean => problems.some((problem) => problem.severity === "error");

interface StackLayer {
  readonly value: TreeMap;
  origin(path: Path): SettingOrigin;
}

function fromPerson(layer: PlainLayer): StackLayer {
  const origin = (path: Path): SettingOrigin => {
    const { file, line } = layer.keyPlace(path);
    return { layer: layer.name, file, line };
  };
  return { value: layer.value, origin };
}

/** The preset that was chosen, what the autonomy changes of the defaults, and the defaults. */
function ownLayers(people: readonly PlainLayer[]): StackLayer[] {
  const firstSet = <K extends "preset" | "autonomy">(key: K): Config[K] =>
    (people.map((layer) => layer.value[key]).find((value) => value !== undefined) ?? DEFAULTS[key]) as Config[K];
  const own = (part: ConfigPart, origin: SettingOrigin): StackLayer => ({
    value: part as unknown as TreeMap,
    origin: () => origin,
  });
  const [preset, autonomy] = [firstSet("preset"), firstSet("autonomy")];
  return [
    own(PRESET_PARTS[preset], { layer: "preset", file: preset }),
    own(AUTONOMY_PARTS[autonomy], { layer: "autonomy", file: autonomy }),
    own(DEFAULTS, { layer: "default" }),
  ];
}

/** A rule that is broken is shown where the strongest person said something about it. */
function placeOf(path: Path, people: readonly PlainLayer[]): SourceLocation {
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length);
    const layer = people.find((candidate) => valueAt(candidate.value, part) !== undefined);
    if (layer !== undefined) return layer.keyPlace(part);
  }
  return people[0]?.keyPlace([]) ?? { file: "remand.yaml", line: 1, column: 1 };
}

function originsOf(tree: TreeMap, stack: readonly StackLayer[]): Map<string, SettingOrigin> {
  const origins = new Map<string, SettingOrigin>();
  const walk = (value: Tree, path: readonly string[]): void => {
    if (isMap(value) && !isWhole(path.at(-1)) && Object.keys(value).length > 0) {
      for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key]);
      return;
    }
    const layer = stack.find((candidate) => valueAt(candidate.value, path) !== undefined);
    if (layer !== undefined) origins.set(path.join("."), layer.origin(path));
  };
  walk(tree, []);
  return origins;
}
