import type { PostgresPool } from "../../adapters/postgres/pool.ts";
import type { BranchUpdate, WorkPlan } from "../../app/host.ts";
import type { Policy } from "../../core/events/policy.ts";
import type { Ledger } from "../../engine/ledger.ts";
import type { EngineWorld } from "../../engine/world.ts";
import type { Config, GateConfig } from "../../config/config.ts";
import { GATES } from "../../core/gates/gate.ts";
import { canonicalJson } from "../../stdx/canonical-json.ts";
import { ablePolicy, assertReviewers } from "../assert-capabilities.ts";

/** What one worker of a fleet is made of. */
export interface WorkerParts {
  /** Of this process and no other. */
  readonly id: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly plan: WorkPlan;
  readonly policy: Policy;
  readonly pool: PostgresPool;
  /** For the signs of life, with less patience. */
  readonly beating: PostgresPool;
  readonly ledger: Ledger;
  readonly world: EngineWorld;
  readonly telemetry: { tookOver(jobs: number): void };
  close(): Promise<void>;
}

/**
 * The rules of the branch, for stories that start from now on. They are carried out with the gates and agents that the
 * workers were started with; what those cannot do is refused.
 */
export async function policyFor({ policy }: BranchUpdate, { plan, world }: WorkerParts): Promise<Policy> {
  const able = ablePolicy(policy, new Set(world.gates.keys()), {
    canDeliver: world.integration !== null,
    config: plan.run.config,
  });
  await assertReviewers(able, world.roleRegistry);
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
  "equivalent",
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
