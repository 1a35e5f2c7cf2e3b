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

/** One thing wrong, as it is stored: with its identity, and on the one scale of severities. */
export const findingSchema = z.strictObject({
  id: fingerprintSchema,
  severity: z.enum(SEVERITIES),
  category: text,
  message: text,
  /** What this run adds: values, a diff, the lines around. Shown to the agent, and no part of the identity. */
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

/** An ordered part of a gate, or one of several perspectives looked at side by side. */
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
  /** How much it says of its tests by name; absent where it did not run, and in older judgements. */
  names: z.enum(NAME_LEVELS).exactOptional(),
  /** How long the run took; absent where it did not run, and in older judgements. */
  durationMs: amount.exactOptional(),
});

export const criterionResultSchema = z.strictObject({
  criterion: text,
  status: z.enum(["verified", "failed", "unknown"]),
  evidence: text,
});

/** Two reviewers who ask for opposite things in one place. */
export const reviewConflictSchema = z.strictObject({
  file: text,
  line: count,
  between: z.tuple([text, text]),
  says: z.tuple([text, text]),
  /** The reviewer whose opinion counts; `null` is a tie, which a person breaks. */
  winner: text.nullable(),
});

/**
 * What a run says of single tests and faults, by identity. The names are those of `story.prepared.preExisting`:
 * `file > test`, `file: message` for a fault that is no test, the check's own name where its output names nothing. Only
 * names that other rounds are compared by are kept: a suite of 20,000 tests that pass adds none.
 */
const testIdentitiesSchema = z.strictObject({
  /** Everything that failed, red at the base or not. */
  failing: texts,
  /** How many failures were counted and not named. Above 0, what is not in `failing` may have failed too. */
  unlisted: count,
  /** Of what failed at the base or in this gate's last judgement: what the output or a report names as passed. */
  passing: texts,
  /** Of `failing`: what is known to have passed at the base. What cannot be known is left out. */
  passedAtBase: texts,
  /** Of `failing`: what is known to have passed when this gate judged last. */
  passedLast: texts,
  /** Checks in which a test ran: `check`, or `check in environment`. */
  ranTests: texts,
  /** Test files and checks that did not load (a syntax error, a failed build): what their tests say is unknown. */
  notLoaded: texts,
});

/** How the checks of one gate went over the base. They are called as in `testIdentitiesSchema.ranTests`. */
export const baseRunSchema = z.strictObject({
  /** Checks that ended by themselves within their time limit, whatever they said. */
  ended: texts,
  /** Checks in which a test ran. */
  ranTests: texts,
  /** Test files and checks that did not load. */
  notLoaded: texts,
  /** Where the outcome of every single test is kept, for checks that name them. */
  tests: evidenceIdSchema.exactOptional(),
  /** How much each check says of its tests by name; absent in older runs. */
  names: byName(z.string(), z.enum(NAME_LEVELS)).exactOptional(),
  /** Checks that went differently while their tests were reported by name, and therefore run without that. */
  unreported: texts.exactOptional(),
  /** Test files, and files of runners, that the checks themselves write. */
  written: texts.exactOptional(),
});

/** A test that passed at the base and that the work changed or removed. A reviewer or a person decides about it. */
export const contestedTestSchema = z.strictObject({
  test: text,
  why: z.enum(CONTESTED_WHY),
  /** The test file at the base, where it is known. */
  file: text.exactOptional(),
  /** It is not the base's version that speaks against the work, but one that a gate or a person has seen since. */
  isOfStory: z.literal(true).exactOptional(),
});

/** How the checks of each gate went over the base; a gate that runs no check has none. */
export const baseRunsSchema = z.partialRecord(z.enum(GATES), baseRunSchema);

/** One judgement of one gate over one tree. */
export const judgementSchema = z.strictObject({
  gate: z.enum(GATES),
  result: z.enum(RESULTS),
  tree: treeIdSchema,
  findings: z.array(findingSchema),
  /** The findings, by identity, that stand between this tree and a pass. */
  blocking: z.array(fingerprintSchema),
  /** What failed, normalized; equal fingerprints are the same failure. */
  failure: fingerprintSchema.exactOptional(),
  stages: z.array(stageResultSchema).exactOptional(),
  runs: z.array(checkRunSchema).exactOptional(),
  criteria: z.array(criterionResultSchema).exactOptional(),
  tests: z.strictObject({ total: count, passed: count, failed: count, skipped: count }).exactOptional(),
  /** Absent in judgements of gates that run no check, and in older ones: then nothing is known of single tests. */
  identities: testIdentitiesSchema.exactOptional(),
  /** In per cent. */
  coverage: z.strictObject({ lines: amount, branches: amount.nullable() }).exactOptional(),
  /** The most that was measured so far, which later rounds are held against. Coverage is in per cent. */
  most: z
    .strictObject({
      /** Tests that ran. */
      tests: count.exactOptional(),
      lines: amount.exactOptional(),
      branches: amount.exactOptional(),
    })
    .exactOptional(),
  /** Tests, or whole checks, that gave two answers about one tree. */
  flaky: texts.exactOptional(),
  /** What a pass does not show, or was given in spite of: known failures, quarantined tests, no test of the change. */
  notes: texts.exactOptional(),
  /**
   * Of a gate that runs tests: those of the base that the work changed or removed, without a license to. Of a reviewer:
   * those that it was asked to rule on; its pass lets them through.
   */
  contested: z.array(contestedTestSchema).exactOptional(),
  /** Hidden checks ran: how many failures there were, and where a person reads what failed. */
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
  /** Where the auditor contradicts the critic, or the engine's own runs: in a sentence. */
  disagreement: text.exactOptional(),
  /** The reviewer failed the work and, even when asked, could not say for what. */
  isBestEffort: z.boolean().exactOptional(),
  /** Of an error: there is no use in judging again before this moment. */
  retryAt: amount.exactOptional(),
  /** How often each role was asked for it, and the conversations that it may be asked in again. */
  asked: byName(roleNameSchema, count).exactOptional(),
  sessions: byName(roleNameSchema, sessionSchema).exactOptional(),
  evidence: z.array(evidenceIdSchema),
  ...cost,
});

/** What a reviewer is asked for where it can answer with data: the review of S4.40, with what the other sources add to it. */
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
