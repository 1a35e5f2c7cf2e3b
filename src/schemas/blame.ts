import { z } from "zod";
import { BLAME_VERDICTS } from "../domain/blame.ts";
import { confidence, count, text, texts } from "./scalars.ts";

const suspectSchema = z.strictObject({
  file: text,
  line: count,
  endLine: count.exactOptional(),
  symbol: text.exactOptional(),
  change: text,
  commit: text.exactOptional(),
  story: text.exactOptional(),
  attempt: count.exactOptional(),
  role: text.exactOptional(),
  phase: text.exactOptional(),
  confidence,
  reasons: texts,
});

export const blameSchema = z.strictObject({
  verdict: z.enum(BLAME_VERDICTS),
  basis: z.enum(["proven", "ranked"]),
  confidence,
  suspects: z.array(suspectSchema),
  together: z.boolean().exactOptional(),
  explanation: text,
  testRuns: count,
});
