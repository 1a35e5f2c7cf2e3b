import { z } from "zod";
import { CI_CLASSES, GATES } from "../domain/gate.ts";

/** S1's `rework-log.json`, for whoever reads the trail back. */
const findingSchema = z.strictObject({
  severity: z.enum(["CRITICAL", "IMPORTANT", "SUGGESTION"]),
  file: z.string().nullable(),
  line: z.int().nullable(),
  description: z.string(),
});

const survivorSchema = z.strictObject({
  file: z.string(),
  line: z.int(),
  mutation: z.string(),
  recommended_test: z.string(),
});

/** S1 shows the first two; the others are what S1 says their gate provides. */
const triggerSchema = z.union([
  z.strictObject({ stage: z.string(), findings: z.array(findingSchema) }),
  z.strictObject({ survivors: z.array(survivorSchema), score: z.string() }),
  z.strictObject({
    phase: z.enum(["RED", "DOMAIN", "GREEN", "COMMIT"]).nullable(),
    output: z.string(),
    concerns: z.array(z.string()),
  }),
  z.strictObject({ classification: z.enum(CI_CLASSES), step: z.string(), output: z.string() }),
  z.strictObject({
    failures: z.array(z.strictObject({ check: z.string(), environment: z.string(), details: z.string() })),
  }),
  z.strictObject({
    failed_criteria: z.array(z.strictObject({ criterion: z.string(), reason: z.string() })),
    findings: z.array(findingSchema),
  }),
  z.strictObject({ reasons: z.array(z.string()) }),
]);

export const reworkLogSchema = z.strictObject({
  slice_id: z.string(),
  rework_entries: z.array(
    z.strictObject({
      gate: z.enum(GATES),
      attempt: z.int().min(1),
      timestamp: z.iso.datetime(),
      trigger: triggerSchema,
      action_taken: z.string(),
      outcome: z.string(),
    }),
  ),
});
