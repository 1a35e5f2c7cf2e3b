import { z } from "zod";
import { ANSWER_VERBS, type AnswerVerb, ESCALATION_KINDS } from "../stories/escalation.ts";
import { STALLS } from "../stories/stop-rules.ts";
import { GATES } from "../gates/gate.ts";
import { TRIED_FINDING_STATUSES } from "../gates/finding.ts";
import { SPENT_BUDGETS } from "../stories/budget.ts";
import { PHASES } from "../stories/story.ts";
import { findingSchema } from "./gate-result.ts";
import { amount, author, count, escalationIdSchema, fingerprintSchema, saysSomething, text, texts } from "./scalars.ts";

/** A blocking finding of an earlier attempt, with its status now. */
export const triedFindingSchema = z.strictObject({
  id: text,
  gate: text,
  title: text,
  file: text.exactOptional(),
  line: count.exactOptional(),
  status: z.enum(TRIED_FINDING_STATUSES),
  /** The attempt in which the status was observed. */
  seenIn: count,
  /** The attempt that had fixed it, if it came back since. */
  fixedIn: count.exactOptional(),
});

/** One earlier attempt: what was tried, why it was rejected, and the status of each finding. */
export const triedAndFailedSchema = z.strictObject({
  attempt: count,
  tried: text,
  failed: text,
  /** The findings that it was rejected for; absent if none is known. */
  findings: z.array(triedFindingSchema).exactOptional(),
  /** How many more findings there were. */
  findingsLeftOut: count.exactOptional(),
});

/**
 * A limit with a counter, such as `failures:review`, `cost` or `run-time`. The word before the colon names the counter.
 */
export const budgetNameSchema = z.enum([
  ...GATES.map((gate) => `failures:${gate}` as const),
  "iterations",
  "location",
  ...SPENT_BUDGETS,
  "run-actions",
]);

export const escalationReasonSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("budget"), budget: budgetNameSchema, used: amount, limit: amount }),
  z.strictObject({ type: z.literal("stall"), stall: z.enum(STALLS), detail: text }),
  z.strictObject({ type: z.literal("scope-too-broad"), files: texts }),
  z.strictObject({ type: z.literal("non-deterministic"), detail: text }),
  z.strictObject({ type: z.literal("gate-error"), errors: count, detail: text }),
  z.strictObject({ type: z.literal("gate-inconclusive"), times: count, detail: text }),
  z.strictObject({ type: z.literal("gate-blocked"), times: count, detail: text }),
  z.strictObject({ type: z.literal("agent-failure"), outcome: text, times: count, detail: text }),
  z.strictObject({ type: z.literal("agent-missing"), role: text }),
  z.strictObject({
    type: z.literal("engine-died"),
    /** The name of the step: `attempt 1`, `the checks gate`. */
    during: text,
    kind: z.enum(["attempt", "gate", "step"]),
    times: count,
  }),
  z.strictObject({ type: z.literal("incomplete"), category: text, blocker: text, needed: text }),
  z.strictObject({ type: z.literal("conflict"), detail: text }),
  z.strictObject({ type: z.literal("dispute"), finding: text, detail: text }),
  z.strictObject({
    type: z.literal("approval"),
    of: z.enum(["rework", "retry", "merge"]),
    /** The result of the last answer, if that is why the question is asked again. */
    detail: text.exactOptional(),
  }),
  /** The target moved repeatedly while the work ran. `merges`: Remand would merge it, so a person can too. */
  z.strictObject({ type: z.literal("target-moves"), times: count, merges: z.boolean() }),
  /** The story's branch holds a commit that no gate passed and that Remand did not make. */
  z.strictObject({ type: z.literal("branch-moved"), commit: text, detail: text }),
  z.strictObject({ type: z.literal("infrastructure"), issue: text, tries: count }),
  /** Tests that fail before the work and that no person has classified. */
  z.strictObject({ type: z.literal("failing-base"), tests: texts }),
  /** Targets that match no failure at the base. */
  z.strictObject({ type: z.literal("target-not-failing"), targets: texts }),
  /** Tests whose earlier version no longer passes. Those in `cannotFail` pass even with planted faults. */
  z.strictObject({ type: z.literal("contested-tests"), tests: texts, cannotFail: texts.exactOptional() }),
]);

const escalationOptionSchema = z.strictObject({ verb: z.enum(ANSWER_VERBS), does: text, cost: text });

/** A question that only a person can answer. */
export const escalationSchema = z.strictObject({
  id: escalationIdSchema,
  kind: z.enum(ESCALATION_KINDS),
  reason: escalationReasonSchema,
  gate: z.enum(GATES).nullable(),
  title: text,
  /** The root cause as far as it is known. */
  assessment: text,
  recommendation: text,
  /** One question. */
  question: text,
  options: z.array(escalationOptionSchema),
  attempts: z.array(triedAndFailedSchema),
  branch: text,
  commit: text,
});

/** These verbs let a gate through without a pass, which needs a name and a reason. */
const NEED_A_REASON: readonly AnswerVerb[] = ["waive", "force-complete", "known", "allow"];

/** A comment on a pull request, by the id that the forge gives it, so that each counts once. */
const answeredCommentSchema = z.strictObject({ id: text, finding: findingSchema });

/** A person's answer: who gave it, and what it is about. */
export const answerSchema = z
  .strictObject({
    verb: z.enum(ANSWER_VERBS),
    ...author,
    /** The reason, or the guidance for the next attempt. */
    message: text,
    /** The escalation that it answers; `null`: the person was not asked. */
    escalation: escalationIdSchema.nullable(),
    gate: z.enum(GATES).exactOptional(),
    findings: z.array(fingerprintSchema).exactOptional(),
    phase: z.enum(PHASES).exactOptional(),
    budget: budgetNameSchema.exactOptional(),
    /** For `known`, `target` and `allow`: the tests that the answer is about; absent: all tests of the question. */
    tests: texts.exactOptional(),
    /** For `raise-budget`: the new limit. */
    limit: amount.exactOptional(),
    comments: z.array(answeredCommentSchema).exactOptional(),
  })
  .refine(({ verb, message }) => !NEED_A_REASON.includes(verb) || saysSomething(message), {
    path: ["message"],
    error: "a reason is needed: why does this go through without a pass?",
  })
  .meta({
    anyOf: [
      { properties: { verb: { not: { enum: NEED_A_REASON } } } },
      { properties: { message: { pattern: "\\S" } } },
    ],
  });

/** What the dashboard sends when a person undoes the last answer. */
export const undoInputSchema = z.strictObject({ about: text.min(1).max(200) });

/** What the dashboard sends when a person pauses or resumes a story. `now`: also end its running work. */
export const pauseStorySchema = z.strictObject({
  about: text.min(1).max(200),
  /** Other stories that are paused or resumed with it. */
  also: z.array(text.min(1).max(200)).max(500).exactOptional(),
  now: z.boolean().exactOptional(),
});

/** What the dashboard sends when a person pauses or resumes every story. */
export const pauseAllSchema = z.strictObject({ now: z.boolean().exactOptional() });

/** What the dashboard sends when a person writes a story. `before`: the text that the editor started from. */
export const storyEditSchema = z.strictObject({
  id: text.min(1).max(100),
  text: text.max(60_000),
  before: text.max(60_000).nullable(),
  isCheck: z.boolean(),
});

/**
 * What the dashboard sends when a person answers. It does not name the person: the server knows whose dashboard it is.
 */
export const answerInputSchema = z.strictObject({
  /** The escalation, or the story. */
  about: text.min(1).max(200),
  /** Other questions, or stories, that get the same answer. */
  also: z.array(text.min(1).max(200)).max(500).exactOptional(),
  verb: z.enum(ANSWER_VERBS),
  message: text.max(20_000),
  gate: z.enum(GATES).exactOptional(),
  findings: z.array(text.min(1).max(100)).max(200).exactOptional(),
  phase: z.enum(PHASES).exactOptional(),
  budget: budgetNameSchema.exactOptional(),
  tests: z.array(text.min(1).max(2000)).max(1000).exactOptional(),
  limit: amount.exactOptional(),
});
