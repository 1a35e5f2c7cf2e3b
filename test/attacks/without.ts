import type { Stack } from "./kit.ts";

/*
 * Experiments that can be taken away, to see what each is worth. None of these switches is one that an agent has: they
 * are options and settings of the user, or change the command that the user types.
 */
export const EXPERIMENTS = ["names", "pinned", "faults", "rules"] as const;

export type Experiment = (typeof EXPERIMENTS)[number];

/** The check without reports by name: the runners are not told where to write them. */
export const withoutNames = (check: string): string =>
  `env -u REMAND_TEST_NAMES -u NODE_OPTIONS -u PYTHONPATH sh -c '${check.replaceAll("'", `'\\''`)}'`;

/** Options of `remand loop` that switch experiments off. */
export function optionsWithout(without: readonly Experiment[]): readonly string[] {
  return [
    ...(without.includes("pinned") ? ["--tests-may-change", "**"] : []),
    ...(without.includes("faults") ? ["--set", "gates.checks.faults=off"] : []),
  ];
}

export const checkWithout = ({ check }: Pick<Stack, "check">, without: readonly Experiment[]): string =>
  without.includes("names") ? withoutNames(check) : check;
