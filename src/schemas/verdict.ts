import { z } from "zod";
import { SEVERITIES } from "../domain/severity.ts";
import { count, text, texts } from "./scalars.ts";

/** What a reviewer is asked for where it can answer with data: S4's review, with what the other sources add to it. */
export const verdictSchema = z.strictObject({
  id: text.exactOptional(),
  passed: z.boolean(),
  issues: z.array(
    z.strictObject({
      severity: z.enum(SEVERITIES),
      category: text,
      file: text.exactOptional(),
      line: count.min(1).exactOptional(),
      description: text.min(1),
      suggestedFix: text.exactOptional(),
      criterion: text.exactOptional(),
    }),
  ),
  summary: text.exactOptional(),
  context: texts.exactOptional(),
});

/** The same for an agent that can be held to a schema. */
export const verdictJsonSchema = (): object => z.toJSONSchema(verdictSchema, { io: "input" });
