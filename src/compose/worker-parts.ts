import type { PostgresPool } from "../adapters/postgres/pool.ts";
import type { WorkPlan } from "../cli/host.ts";
import type { Policy } from "../domain/policy.ts";
import type { Ledger } from "../engine/ledger.ts";
import type { EngineWorld } from "../engine/world.ts";

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
