import type { Policy } from "../core/events/policy.ts";
import type { Problem, SourceLocation } from "../core/events/error.ts";
import { checkLayer } from "./check-layer.ts";
import type { Config, ConfigPart, NotifyConfig } from "./config.ts";
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
import { policyOf, resolveSandbox } from "./policy-of.ts";
import { AUTONOMY_PARTS, PRESET_PARTS } from "./presets.ts";
import { GATES, gatesThat } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import { PHASES } from "../core/stories/story.ts";
import { nearMiss } from "../stdx/plain-text.ts";

/** Where a value comes from. */
export interface SettingOrigin {
  readonly layer: ConfigLayer["name"] | "preset" | "autonomy" | "default";
  /** The file of a person's layer, or the name of the preset or autonomy level. */
  readonly file?: string;
  readonly line?: number;
}

export interface ResolvedConfig {
  /** `null` if there is an error. */
  readonly config: Config | null;
  readonly policy: Policy | null;
  /** The origin of every value that is not a map, by path: `limits.failures`. */
  readonly origins: ReadonlyMap<string, SettingOrigin>;
  readonly problems: readonly Problem[];
}

/** Merges the layers into one config. Strongest first: flags, project, user, then the preset and the defaults. */
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

/** Variables that the user's own file passes to checks are passed in every project, whatever the project lists. */
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

/** The layers of the chosen preset, of the autonomy level, and of the defaults. */
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

/** Where to report a broken rule: at the location of the strongest layer that sets a part of it. */
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

/** A contradiction between two settings. The path says where it is reported. */
export interface BrokenRule extends Pick<Problem, "message" | "hint" | "severity"> {
  readonly path: Path;
}

const brokenRule = (path: Path, message: string, hint: string): BrokenRule => ({
  path,
  message,
  hint,
  severity: "error",
});

/** Problems that no single value causes. */
function brokenRules(config: Config): BrokenRule[] {
  return [
    ...mergeRule(config),
    ...failuresRule(config),
    ...gateLists(config),
    ...unknownEnvironments(config),
    ...unknownRules(config),
    ...fallbackRings(config),
    ...unreachable(config),
  ];
}

function mergeRule(config: Config): BrokenRule[] {
  if (config.merge !== "auto" || config.autonomy === "full") return [];
  const message = `"merge: auto" needs "autonomy: full", and the autonomy is "${config.autonomy}"`;
  return [brokenRule(["merge"], message, "Raise the autonomy, or let a person merge: merge: manual")];
}

function failuresRule(config: Config): BrokenRule[] {
  if (config.limits.failures !== null || config.preset === "goal") return [];
  const message = `"limits.failures" cannot be empty in the preset "${config.preset}"`;
  return [brokenRule(["limits", "failures"], message, "Write a number from 1 to 10.")];
}

function gateLists(config: Config): BrokenRule[] {
  return PHASES.flatMap((phase) => {
    const gates = config.phases[phase] || [];
    const twice = gates.find((gate, index) => gates.indexOf(gate) !== index);
    if (twice === undefined) return [];
    return [brokenRule(["phases", phase], `"phases.${phase}" has the gate "${twice}" twice`, "Keep one of the two.")];
  });
}

function unknownEnvironments(config: Config): BrokenRule[] {
  const known = Object.keys(config.environments);
  return GATES.flatMap((gate) =>
    config.gates[gate].commands.flatMap((command, index) => {
      if (typeof command === "string") return [];
      return (command.environments ?? []).flatMap((name, at) => {
        if (known.includes(name)) return [];
        const meant = nearMiss(name, known);
        const hint = meant === undefined ? "Add it to `environments`." : `did you mean "${meant}"?`;
        return [
          brokenRule(["gates", gate, "commands", index, "environments", at], `there is no environment "${name}"`, hint),
        ];
      });
    }),
  );
}

const WITH_RULES = gatesThat(({ ruleNames }) => ruleNames.length > 0).map((gate) => `gates.${gate}.rules`);

function unknownRules(config: Config): BrokenRule[] {
  return GATES.flatMap((gate) =>
    Object.keys(config.gates[gate].rules).flatMap((name) => {
      const path = ["gates", gate, "rules", name];
      const { ruleNames } = GATE_REGISTRY[gate];
      if (ruleNames.length === 0)
        return [brokenRule(path, `the gate "${gate}" has no rules by name`, `Only ${WITH_RULES.join(", ")} has any.`)];
      if (ruleNames.includes(name)) return [];
      const meant = nearMiss(name, ruleNames);
      const hint = meant === undefined ? `Known: ${ruleNames.join(", ")}.` : `did you mean "${meant}"?`;
      return [brokenRule(path, `there is no ${gate} rule "${name}"`, hint)];
    }),
  );
}

/** Roles that are each other's fallback would be tried forever. */
function fallbackRings(config: Config): BrokenRule[] {
  const next = new Map(Object.entries(config.agents).map(([role, agent]) => [role, agent.fallback]));
  const settled = new Set<string>();
  const rings: BrokenRule[] = [];
  for (const start of next.keys()) {
    const trail: string[] = [];
    let role: string | undefined = start;
    while (role !== undefined && !settled.has(role) && !trail.includes(role)) {
      trail.push(role);
      role = next.get(role);
    }
    const from = role === undefined || settled.has(role) ? -1 : trail.indexOf(role);
    for (const passed of trail) settled.add(passed);
    if (from < 0) continue;
    const ring = trail.slice(from);
    const message = `these roles stand in for each other: ${[...ring, ring[0]!].join(" → ")}`;
    rings.push(brokenRule(["agents", ring.at(-1)!, "fallback"], message, "Take one of these fallbacks out."));
  }
  return rings;
}

/** Each notification channel has the settings it needs, and none that it would ignore. */
function unreachable({ notify }: Config): BrokenRule[] {
  return notify.flatMap((each, index) => {
    if (typeof each === "string") return [];
    const { use, on: _on, ...given } = each;
    const path = ["notify", index];
    const foreign = Object.keys(given).filter((key) => !NEEDS[use].known.includes(key));
    if (foreign.length > 0)
      return [brokenRule([...path, foreign[0]!], `a ${use} has no "${foreign[0]!}"`, `It has: ${NEEDS[use].said}.`)];
    const count = NEEDS[use].oneOf.filter((key) => Object.hasOwn(given, key)).length;
    if (NEEDS[use].oneOf.length === 0 || count === 1) return [];
    return [
      brokenRule(path, `a ${use} needs ${NEEDS[use].said}${count > 1 ? ", and not both" : ""}`, NEEDS[use].sample),
    ];
  });
}

const ADDRESS = ["url", "urlFrom"];
interface Needs {
  /** Exactly one of these must be set. */
  readonly oneOf: readonly string[];
  readonly known: readonly string[];
  readonly said: string;
  readonly sample: string;
}
const NEEDS: Readonly<Record<NotifyConfig["use"], Needs>> = {
  desktop: { oneOf: [], known: [], said: "nothing else", sample: "" },
  webhook: {
    oneOf: ADDRESS,
    known: [...ADDRESS, "secretFrom"],
    said: "url or urlFrom",
    sample: "Write: { use: webhook, urlFrom: HOOK_URL, secretFrom: HOOK_SECRET }",
  },
  slack: {
    oneOf: ADDRESS,
    known: ADDRESS,
    said: "url or urlFrom",
    sample: "Write: { use: slack, urlFrom: SLACK_URL }",
  },
  command: { oneOf: ["run"], known: ["run"], said: "run", sample: "Write: { use: command, run: ./tell-me.sh }" },
};
