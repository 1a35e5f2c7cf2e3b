import { z } from "zod";
import { ANSWER_VERBS, ESCALATION_KINDS } from "../domain/escalation.ts";
import { GATES } from "../domain/gate.ts";
import { STALLS } from "../domain/stall.ts";
import { budgetNameSchema } from "./budget.ts";
import { escalationIdSchema } from "./ids.ts";
import { amount, count, text, texts } from "./scalars.ts";
import { triedAndFailedSchema } from "./tried-finding.ts";

const escalationReasonSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("budget"), budget: budgetNameSchema, used: amount, limit: amount }),
  z.strictObject({ type: z.literal("stall"), stall: z.enum(STALLS), detail: text }),
  z.strictObject({ type: z.literal("scope-too-broad"), files: texts }),
  z.strictObject({ type: z.literal("non-deterministic"), detail: text }),
  z.strictObject({ type: z.literal("gate-error"), errors: count, detail: text }),
  z.strictObject({ type: z.literal("gate-inconclusive"), times: count, detail: text }),
  z.strictObject({ type: z.literal("gate-blocked"), times: count, detail: text }),
  z.strictObject({ type: z.literal("agent-failure"), outcome: text, times: count, detail: text }),
  z.strictObject({ type: z.literal("agent-missing"), role: text }),
  z.strictObject({
    type: z.literal("engine-died"),
    during: text,
    kind: z.enum(["attempt", "gate", "step"]),
    times: count,
  }),
  z.strictObject({ type: z.literal("incomplete"), category: text, blocker: text, needed: text }),
  z.strictObject({ type: z.literal("conflict"), detail: text }),
  z.strictObject({ type: z.literal("dispute"), finding: text, detail: text }),
  z.strictObject({
    type: z.literal("approval"),
    of: z.enum(["rework", "retry", "merge"]),
    detail: text.exactOptional(),
  }),
  z.strictObject({ type: z.literal("target-moves"), times: count, merges: z.boolean() }),
  z.strictObject({ type: z.literal("branch-moved"), commit: text, detail: text }),
  z.strictObject({ type: z.literal("infrastructure"), issue: text, tries: count }),
  z.strictObject({ type: z.literal("failing-base"), tests: texts }),
  z.strictObject({ type: z.literal("target-not-failing"), targets: texts }),
  z.strictObject({ type: z.literal("contested-tests"), tests: texts }),
]);

/** A question that only a person can answer. */
export const escalationSchema = z.strictObject({
  id: escalationIdSchema,
  kind: z.enum(ESCALATION_KINDS),
  reason: escalationReasonSchema,
  gate: z.enum(GATES).nullable(),
  title: text,
  assessment: text,
  recommendation: text,
  question: text,
  options: z.array(z.strictObject({ verb: z.enum(ANSWER_VERBS), does: text, cost: text })),
  attempts: z.array(triedAndFailedSchema),
  branch: text,
  commit: text,
});
