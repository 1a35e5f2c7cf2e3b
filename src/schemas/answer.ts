import { z } from "zod";
import { ANSWER_VERBS, type AnswerVerb } from "../domain/escalation.ts";
import { GATES } from "../domain/gate.ts";
import { PHASES } from "../domain/phase.ts";
import { budgetNameSchema } from "./budget.ts";
import { findingSchema } from "./finding.ts";
import { escalationIdSchema, fingerprintSchema } from "./ids.ts";
import { amount, doer, saysSomething, text, texts } from "./scalars.ts";

/** These open a gate that nothing has passed, so somebody must say why (law 2). */
const NEED_A_REASON: readonly AnswerVerb[] = ["waive", "force-complete", "known", "allow"];

/** What a person said, who they are, and what it is about. */
export const answerSchema = z
  .strictObject({
    verb: z.enum(ANSWER_VERBS),
    by: doer,
    message: text,
    escalation: escalationIdSchema.nullable(),
    gate: z.enum(GATES).exactOptional(),
    findings: z.array(fingerprintSchema).exactOptional(),
    phase: z.enum(PHASES).exactOptional(),
    budget: budgetNameSchema.exactOptional(),
    tests: texts.exactOptional(),
    limit: amount.exactOptional(),
    comments: z.array(z.strictObject({ id: text, finding: findingSchema })).exactOptional(),
  })
  .refine(({ verb, message }) => !NEED_A_REASON.includes(verb) || saysSomething(message), {
    path: ["message"],
    error: "a reason is needed: why does this go through without a pass?",
  })
  .meta({
    anyOf: [
      { properties: { verb: { not: { enum: NEED_A_REASON } } } },
      { properties: { message: { pattern: "\\S" } } },
    ],
  });
