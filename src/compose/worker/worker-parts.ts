import type { PostgresPool } from "../../adapters/postgres/pool.ts";
import type { BranchUpdate, WorkPlan } from "../../app/host.ts";
import type { Policy } from "../../core/events/policy.ts";
import type { Ledger } from "../../engine/ledger.ts";
import type { EngineWorld } from "../../engine/world.ts";
import type { Config, GateConfig } from "../../config/config.ts";
import { GATES } from "../../core/gates/gate.ts";
import { canonicalJson } from "../../stdx/canonical-json.ts";
import { assertPolicyCapabilities, assertReviewers } from "../assert-capabilities.ts";

/** The parts of one worker of a fleet. */
export interface WorkerParts {
  /** Unique to this process. */
  readonly id: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly plan: WorkPlan;
  readonly policy: Policy;
  readonly pool: PostgresPool;
  /** The connections for heartbeats, with shorter timeouts. */
  readonly beating: PostgresPool;
  readonly ledger: Ledger;
  readonly world: EngineWorld;
  readonly telemetry: { tookOver(jobs: number): void };
  close(): Promise<void>;
}

/**
 * The policy of the branch, for stories that start from now on. It must work with the gates and agents that the workers
 * started with; otherwise it is refused.
 */
export async function policyFor({ policy }: BranchUpdate, { plan, world }: WorkerParts): Promise<Policy> {
  const able = assertPolicyCapabilities(policy, new Set(world.gates.keys()), {
    canDeliver: world.integration !== null,
    config: plan.run.config,
  });
  await assertReviewers(able, world.roleRegistry);
  return able;
}

/** Settings besides rules: workers read them once, at start. */
const READ_AT_START = [
  "agents",
  // These are rules too, but gates are created from them.
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

/** The paths of settings that differ from those of the running workers. */
export function settingsNeedingRestart(running: Config, now: Config): readonly string[] {
  const settings = READ_AT_START.filter((key) => isOther(running[key], now[key]));
  const ofGates = GATES.flatMap((gate) =>
    GATE_READ_AT_START.filter((key) => isOther(running.gates[gate][key], now.gates[gate][key])).map(
      (key) => `gates.${gate}.${key}`,
    ),
  );
  return [...settings, ...ofGates];
}

const isOther = (one: unknown, other: unknown): boolean => canonicalJson(one ?? null) !== canonicalJson(other ?? null);
