import { z } from "zod";
import { ANSWER_VERBS } from "../domain/escalation.ts";
import { GATES } from "../domain/gate.ts";
import { PHASES } from "../domain/phase.ts";
import { budgetNameSchema } from "./budget.ts";
import { amount, text } from "./scalars.ts";

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
