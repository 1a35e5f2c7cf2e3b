import { z } from "zod";
import { CONTESTED_WHY } from "../gates/contested-test.ts";
import { CI_CLASSES, GATES } from "../gates/gate.ts";
import { TDD_PHASES } from "../stories/story.ts";
import { RESULTS } from "../events/error.ts";
import { NAME_LEVELS } from "../gates/test-names.ts";
import { SEVERITIES } from "../gates/severity.ts";
import {
  amount,
  byName,
  cost,
  count,
  evidenceIdSchema,
  fingerprintSchema,
  roleNameSchema,
  sessionSchema,
  text,
  texts,
  treeIdSchema,
} from "./scalars.ts";

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

const stageResultSchema = z.strictObject({
  stage: text,
  result: z.enum(RESULTS),
  reviewer: roleNameSchema,
  summary: text.exactOptional(),
});

const checkRunSchema = z.strictObject({
  check: text,
  command: text,
  environment: text,
  result: z.enum(RESULTS),
  // Some systems report a crash as a negative number.
  exitCode: z.int().nullable(),
  details: text,
  names: z.enum(NAME_LEVELS).exactOptional(),
});

const criterionResultSchema = z.strictObject({
  criterion: text,
  status: z.enum(["verified", "failed", "unknown"]),
  evidence: text,
});

const reviewConflictSchema = z.strictObject({
  file: text,
  line: count,
  between: z.tuple([text, text]),
  says: z.tuple([text, text]),
  winner: text.nullable(),
});

const testIdentitiesSchema = z.strictObject({
  failing: texts,
  unlisted: count,
  passing: texts,
  passedAtBase: texts,
  passedLast: texts,
  ranTests: texts,
  notLoaded: texts,
});

const baseRunSchema = z.strictObject({
  ended: texts,
  ranTests: texts,
  notLoaded: texts,
  tests: evidenceIdSchema.exactOptional(),
  names: byName(z.string(), z.enum(NAME_LEVELS)).exactOptional(),
  unreported: texts.exactOptional(),
  written: texts.exactOptional(),
});

const contestedTestSchema = z.strictObject({
  test: text,
  why: z.enum(CONTESTED_WHY),
  file: text.exactOptional(),
  isOfStory: z.literal(true).exactOptional(),
});

/** How the checks of each gate went over the base. */
export const baseRunsSchema = z.partialRecord(z.enum(GATES), baseRunSchema);

/** One judgement of one gate over one tree. */
export const judgementSchema = z.strictObject({
  gate: z.enum(GATES),
  result: z.enum(RESULTS),
  tree: treeIdSchema,
  findings: z.array(findingSchema),
  blocking: z.array(fingerprintSchema),
  failure: fingerprintSchema.exactOptional(),
  stages: z.array(stageResultSchema).exactOptional(),
  runs: z.array(checkRunSchema).exactOptional(),
  criteria: z.array(criterionResultSchema).exactOptional(),
  tests: z.strictObject({ total: count, passed: count, failed: count, skipped: count }).exactOptional(),
  identities: testIdentitiesSchema.exactOptional(),
  coverage: z.strictObject({ lines: amount, branches: amount.nullable() }).exactOptional(),
  most: z
    .strictObject({
      tests: count.exactOptional(),
      lines: amount.exactOptional(),
      branches: amount.exactOptional(),
    })
    .exactOptional(),
  flaky: texts.exactOptional(),
  notes: texts.exactOptional(),
  contested: z.array(contestedTestSchema).exactOptional(),
  ciClass: z.enum(CI_CLASSES).exactOptional(),
  tddPhase: z.enum(TDD_PHASES).exactOptional(),
  conflicts: z.array(reviewConflictSchema).exactOptional(),
  requiredFixes: texts.exactOptional(),
  summary: text,
  context: texts.exactOptional(),
  quality: byName(text, text).exactOptional(),
  disagreement: text.exactOptional(),
  isBestEffort: z.boolean().exactOptional(),
  retryAt: amount.exactOptional(),
  asked: byName(roleNameSchema, count).exactOptional(),
  sessions: byName(roleNameSchema, sessionSchema).exactOptional(),
  evidence: z.array(evidenceIdSchema),
  ...cost,
});

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
