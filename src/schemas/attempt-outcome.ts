import { z } from "zod";
import { SPENT_BUDGETS } from "../domain/budget.ts";
import { INCOMPLETE_CATEGORIES } from "../domain/signal.ts";
import { amount, doer, text, texts } from "./scalars.ts";

/** How a dispatch of an agent ended. */
export const attemptOutcomeSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready") }),
  z.strictObject({
    type: z.literal("incomplete"),
    category: z.enum(INCOMPLETE_CATEGORIES),
    blocker: text,
    attempted: texts,
    needed: text,
    // The agent's own word for a story: it may be no story's id at all, and the fold looks it up.
    waitsFor: text.exactOptional(),
  }),
  z.strictObject({ type: z.literal("blocked"), issue: text }),
  z.strictObject({ type: z.literal("unclear"), detail: text }),
  z.strictObject({ type: z.literal("crashed"), detail: text }),
  z.strictObject({ type: z.literal("timed-out"), afterMs: amount }),
  z.strictObject({ type: z.literal("rate-limited"), retryAt: amount }),
  z.strictObject({ type: z.literal("refused"), detail: text }),
  z.strictObject({ type: z.literal("unusable"), detail: text, fix: text }),
  z.strictObject({ type: z.literal("missing"), detail: text }),
  z.strictObject({ type: z.literal("stopped"), by: doer }),
  z.strictObject({ type: z.literal("cut-short"), budget: z.enum(SPENT_BUDGETS) }),
]);
