import { z } from "zod";
import { severityFromWord } from "../domain/severity.ts";
import { amount, count, text, texts } from "./scalars.ts";

/*
 * The evidence files of S1, as its own tools write them. Keys that are not named here are let through and ignored:
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

/** `CI_RESULT`, and the file that S1 keeps of a run: the same under other names. */
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
