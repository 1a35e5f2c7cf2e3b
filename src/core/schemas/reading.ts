import { z } from "zod";
import { SEVERITIES } from "../gates/finding.ts";
import { INCOMPLETE_CATEGORIES, READING_RESULTS, SIGNALS } from "../stories/reading.ts";
import { count, text, texts, confidence, type Stored } from "./scalars.ts";

/** The format of what `remand parse --json` prints. */
const READING_DOCUMENT = "remand.reading/1";

const orNull = <T extends z.ZodType>(schema: T): z.ZodNullable<T> => z.nullable(schema);

const finding = z.strictObject({
  severity: orNull(z.enum(SEVERITIES)),
  category: orNull(text),
  file: orNull(text),
  line: orNull(count),
  message: text,
  suggestedFix: orNull(text),
  criterion: orNull(text),
  /** In a re-review: whether the earlier finding is ADDRESSED or NOT. */
  status: orNull(text),
});

export const readingSchema = z.strictObject({
  schema: z.literal(READING_DOCUMENT),
  kind: z.enum(["signal", "verdict", "unknown"]),
  signal: orNull(z.enum(SIGNALS)),
  id: orNull(text),
  /** `null` if no id was expected. */
  idMatches: orNull(z.boolean()),
  result: z.enum(READING_RESULTS),
  findings: z.array(finding),
  requiredFixes: texts,
  passing: texts,
  /** The critic's assessment, by aspect: `Code style` → `COMPLIANT`. */
  quality: z.record(text, text),
  verification: z.array(
    z.strictObject({ criterion: text, status: z.enum(["verified", "failed", "unknown"]), evidence: text }),
  ),
  commands: z.array(z.strictObject({ command: text, environment: orNull(text), result: text })),
  environments: texts,
  preExisting: texts,
  filesReviewed: texts,
  filesModified: texts,
  /** What the reviewer learned that the author needs. */
  context: texts,
  incomplete: orNull(
    z.strictObject({
      category: orNull(z.enum(INCOMPLETE_CATEGORIES)),
      blocker: text,
      attempted: texts,
      needed: text,
    }),
  ),
  priority: orNull(z.enum(["HIGH", "MEDIUM", "LOW"])),
  summary: orNull(text),
  /** Problems with the text, each as a sentence. An unknown reading always has at least one. */
  problems: texts,
});

export type ReadingDocument = Stored<typeof readingSchema>;

/** The reply of the oracle (S3.1). */
export const oracleVerdictSchema = z.looseObject({
  converged: z.boolean().nullish(),
  verdict: z.enum(["pass", "fail", "partial"]).nullish(),
  conditionResults: z.array(z.looseObject({ type: text, passed: z.boolean(), output: text.nullish() })).nullish(),
  reasons: texts.nullish(),
  failReasons: texts.nullish(),
  nextHint: text.nullish(),
  confidence: confidence.nullish(),
});
