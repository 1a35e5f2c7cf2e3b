import { z } from "zod";
import { ANSWER_VERBS, ESCALATION_KINDS } from "../stories/escalation.ts";
import { STALLS } from "../stories/stop-rules.ts";
import { GATES } from "../gates/gate.ts";
import { TRIED_FINDING_STATUSES } from "../gates/tried-finding.ts";
import { PHASES } from "../stories/story.ts";
import { amount, count, escalationIdSchema, text, texts } from "./scalars.ts";

/** One earlier attempt: what was tried, why it was rejected, and what became of each finding. */
const triedAndFailedSchema = z.strictObject({
  attempt: count,
  tried: text,
  failed: text,
  findings: z
    .array(
      z.strictObject({
        id: text,
        gate: text,
        title: text,
        file: text.exactOptional(),
        line: count.exactOptional(),
        status: z.enum(TRIED_FINDING_STATUSES),
        seenIn: count,
      }),
    )
    .exactOptional(),
  findingsLeftOut: count.exactOptional(),
});

/** The name of a limit with a counter: `failures:review`, `cost`, `run-time`. */
export const budgetNameSchema = z.enum([
  ...GATES.map((gate) => `failures:${gate}` as const),
  "iterations",
  "location",
  "cost",
  "tokens",
  "time",
  "run-cost",
  "run-tokens",
  "run-time",
]);

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
  z.strictObject({ type: z.literal("contested-tests"), tests: texts, cannotFail: texts.exactOptional() }),
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

/** What the dashboard sends when a person takes the last answer back. */
export const takenBackSchema = z.strictObject({ about: text.min(1).max(200) });

/** What the dashboard sends when a person holds a story, or lets it go on. `now`: what runs for it is ended. */
export const heldSchema = z.strictObject({ about: text.min(1).max(200), now: z.boolean().exactOptional() });

/** What the dashboard sends when a person answers. Who says it is not in it: the server knows whose it is. */
export const saidSchema = z.strictObject({
  /** The escalation, or the story. */
  about: text.min(1).max(200),
  verb: z.enum(ANSWER_VERBS),
  message: text.max(20_000),
  gate: z.enum(GATES).exactOptional(),
  findings: z.array(text.min(1).max(100)).max(200).exactOptional(),
  phase: z.enum(PHASES).exactOptional(),
  budget: budgetNameSchema.exactOptional(),
  tests: z.array(text.min(1).max(2000)).max(1000).exactOptional(),
  limit: amount.exactOptional(),
});
