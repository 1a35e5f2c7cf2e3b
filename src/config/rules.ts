import { GATES, gatesThat } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import { PHASES } from "../core/stories/story.ts";
import type { Problem } from "../core/events/error.ts";
import { nearMiss } from "../stdx/near-miss.ts";
import type { Config, NotifyConfig } from "./config.ts";
import type { Path } from "./layer.ts";

/** Something two settings say together that cannot be. The path says where it is shown. */
export interface BrokenRule extends Pick<Problem, "message" | "hint" | "severity"> {
  readonly path: Path;
}

const brokenRule = (path: Path, message: string, hint: string): BrokenRule => ({
  path,
  message,
  hint,
  severity: "error",
});

/** What no single value can be blamed for. */
export function brokenRules(config: Config): BrokenRule[] {
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

/** Roles that stand in for each other in a ring would be asked for ever. */
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
  /** Exactly one of these. */
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
