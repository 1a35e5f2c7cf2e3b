import { z } from "zod";
import { BRIEF_VARIANTS } from "../gates/registry.ts";
import { SPENT_BUDGETS } from "../stories/budget.ts";
import { ENGINE_ENDS, FAILED_HOW, STEPS } from "../events/event.ts";
import { GATES } from "../gates/gate.ts";
import { PHASES, SHELVES, TDD_PHASES } from "../stories/story.ts";
import { INCOMPLETE_CATEGORIES } from "../stories/signal.ts";
import { BLAME_VERDICTS } from "../blame/blame.ts";
import { ANSWER_VERBS, type AnswerVerb } from "../stories/escalation.ts";
import { budgetNameSchema, escalationSchema } from "./escalation.ts";
import {
  amount,
  author,
  byName,
  confidence,
  cost,
  count,
  doer,
  escalationIdSchema,
  evidenceIdSchema,
  fingerprintSchema,
  roleNameSchema,
  saysSomething,
  scopeExceptionSchema,
  scopeSchema,
  sessionSchema,
  storyIdSchema,
  text,
  texts,
  treeIdSchema as tree,
} from "./scalars.ts";
import { baseRunsSchema, findingSchema, judgementSchema } from "./gate-result.ts";
import { deliverySchema, knownFailureSchema, policySchema } from "./policy.ts";

/** How a dispatch of an agent ended. */
export const attemptOutcomeSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready") }),
  z.strictObject({
    type: z.literal("incomplete"),
    category: z.enum(INCOMPLETE_CATEGORIES),
    blocker: text,
    attempted: texts,
    needed: text,
    // The agent's own word for a story: it may be no story's id at all, and the fold looks it up.
    waitsFor: text.exactOptional(),
  }),
  z.strictObject({ type: z.literal("blocked"), issue: text }),
  z.strictObject({ type: z.literal("unclear"), detail: text }),
  z.strictObject({ type: z.literal("crashed"), detail: text }),
  z.strictObject({ type: z.literal("timed-out"), afterMs: amount }),
  z.strictObject({ type: z.literal("rate-limited"), retryAt: amount }),
  z.strictObject({ type: z.literal("refused"), detail: text }),
  z.strictObject({ type: z.literal("unusable"), detail: text, fix: text }),
  z.strictObject({ type: z.literal("missing"), detail: text }),
  z.strictObject({ type: z.literal("stopped"), by: doer }),
  z.strictObject({ type: z.literal("cut-short"), budget: z.enum(SPENT_BUDGETS) }),
]);

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

/** These open a gate without a pass, so the person must give a reason (law 2). */
const NEED_A_REASON: readonly AnswerVerb[] = ["waive", "force-complete", "known", "allow"];

/** What a person said, who they are, and what it is about. */
export const answerSchema = z
  .strictObject({
    verb: z.enum(ANSWER_VERBS),
    ...author,
    message: text,
    escalation: escalationIdSchema.nullable(),
    gate: z.enum(GATES).exactOptional(),
    findings: z.array(fingerprintSchema).exactOptional(),
    phase: z.enum(PHASES).exactOptional(),
    budget: budgetNameSchema.exactOptional(),
    tests: texts.exactOptional(),
    limit: amount.exactOptional(),
    comments: z.array(z.strictObject({ id: text, finding: findingSchema })).exactOptional(),
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

/** Which phase and which agent role gets the brief. */
export const routeSchema = z.strictObject({
  phase: z.enum(PHASES),
  role: roleNameSchema,
  tddPhase: z.enum(TDD_PHASES).exactOptional(),
  reason: text,
});

/** A unit of work, as its file defined it when the event was written. */
export const storySchema = z.strictObject({
  id: storyIdSchema,
  title: text,
  priority: z.number(),
  kind: text,
  labels: texts,
  dependsOn: z.array(storyIdSchema),
  criteria: z.array(z.strictObject({ id: text, text })),
  shelf: z.enum(SHELVES),
  body: text,
  completed: z.array(z.enum(PHASES)),
  maxReworks: count.exactOptional(),
  target: texts.exactOptional(),
  tests: texts.exactOptional(),
  role: roleNameSchema.exactOptional(),
});

/*
 * All events, by the stream they belong to. An unknown key is an error: only Remand writes these lines, so an unknown key in the same version means that the file was edited.
 */
const gate = z.enum(GATES);
const sentBackBy = z.enum([...GATES, "person"]);
const step = z.enum(STEPS);

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
  z.strictObject({ type: z.literal("run.resumed"), ...author }),
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
  isolation: text.exactOptional(),
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
  z.strictObject({ type: z.literal("work.resumed"), detail: text, engine: z.enum(ENGINE_ENDS) }),
  z.strictObject({ type: z.literal("story.held"), ...author, now: z.exactOptional(z.boolean()) }),
  z.strictObject({ type: z.literal("story.released"), ...author }),
  z.strictObject({ type: z.literal("answer.undone"), ...author }),
  z.strictObject({ type: z.literal("policy.applied"), policy: policySchema, ...author }),
] as const;

export const eventSchema = z.discriminatedUnion("type", [...PROJECT_EVENTS, ...STORY_EVENTS, ...ESCALATION_EVENTS]);
