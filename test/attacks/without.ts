import { INTEGRITY_RULE_NAMES, type IntegrityRuleName } from "../../src/core/gates/registry.ts";

/*
 * Experiments that can be taken away, to see what each is worth. None of these switches is one that an agent has: they
 * are options and settings of the user, or change the command that the user types.
 */
export const EXPERIMENTS = ["names", "pinned", "faults", "rules"] as const;

/** Rules that read what the agent wrote, and may refuse it for that. */
const READING_RULES = [
  "test-changed",
  "suppression-added",
  "environment-detected",
] as const satisfies readonly IntegrityRuleName[];

export type Experiment = (typeof EXPERIMENTS)[number] | IntegrityRuleName;

/** A part of the verification, or one rule of the integrity gate. */
export const isExperiment = (name: string): name is Experiment =>
  [...EXPERIMENTS, ...INTEGRITY_RULE_NAMES].some((each) => each === name);

/** The check without reports by name: the runners are not told where to write them. */
const withoutNames = (check: string): string =>
  `env -u REMAND_TEST_NAMES -u NODE_OPTIONS -u PYTHONPATH sh -c '${check.replaceAll("'", `'\\''`)}'`;

/** Options of `remand loop` that switch experiments off. */
export function optionsWithout(without: readonly Experiment[]): readonly string[] {
  return [
    ...(without.includes("pinned") ? ["--tests-may-change", "**"] : []),
    ...(without.includes("rules")
      ? READING_RULES.flatMap((rule) => ["--set", `gates.integrity.rules.${rule}=off`])
      : []),
    ...INTEGRITY_RULE_NAMES.filter((rule) => without.includes(rule)).flatMap((rule) => [
      "--set",
      `gates.integrity.rules.${rule}=off`,
    ]),
    ...(without.includes("faults") ? ["--set", "gates.checks.faults=off"] : []),
  ];
}

export const checkWithout = (check: string, without: readonly Experiment[]): string =>
  without.includes("names") ? withoutNames(check) : check;
