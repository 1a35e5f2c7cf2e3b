import { z } from "zod";
import { confidence, text, texts } from "./scalars.ts";

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
