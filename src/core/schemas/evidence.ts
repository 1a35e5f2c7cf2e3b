import { z } from "zod";
import { amount, confidence, count, text, texts } from "./scalars.ts";

export const CONDITION_TYPES = [
  "test_pass",
  "lint_clean",
  "coverage_threshold",
  "build_pass",
  "custom_command",
] as const;

/** A goal file (S3.10), which a person may have written by hand. */
export const goalSchema = z.looseObject({
  goalId: text.regex(/^goal-[a-z0-9]{8}$/, { error: 'not of the form "goal-" and eight letters or digits' }).nullish(),
  objective: text.min(1),
  stoppingConditions: z
    .array(
      z.looseObject({
        type: z.enum(CONDITION_TYPES),
        command: text.min(1),
        threshold: amount.max(100).nullish(),
        description: text.nullish(),
      }),
    )
    .min(1, { error: "at least one stopping condition is needed" }),
  budget: z
    .looseObject({
      maxIterations: count.min(1).max(100).default(15),
      maxDuration: text
        .regex(/^\d{1,6} ?(?:s|m|h|d)$/, { error: 'not a length of time like "90m" or "2h"' })
        .default("2h"),
      maxDollars: amount.default(10),
    })
    .prefault({}),
});

/** What the oracle answers (S3.1). */
export const oracleVerdictSchema = z.looseObject({
  converged: z.boolean().nullish(),
  verdict: z.enum(["pass", "fail", "partial"]).nullish(),
  conditionResults: z.array(z.looseObject({ type: text, passed: z.boolean(), output: text.nullish() })).nullish(),
  reasons: texts.nullish(),
  failReasons: texts.nullish(),
  nextHint: text.nullish(),
  confidence: confidence.nullish(),
});

export type GoalDocument = z.output<typeof goalSchema>;
