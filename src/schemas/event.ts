import { z } from "zod";
import { BRIEF_VARIANTS } from "../domain/brief.ts";
import { SPENT_BUDGETS } from "../domain/budget.ts";
import { ENGINE_ENDS, FAILED_HOW, STEPS } from "../domain/event.ts";
import { GATES } from "../domain/gate.ts";
import { PHASES, TDD_PHASES } from "../domain/phase.ts";
import { answerSchema } from "./answer.ts";
import { attemptOutcomeSchema } from "./attempt-outcome.ts";
import { blameSchema } from "./blame.ts";
import { budgetNameSchema } from "./budget.ts";
import { byName } from "./by-name.ts";
import { escalationSchema } from "./escalation.ts";
import { evidenceIdSchema, fingerprintSchema, roleNameSchema, treeIdSchema } from "./ids.ts";
import { baseRunsSchema, judgementSchema } from "./judgement.ts";
import { deliverySchema, knownFailureSchema, policySchema } from "./policy.ts";
import { routeSchema } from "./route.ts";
import { scopeExceptionSchema, scopeSchema } from "./scope.ts";
import { amount, cost, count, doer, text, texts } from "./scalars.ts";
import { sessionSchema } from "./session.ts";
import { storySchema } from "./story.ts";

/*
 * Everything that can have happened, by whose stream it belongs to. An unknown key is an error: we wrote these
 * lines ourselves, so a key of the same version that nobody knows means that somebody else changed them.
 */
const gate = z.enum(GATES);
const sentBackBy = z.enum([...GATES, "person"]);
const step = z.enum(STEPS);
const tree = treeIdSchema;

const lostJournal = z.strictObject({
  id: text.nullable(),
  position: count,
  hash: text,
  why: text,
  kept: text.nullable(),
});

/** Events of the project's own stream. */
export const PROJECT_EVENTS = [
  z.strictObject({ type: z.literal("policy.set"), policy: policySchema, by: doer }),
  z.strictObject({ type: z.literal("infrastructure.blocked"), issue: text }),
  z.strictObject({ type: z.literal("remediation.started"), attempt: count }),
  z.strictObject({ type: z.literal("remediation.finished"), attempt: count, fixes: texts, ...cost }),
  z.strictObject({ type: z.literal("health.checked"), healthy: z.boolean(), remaining: texts, ...cost }),
  z.strictObject({ type: z.literal("run.resumed"), by: doer }),
  z.strictObject({ type: z.literal("base.moved"), commit: text }),
  z.strictObject({ type: z.literal("journal.replaced"), id: text, lost: lostJournal, by: doer }),
] as const;

/** Events of a story's stream or of the project's: both have budgets, and questions for people. */
const ESCALATION_EVENTS = [
  z.strictObject({ type: z.literal("escalation.raised"), escalation: escalationSchema }),
  z.strictObject({ type: z.literal("person.answered"), answer: answerSchema }),
  z.strictObject({ type: z.literal("budget.warned"), budget: budgetNameSchema, used: amount, limit: amount }),
] as const;

const attemptStarted = z.strictObject({
  type: z.literal("attempt.started"),
  attempt: count,
  phase: z.enum(PHASES),
  role: roleNameSchema,
  tddPhase: z.enum(TDD_PHASES).exactOptional(),
  reworkOf: sentBackBy.nullable(),
  brief: evidenceIdSchema.nullable(),
  forecastUsd: amount.nullable(),
  model: text.exactOptional(),
  stronger: z.strictObject({ failures: count }).exactOptional(),
  fresh: z.strictObject({ failures: count }).exactOptional(),
});

const attemptFinished = z.strictObject({
  type: z.literal("attempt.finished"),
  attempt: count,
  outcome: attemptOutcomeSchema,
  tree,
  commit: text,
  changed: texts,
  productChanged: z.boolean(),
  product: fingerprintSchema.exactOptional(),
  summary: text,
  message: evidenceIdSchema.exactOptional(),
  exceptions: z.array(scopeExceptionSchema).exactOptional(),
  putBack: texts.exactOptional(),
  session: sessionSchema.exactOptional(),
  ...cost,
});

const sentBack = z.strictObject({
  type: z.literal("work.sent-back"),
  gate: sentBackBy,
  variant: z.enum(BRIEF_VARIANTS),
  failure: count,
  failureLimit: count.nullable(),
  route: routeSchema,
  scope: scopeSchema,
  brief: evidenceIdSchema,
  note: evidenceIdSchema.exactOptional(),
});

const findingAdjudicated = z.strictObject({
  type: z.literal("finding.adjudicated"),
  finding: fingerprintSchema,
  upheld: z.boolean(),
  by: doer,
  reason: text,
  asked: byName(roleNameSchema, count).exactOptional(),
  ...cost,
});

/** Events of one story's stream. */
export const STORY_EVENTS = [
  z.strictObject({ type: z.literal("story.added"), story: storySchema }),
  z.strictObject({ type: z.literal("story.changed"), story: storySchema, what: texts }),
  z.strictObject({ type: z.literal("story.started"), by: doer }),
  z.strictObject({
    type: z.literal("story.prepared"),
    tree,
    commit: text,
    preExisting: texts,
    baseRuns: baseRunsSchema.exactOptional(),
    flaky: texts.exactOptional(),
    known: z.array(knownFailureSchema).exactOptional(),
    isBaseOpen: z.literal(true).exactOptional(),
  }),
  z.strictObject({
    type: z.literal("base.judged"),
    preExisting: texts,
    flaky: texts,
    baseRuns: baseRunsSchema.exactOptional(),
  }),
  attemptStarted,
  z.strictObject({
    type: z.literal("attempt.unclear"),
    attempt: count,
    detail: text,
    session: sessionSchema.exactOptional(),
    ...cost,
  }),
  attemptFinished,
  z.strictObject({ type: z.literal("gate.started"), gate, tree, stages: texts }),
  z.strictObject({ type: z.literal("gate.judged"), judgement: judgementSchema }),
  z.strictObject({ type: z.literal("step.started"), step }),
  z.strictObject({
    type: z.literal("step.failed"),
    step,
    detail: text,
    infrastructure: z.boolean(),
    lasting: z.literal(true).exactOptional(),
  }),
  z.strictObject({ type: z.literal("blame.found"), gate, blame: blameSchema, ...cost }),
  z.strictObject({ type: z.literal("lint.fixed"), tree, commit: text, changed: texts }),
  z.strictObject({ type: z.literal("branch.updated"), tree, commit: text, changed: texts, conflicts: texts }),
  sentBack,
  z.strictObject({ type: z.literal("tree.restored"), tree, commit: text }),
  z.strictObject({ type: z.literal("grace.granted"), gate, failures: count }),
  z.strictObject({ type: z.literal("finding.disputed"), gate, finding: fingerprintSchema, by: doer, rationale: text }),
  findingAdjudicated,
  z.strictObject({ type: z.literal("work.delivered"), how: deliverySchema, where: text, by: doer.exactOptional() }),
  z.strictObject({
    type: z.literal("delivery.refused"),
    why: z.enum(["not-merged", "branch-moved"]),
    detail: text,
    commit: text.exactOptional(),
  }),
  z.strictObject({ type: z.literal("work.adopted"), tree, commit: text, changed: texts, by: doer }),
  z.strictObject({ type: z.literal("story.accepted"), notes: texts.exactOptional() }),
  z.strictObject({ type: z.literal("story.failed"), how: z.enum(FAILED_HOW), reason: text }),
  z.strictObject({ type: z.literal("story.flagged"), usualMs: amount, takenMs: amount }),
  z.strictObject({
    type: z.literal("work.interrupted"),
    detail: text,
    engine: z.exactOptional(z.enum(ENGINE_ENDS)),
    cause: z.literal("target-moved").exactOptional(),
    overrun: z.exactOptional(z.strictObject({ budget: z.enum(SPENT_BUDGETS), ...cost })),
  }),
  z.strictObject({ type: z.literal("story.held"), by: doer, now: z.exactOptional(z.boolean()) }),
  z.strictObject({ type: z.literal("story.released"), by: doer }),
  z.strictObject({ type: z.literal("answer.undone"), by: doer }),
  z.strictObject({ type: z.literal("policy.applied"), policy: policySchema, by: doer }),
] as const;

export const eventSchema = z.discriminatedUnion("type", [...PROJECT_EVENTS, ...STORY_EVENTS, ...ESCALATION_EVENTS]);
