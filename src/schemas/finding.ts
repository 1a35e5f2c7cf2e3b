import { z } from "zod";
import { SEVERITIES } from "../domain/severity.ts";
import { fingerprintSchema } from "./ids.ts";
import { count, text } from "./scalars.ts";

/** One thing wrong, as it is stored: with its identity, and on the one scale of severities. */
export const findingSchema = z.strictObject({
  id: fingerprintSchema,
  severity: z.enum(SEVERITIES),
  category: text,
  message: text,
  detail: text.exactOptional(),
  source: text,
  file: text.exactOptional(),
  line: count.exactOptional(),
  symbol: text.exactOptional(),
  suggestedFix: text.exactOptional(),
  criterion: text.exactOptional(),
  stage: text.exactOptional(),
});
