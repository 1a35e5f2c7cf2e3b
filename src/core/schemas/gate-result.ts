import { z } from "zod";
import { CONTESTED_WHY } from "../gates/contested-test.ts";
import { CI_CLASSES, GATES } from "../gates/gate.ts";
import { TDD_PHASES } from "../stories/story.ts";
import { RESULTS } from "../events/error.ts";
import { NAME_LEVELS } from "../gates/test-names.ts";
import { SEVERITIES } from "../gates/finding.ts";
import { BLAME_VERDICTS } from "../blame/blame.ts";
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
  confidence,
} from "./scalars.ts";

/** One thing wrong with the work, as it is stored: with its identity, and on the one scale of severities. */
export const findingSchema = z.strictObject({
  id: fingerprintSchema,
  severity: z.enum(SEVERITIES),
  category: text,
  message: text,
  /** Details of this run: values, a diff, the lines around. The agent sees them; they are not part of the identity. */
  detail: text.exactOptional(),
  /** The role or the tool that reported it. */
  source: text,
  file: text.exactOptional(),
  line: count.exactOptional(),
  symbol: text.exactOptional(),
  suggestedFix: text.exactOptional(),
  criterion: text.exactOptional(),
  stage: text.exactOptional(),
});

/** An ordered part of a gate, or one of several perspectives that run side by side. */
export const stageResultSchema = z.strictObject({
  stage: text,
  result: z.enum(RESULTS),
  reviewer: roleNameSchema,
  summary: text.exactOptional(),
});

/** One cell of the matrix of S0.30: one check in one environment. */
export const checkRunSchema = z.strictObject({
  check: text,
  command: text,
  environment: text,
  result: z.enum(RESULTS),
  // Some systems report a crash as a negative number.
  exitCode: z.int().nullable(),
  details: text,
  /** How much the run reports about its tests by name; absent if it did not run, and in older judgements. */
  names: z.enum(NAME_LEVELS).exactOptional(),
  /** How long the run took; absent if it did not run, and in older judgements. */
  durationMs: amount.exactOptional(),
});

export const criterionResultSchema = z.strictObject({
  criterion: text,
  status: z.enum(["verified", "failed", "unknown"]),
  evidence: text,
});

/** Two reviewers who ask for opposite changes in one location. */
export const reviewConflictSchema = z.strictObject({
  file: text,
  line: count,
  between: z.tuple([text, text]),
  says: z.tuple([text, text]),
  /** The reviewer whose opinion counts; `null`: a tie, which a person decides. */
  winner: text.nullable(),
});

/**
 * What a run reports about single tests and failures, by identity. The names are those of `story.prepared.preExisting`:
 * `file > test`; `file: message` for a failure that is not a test; the check's own name if its output names nothing.
 * Only names that are compared with other rounds are stored: a suite of 20,000 passing tests adds none.
 */
const testIdentitiesSchema = z.strictObject({
  /** Everything that failed, whether it also failed at the base or not. */
  failing: texts,
  /** How many failures were counted and not named. If above 0, a test that is not in `failing` may have failed too. */
  unlisted: count,
  /**
   * Of the failures at the base or in this gate's last judgement: those that the output or a report names as passed.
   */
  passing: texts,
  /** Of `failing`: what is known to have passed at the base. */
  passedAtBase: texts,
  /** Of `failing`: what is known to have passed in this gate's last judgement. */
  passedLast: texts,
  /** Checks in which a test ran: `check`, or `check in environment`. */
  ranTests: texts,
  /**
   * Test files and checks that did not load (a syntax error, a failed build): the outcome of their tests is unknown.
   */
  notLoaded: texts,
});

/** How the checks of one gate ended at the base. Checks are named as in `testIdentitiesSchema.ranTests`. */
export const baseRunSchema = z.strictObject({
  /** Checks that ended by themselves within their time limit, with any result. */
  ended: texts,
  /** Checks in which a test ran. */
  ranTests: texts,
  /** Test files and checks that did not load. */
  notLoaded: texts,
  /** The stored outcome of every single test, for checks that name their tests. */
  tests: evidenceIdSchema.exactOptional(),
  /** How much each check reports about its tests by name; absent in older runs. */
  names: byName(z.string(), z.enum(NAME_LEVELS)).exactOptional(),
  /** Checks whose result changed when their tests were reported by name. They run without these reports. */
  unreported: texts.exactOptional(),
  /** Test files, and settings of test runners, that the checks themselves write. */
  written: texts.exactOptional(),
});

/** A test that passed at the base and that the work changed or removed. A reviewer or a person decides about it. */
export const contestedTestSchema = z.strictObject({
  test: text,
  why: z.enum(CONTESTED_WHY),
  /** The test file at the base, if it is known. */
  file: text.exactOptional(),
  /** The failing version is not the base's, but one that a gate or a person has accepted since. */
  isOfStory: z.literal(true).exactOptional(),
});

/** How the checks of each gate ended at the base; gates without checks have no entry. */
export const baseRunsSchema = z.partialRecord(z.enum(GATES), baseRunSchema);

/** The result of one gate on one tree. */
export const judgementSchema = z.strictObject({
  gate: z.enum(GATES),
  result: z.enum(RESULTS),
  tree: treeIdSchema,
  findings: z.array(findingSchema),
  /** The identities of the findings that keep this tree from passing. */
  blocking: z.array(fingerprintSchema),
  /** A fingerprint of the normalized failure: equal fingerprints mean the same failure. */
  failure: fingerprintSchema.exactOptional(),
  stages: z.array(stageResultSchema).exactOptional(),
  runs: z.array(checkRunSchema).exactOptional(),
  criteria: z.array(criterionResultSchema).exactOptional(),
  tests: z.strictObject({ total: count, passed: count, failed: count, skipped: count }).exactOptional(),
  /** Absent for gates without checks, and in older judgements: then nothing is known about single tests. */
  identities: testIdentitiesSchema.exactOptional(),
  /** In percent. */
  coverage: z.strictObject({ lines: amount, branches: amount.nullable() }).exactOptional(),
  /** The highest values measured so far, with which later rounds are compared. Coverage is in percent. */
  most: z
    .strictObject({
      /** The number of tests that ran. */
      tests: count.exactOptional(),
      lines: amount.exactOptional(),
      branches: amount.exactOptional(),
    })
    .exactOptional(),
  /** Tests, or whole checks, with two different results on one tree. */
  flaky: texts.exactOptional(),
  /**
   * What a pass does not show, or was given in spite of: known failures, quarantined tests, a change without a test.
   */
  notes: texts.exactOptional(),
  /**
   * Of a gate that runs tests: tests of the base that the work changed or removed without a license. Of a reviewer: the
   * tests that it was asked to rule on; its pass accepts them.
   */
  contested: z.array(contestedTestSchema).exactOptional(),
  /** The result of hidden checks: the number of failures, and the report that a person can read. */
  hidden: z.strictObject({ failed: count, report: evidenceIdSchema }).exactOptional(),
  ciClass: z.enum(CI_CLASSES).exactOptional(),
  tddPhase: z.enum(TDD_PHASES).exactOptional(),
  conflicts: z.array(reviewConflictSchema).exactOptional(),
  /** What must be done, in the reviewer's words. */
  requiredFixes: texts.exactOptional(),
  summary: text,
  /** What the reviewer learned that the author needs. */
  context: texts.exactOptional(),
  /** The critic's assessment, by aspect. */
  quality: byName(text, text).exactOptional(),
  /** How the auditor contradicts the critic, or the engine's own runs, in a sentence. */
  disagreement: text.exactOptional(),
  /** The reviewer failed the work and, even when asked again, gave no reason. */
  isBestEffort: z.boolean().exactOptional(),
  /** Of an error: a retry before this time would fail again. */
  retryAt: amount.exactOptional(),
  /** How often each role was asked, and the conversations in which it can be asked again. */
  asked: byName(roleNameSchema, count).exactOptional(),
  sessions: byName(roleNameSchema, sessionSchema).exactOptional(),
  evidence: z.array(evidenceIdSchema),
  ...cost,
});

/**
 * The verdict of a reviewer that can answer with data: the review of S4.40, with the additions of the other sources.
 */
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

/** The same as a JSON schema, for an agent whose output can be constrained by one. */
export const verdictJsonSchema = (): object => z.toJSONSchema(verdictSchema, { io: "input" });

export const suspectSchema = z.strictObject({
  file: text,
  line: count,
  endLine: count.exactOptional(),
  symbol: text.exactOptional(),
  /** What the change did in this location, in a few words. */
  change: text,
  /** The commit of the change and the work that it was part of, if known. */
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
  /** `proven`: runs show that the failure comes and goes with the change. `ranked`: the likeliest, by reading alone. */
  basis: z.enum(["proven", "ranked"]),
  confidence,
  suspects: z.array(suspectSchema),
  /** Of `multi`: none of the suspects causes the failure alone, but all of them together do. */
  together: z.boolean().exactOptional(),
  /** Of `ranked`: without the suspects the tests pass every time; only the opposite could not be run. */
  shown: z.boolean().exactOptional(),
  /** Of `culprit`: a mistake in code that is as new as the failing tests. */
  newCode: z.boolean().exactOptional(),
  explanation: text,
  testRuns: count,
});
