import type { BranchNews } from "../cli/host.ts";
import type { Config, GateConfig } from "../config/config.ts";
import { GATES } from "../domain/gate.ts";
import type { Policy } from "../domain/policy.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { ablePolicy } from "./able-policy.ts";
import { insistOnReviewers } from "./reviewers.ts";
import type { WorkerParts } from "./worker-parts.ts";

/**
 * The rules of the branch, for stories that start from now on. They are carried out with the gates and agents that the
 * workers were started with; what those cannot do is refused.
 */
export async function policyFor({ policy }: BranchNews, { plan, world }: WorkerParts): Promise<Policy> {
  const able = ablePolicy(policy, new Set(world.gates.keys()), {
    canDeliver: world.integration !== null,
    hasChecks: plan.run.config.gates.checks.commands.length > 0,
  });
  await insistOnReviewers(able, world.roster);
  return able;
}

/** What a config has besides rules: workers read it once, when they start. */
const READ_AT_START = [
  "agents",
  // Rules too; but gates are made by them.
  "preset",
  "scope",
  "environments",
  "workspace",
  "forge",
  "blame",
  "stories",
  "notify",
  "prices",
  "env",
  "redact",
] as const satisfies readonly (keyof Config)[];

const GATE_READ_AT_START = [
  "commands",
  "practices",
  "reports",
  "reruns",
  "parallel",
  "coverage",
  "fix",
  "rules",
  "report",
  "threshold",
] as const satisfies readonly (keyof GateConfig)[];

/** The settings, as people write them, that are other than the running workers have them. */
export function heldBack(running: Config, now: Config): readonly string[] {
  const settings = READ_AT_START.filter((key) => isOther(running[key], now[key]));
  const ofGates = GATES.flatMap((gate) =>
    GATE_READ_AT_START.filter((key) => isOther(running.gates[gate][key], now.gates[gate][key])).map(
      (key) => `gates.${gate}.${key}`,
    ),
  );
  return [...settings, ...ofGates];
}

const isOther = (one: unknown, other: unknown): boolean => canonicalJson(one ?? null) !== canonicalJson(other ?? null);
