import {
  goalSchema,
  oracleVerdictSchema,
  type CONDITION_TYPES,
  type GoalDocument,
} from "../../core/schemas/evidence.ts";
import { readEvidence, refusal, type EvidenceReading } from "../data/evidence.ts";

/** A goal (S3.10): what is to be reached, how one can see that it is, and what it may cost. */
export interface Goal {
  readonly id: string | null;
  readonly objective: string;
  readonly conditions: readonly GoalCondition[];
  readonly maxIterations: number;
  readonly maxDurationMs: number;
  readonly maxCostUsd: number;
}

export interface GoalCondition {
  readonly type: (typeof CONDITION_TYPES)[number];
  readonly command: string;
  /** Per cent, for a coverage. */
  readonly threshold: number | null;
  readonly description: string;
}

export function readGoal(text: string): EvidenceReading<Goal> {
  return readEvidence(text, "goal", goalSchema, (document) => {
    const unbounded = document.stoppingConditions.findIndex(({ type, threshold }) => {
      return type === "coverage_threshold" && threshold == null;
    });
    if (unbounded >= 0) return refusal(`stoppingConditions[${unbounded}].threshold: a coverage needs one`);
    return { ok: true, value: goalOf(document) };
  });
}

function goalOf({ goalId, objective, stoppingConditions, budget }: GoalDocument): Goal {
  return {
    id: goalId ?? null,
    objective,
    conditions: stoppingConditions.map(({ type, command, threshold, description }) => ({
      type,
      command,
      threshold: threshold ?? null,
      description: description ?? command,
    })),
    maxIterations: budget.maxIterations,
    maxDurationMs:
      Number.parseInt(budget.maxDuration, 10) * UNITS_MS[budget.maxDuration.at(-1) as keyof typeof UNITS_MS],
    maxCostUsd: budget.maxDollars,
  };
}

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** What the oracle (S3.1) says of one iteration. */
export interface OracleVerdict {
  /** `partial`: some of the conditions hold. Only `pass` ends the loop. */
  readonly verdict: "pass" | "fail" | "partial";
  readonly conditions: readonly { readonly type: string; readonly passed: boolean; readonly output: string }[];
  readonly reasons: readonly string[];
  readonly nextHint: string | null;
  readonly confidence: number | null;
}

export function readOracleVerdict(text: string): EvidenceReading<OracleVerdict> {
  return readEvidence(text, "oracle", oracleVerdictSchema, (document) => {
    const { converged, verdict: word } = document;
    if (converged == null && word == null) return refusal("converged: it is not said whether the goal is reached");
    if (converged != null && word != null && converged !== (word === "pass")) {
      return refusal(`verdict: "${word}" does not agree with converged: ${converged}`);
    }
    const conditions = (document.conditionResults ?? []).map(({ type, passed, output }) => ({
      type,
      passed,
      output: output ?? "",
    }));
    const verdict = word ?? (converged === true ? "pass" : "fail");
    const unmet = conditions.find(({ passed }) => !passed);
    if (verdict === "pass" && unmet !== undefined) {
      return refusal(`converged: it says so, and the condition ${unmet.type} does not hold`);
    }
    return {
      ok: true,
      value: {
        verdict,
        conditions,
        reasons: [...(document.reasons ?? []), ...(document.failReasons ?? [])],
        nextHint: document.nextHint ?? null,
        confidence: document.confidence ?? null,
      },
    };
  });
}
