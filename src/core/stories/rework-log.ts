import type { CiClass, GateName } from "../gates/gate.ts";
import type { Finding } from "../gates/finding.ts";
import type { Survivor } from "./brief.ts";
import type { TddPhase } from "./story.ts";

/** One rework: its reason, what was done, and the outcome (`rework-log.json`, S1.44). */
export interface ReworkRecord {
  readonly gate: GateName;
  /** The number of the rework of this gate, from 1. */
  readonly attempt: number;
  /** Milliseconds since 1970, UTC. */
  readonly at: number;
  readonly trigger: ReworkTrigger;
  readonly actionTaken: string;
  readonly outcome: string;
}

/** S1.45 defines the first two; the others hold what the gate reports. */
export type ReworkTrigger =
  | { readonly type: "findings"; readonly stage: string; readonly findings: readonly Finding[] }
  | { readonly type: "survivors"; readonly survivors: readonly Survivor[]; readonly score: string }
  | {
      readonly type: "tdd";
      readonly phase: TddPhase | null;
      readonly output: string;
      readonly concerns: readonly string[];
    }
  | { readonly type: "ci"; readonly classification: CiClass; readonly step: string; readonly output: string }
  | {
      readonly type: "checks";
      readonly failures: readonly { readonly check: string; readonly environment: string; readonly details: string }[];
    }
  | {
      readonly type: "criteria";
      readonly failed: readonly { readonly criterion: string; readonly reason: string }[];
      readonly findings: readonly Finding[];
    }
  | { readonly type: "reasons"; readonly reasons: readonly string[] };

/** The result of a gate for one attempt, with the output that led to it (S1.36). */
export interface AttemptOutput {
  readonly attempt: number;
  readonly gate: string;
  readonly result: string;
  readonly summary: string;
  /** The output, by finding. */
  readonly output: readonly string[];
  /** The ids of the stored outputs, for `remand evidence <id>`. */
  readonly evidence: readonly string[];
}

/**
 * What a question about a story does not contain itself: the slice as it was defined, and the outputs of its attempts.
 */
export interface EscalationContext {
  readonly title: string;
  readonly definition: string;
  readonly criteria: readonly string[];
  readonly outputs: readonly AttemptOutput[];
}

/** A task that used up its attempts or was given up (S0.34). */
export interface FailedTask {
  readonly taskId: string;
  /** `review_failure_limit` and similar at a limit; otherwise the reason in words. */
  readonly reason: string;
  /** The person who answered since; absent if no person has. */
  readonly takenUpBy?: string;
  readonly reviewAttempts: number;
  readonly auditAttempts: number;
}

/** The record of one location (S3.26): a file, and its symbol if known. */
export interface TrackedLocation {
  readonly file: string;
  readonly symbol?: string;
  readonly attempts: number;
  readonly lastAttemptAt: number;
  readonly outcomes: readonly ("pass" | "fail")[];
  /** `null` if no agent reported its cost: unknown is not zero. */
  readonly totalCostUsd: number | null;
}
