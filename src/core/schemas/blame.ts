import { z } from "zod";
import { BLAME_VERDICTS } from "../blame/blame.ts";
import { confidence, count, text, texts } from "./scalars.ts";

export const suspectSchema = z.strictObject({
  file: text,
  line: count,
  endLine: count.exactOptional(),
  symbol: text.exactOptional(),
  /** What the change did there, in a few words. */
  change: text,
  /** Where the change came from, as far as that is known: the commit, and the work it was part of. */
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
  /** `proven`: shown by running, both ways. `ranked`: the likeliest, by reading alone. */
  basis: z.enum(["proven", "ranked"]),
  confidence,
  suspects: z.array(suspectSchema),
  /** Of `multi`: none of the suspects causes it alone, all of them together do. */
  together: z.boolean().exactOptional(),
  /** Of `ranked`: without the suspects the tests pass each time; only the other direction could not be run. */
  shown: z.boolean().exactOptional(),
  /** Of `culprit`: a slip in code that is new with the failing tests. */
  newCode: z.boolean().exactOptional(),
  explanation: text,
  testRuns: count,
});
