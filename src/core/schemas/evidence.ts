import { z } from "zod";
import { severityFromWord } from "../gates/finding.ts";
import { amount, confidence, count, text, texts } from "./scalars.ts";

/*
 * The evidence files that S1.36 compiles, as their own tools write them. Keys that are not named here are let through and ignored:
 * those tools add their own.
 */

const severity = text.refine((word) => severityFromWord(word) !== undefined, {
  error: "no known severity; S1 has CRITICAL, IMPORTANT and SUGGESTION",
});

const finding = z.looseObject({
  severity,
  file: text.nullish(),
  line: count.nullish(),
  description: text.min(1),
  status: text.nullish(),
  category: text.nullish(),
});

const stage = z.looseObject({
  verdict: text,
  findings: z.array(finding).default([]),
  led_by: texts.nullish(),
});

/** `review.json`: the stages by their names, or in a list. */
export const reviewEvidenceSchema = z.looseObject({
  slice_id: text.nullish(),
  attempt: count.nullish(),
  stages: z.union([z.array(stage.extend({ stage: text })), z.record(text, stage)]),
  overall: text.nullish(),
  required_changes: z.array(z.union([text, z.looseObject({ description: text })])).nullish(),
});

const survivor = z.looseObject({
  file: text,
  line: count,
  mutation: text,
  description: text.nullish(),
  recommended_test: text.nullish(),
});

/** `mutation.json`. */
export const mutationEvidenceSchema = z.looseObject({
  slice_id: text.nullish(),
  tool: text.nullish(),
  scope: texts.nullish(),
  results: z.looseObject({
    total_mutants: count,
    killed: count,
    survived: count,
    timed_out: count.default(0),
    score: z.union([text, amount]).nullish(),
  }),
  survivors: z.array(survivor).default([]),
});

/** `CI_RESULT`, and the file that S1.27 keeps of a run: the same under other names. */
export const ciEvidenceSchema = z.looseObject({
  run_id: z.union([text, count]).nullish(),
  pipeline_run_id: z.union([text, count]).nullish(),
  status: text,
  url: text.nullish(),
  duration: amount.nullish(),
  duration_seconds: amount.nullish(),
  failure_type: text.nullish(),
  failure_classification: text.nullish(),
  failure_details: text.nullish(),
  fixes_applied: texts.nullish(),
  retry_count: count.nullish(),
});

export type ReviewDocument = z.output<typeof reviewEvidenceSchema>;
export type MutationDocument = z.output<typeof mutationEvidenceSchema>;
export type CiDocument = z.output<typeof ciEvidenceSchema>;

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
