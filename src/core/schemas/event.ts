import { z } from "zod";
import { ENGINE_ENDS, type Event, FAILED_HOW, type Recorded, STEPS } from "../events/event.ts";
import { GATES } from "../gates/gate.ts";
import { BRIEF_VARIANTS } from "../gates/registry.ts";
import { SPENT_BUDGETS } from "../stories/budget.ts";
import { PHASES, TDD_PHASES } from "../stories/story.ts";
import { answerSchema, budgetNameSchema, escalationSchema } from "./escalation.ts";
import { baseRunsSchema, judgementSchema, blameSchema } from "./gate-result.ts";
import { deliverySchema, knownFailureSchema, policySchema } from "./policy.ts";
import {
  amount,
  author,
  byName,
  cost,
  count,
  doer,
  evidenceIdSchema,
  fingerprintSchema,
  roleNameSchema,
  sessionSchema,
  storyIdSchema,
  text,
  texts,
  treeIdSchema as tree,
} from "./scalars.ts";
import { attemptOutcomeSchema, routeSchema, scopeExceptionSchema, scopeSchema, storySchema } from "./story.ts";
import { issueText } from "./issue-text.ts";

/*
 * All events, by stream. An unknown key is an error: only Remand writes these lines, so an unknown key in the same
 * version means that the file was edited.
 */
const gate = z.enum(GATES);
const sentBackBy = z.enum([...GATES, "person"]);
const step = z.enum(STEPS);

/** What is known of a journal that was lost or replaced. */
export const lostJournalSchema = z.strictObject({
  /** `null`: the journal never had an id, or it cannot be read. */
  id: text.nullable(),
  /** The number of known lines, and the hash of the last one. */
  position: count,
  hash: text,
  why: text,
  /** The file to which the lost journal was moved, below the state folder; `null`: there was no file. */
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
  /** The first line of a journal that replaced another. `id`: its own id. */
  z.strictObject({ type: z.literal("journal.replaced"), id: text, lost: lostJournalSchema, by: doer }),
] as const;

/** Events of a story's stream or of the project's stream: both have budgets, and questions for people. */
export const ESCALATION_EVENTS = [
  z.strictObject({ type: z.literal("escalation.raised"), escalation: escalationSchema }),
  z.strictObject({ type: z.literal("person.answered"), answer: answerSchema }),
  z.strictObject({ type: z.literal("budget.warned"), budget: budgetNameSchema, used: amount, limit: amount }),
] as const;

/** Written before the agent is dispatched, so that a crash never grants a free attempt. */
const attemptStarted = z.strictObject({
  type: z.literal("attempt.started"),
  attempt: count,
  phase: z.enum(PHASES),
  role: roleNameSchema,
  tddPhase: z.enum(TDD_PHASES).exactOptional(),
  reworkOf: sentBackBy.nullable(),
  brief: evidenceIdSchema.nullable(),
  forecastUsd: amount.nullable(),
  /** The requested model; absent: the agent's default. */
  model: text.exactOptional(),
  /** The sandbox of the agent, with the protections that worked; or `none`. */
  isolation: text.exactOptional(),
  /** The stronger model is used because this many attempts of the role and phase have failed. */
  stronger: z.strictObject({ failures: count }).exactOptional(),
  /** The attempt began a new conversation on purpose, because this many attempts in the previous one failed. */
  fresh: z.strictObject({ failures: count }).exactOptional(),
});

const attemptFinished = z.strictObject({
  type: z.literal("attempt.finished"),
  attempt: count,
  outcome: attemptOutcomeSchema,
  tree,
  commit: text,
  /** Paths that differ from the tree at the attempt's start. Taken from git, never from the agent. */
  changed: texts,
  /** Whether the phase's product changed. For text phases the product is a section of the story file. */
  productChanged: z.boolean(),
  /** The hash of the product if that is not the whole tree: a section, or code without notes of Remand. */
  product: fingerprintSchema.exactOptional(),
  summary: text,
  /** The agent's whole message, stored as evidence because it may be long. */
  message: evidenceIdSchema.exactOptional(),
  /** The agent's output while it worked, if it is more than its message. */
  transcript: evidenceIdSchema.exactOptional(),
  exceptions: z.array(scopeExceptionSchema).exactOptional(),
  /** Files outside the scope that were reverted, because the config says so. */
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
  /** The feedback, as it is noted in the story's file (S4.49). */
  note: evidenceIdSchema.exactOptional(),
});

const findingAdjudicated = z.strictObject({
  type: z.literal("finding.adjudicated"),
  finding: fingerprintSchema,
  upheld: z.boolean(),
  by: doer,
  reason: text,
  /** How often each role was asked about the finding; absent: `by` was asked once. */
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
    /** What failed at the base in every run; `flaky` has what failed there only once. */
    preExisting: texts,
    /** How the checks ended before the work began; absent in older journals. */
    baseRuns: baseRunsSchema.exactOptional(),
    flaky: texts.exactOptional(),
    /** Failures that people called known when they answered the question of another story. */
    known: z.array(knownFailureSchema).exactOptional(),
    /** The checks of the base are still running: `base.judged` will have their results. */
    isBaseOpen: z.literal(true).exactOptional(),
  }),
  z.strictObject({
    type: z.literal("base.judged"),
    preExisting: texts,
    flaky: texts,
    baseRuns: baseRunsSchema.exactOptional(),
  }),
  attemptStarted,
  /**
   * The reply could not be read. The agent is asked again in the same conversation; what it used still counts as spent.
   */
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
    /** A retry cannot help until a person has changed something. */
    lasting: z.literal(true).exactOptional(),
  }),
  z.strictObject({ type: z.literal("blame.found"), gate, blame: blameSchema, ...cost }),
  z.strictObject({ type: z.literal("lint.fixed"), tree, commit: text, changed: texts }),
  /**
   * The branch now has the target's newer commits. Where both changed the same lines, the files hold conflict markers.
   */
  z.strictObject({ type: z.literal("branch.updated"), tree, commit: text, changed: texts, conflicts: texts }),
  sentBack,
  z.strictObject({ type: z.literal("tree.restored"), tree, commit: text }),
  z.strictObject({ type: z.literal("grace.granted"), gate, failures: count }),
  z.strictObject({ type: z.literal("finding.disputed"), gate, finding: fingerprintSchema, by: doer, rationale: text }),
  findingAdjudicated,
  /** `by`: the person who approved the merge, or merged it. */
  z.strictObject({ type: z.literal("work.delivered"), how: deliverySchema, where: text, by: doer.exactOptional() }),
  /** Nothing was delivered: the target does not hold the work, or the branch holds commits that no gate has passed. */
  z.strictObject({
    type: z.literal("delivery.refused"),
    why: z.enum(["not-merged", "branch-moved"]),
    detail: text,
    /** The commit that the branch is at instead of the verified one. */
    commit: text.exactOptional(),
  }),
  /**
   * A person reported a fix: the worktree and the branch now hold the story's work. With `branch`: the story's file
   * named this branch as the one on which the work began.
   */
  z.strictObject({
    type: z.literal("work.adopted"),
    tree,
    commit: text,
    changed: texts,
    by: doer,
    branch: text.exactOptional(),
  }),
  /** `notes`: what the gates passed the work in spite of. */
  z.strictObject({ type: z.literal("story.accepted"), notes: texts.exactOptional() }),
  z.strictObject({ type: z.literal("story.failed"), how: z.enum(FAILED_HOW), reason: text }),
  z.strictObject({ type: z.literal("story.flagged"), usualMs: amount, takenMs: amount }),
  /** The running step of the story was ended, and its result is unknown. */
  z.strictObject({
    type: z.literal("work.interrupted"),
    detail: text,
    /** How the engine that ran the step ended. */
    engine: z.exactOptional(z.enum(ENGINE_ENDS)),
    /** `target-moved`: the step gave up because its target moved. That is counted, and retried after a pause. */
    cause: z.literal("target-moved").exactOptional(),
    /** The budget that was used up during the step, and what the step used until then. */
    overrun: z.exactOptional(z.strictObject({ budget: z.enum(SPENT_BUDGETS), ...cost })),
  }),
  /** The engine died, but an agent that it had dispatched outlived it. The step continues with that agent. */
  z.strictObject({ type: z.literal("work.resumed"), detail: text, engine: z.enum(ENGINE_ENDS) }),
  /** `now`: the running step of the story is stopped instead of allowed to finish. */
  z.strictObject({ type: z.literal("story.held"), ...author, now: z.exactOptional(z.boolean()) }),
  z.strictObject({ type: z.literal("story.released"), ...author }),
  /** A person undoes the last answer. If work on the answer has begun, this changes nothing. */
  z.strictObject({ type: z.literal("answer.undone"), ...author }),
  z.strictObject({ type: z.literal("policy.applied"), policy: policySchema, ...author }),
] as const;

export const eventSchema = z.discriminatedUnion("type", [...PROJECT_EVENTS, ...STORY_EVENTS, ...ESCALATION_EVENTS]);

const VERSION = 1;

/** One line of the journal. */
export const recordedSchema = z
  .strictObject({ v: z.literal(VERSION), at: amount, story: storyIdSchema.nullable(), event: eventSchema })
  .superRefine(({ story, event }, context) => {
    const problem = wrongStream(story, event);
    if (problem !== null) context.addIssue({ code: "custom", path: ["story"], message: problem });
  });

export type ReadRecorded =
  | { readonly ok: true; readonly recorded: Recorded }
  | { readonly ok: false; readonly problem: string };

/** Reads a line of the journal, or says what is wrong with it, and where. Never throws. */
export function readRecorded(value: unknown): ReadRecorded {
  const newer = newerVersion(value);
  if (newer !== null) {
    const problem = `written by a newer version of Remand: its format is ${newer}, this one reads ${VERSION}`;
    return { ok: false, problem };
  }
  const read = recordedSchema.safeParse(value);
  if (read.success) return { ok: true, recorded: read.data };
  return { ok: false, problem: read.error.issues.slice(0, MOST_ISSUES).map(issueText).join("; ") };
}

/** More issues than these do not help the reader. */
const MOST_ISSUES = 5;

function newerVersion(value: unknown): number | null {
  if (typeof value !== "object" || value === null || !("v" in value)) return null;
  return typeof value.v === "number" && Number.isSafeInteger(value.v) && value.v > VERSION ? value.v : null;
}

/** Says why an event does not belong to a stream. The fold would silently ignore it there, and it would be lost. */
function wrongStream(story: Recorded["story"], event: Event): string | null {
  if (story === null)
    return OF_A_STORY.has(event.type) ? `${event.type} is the event of a story, and none is named` : null;
  if (OF_THE_PROJECT.has(event.type)) return `${event.type} is the project's own event, not a story's`;
  const isAboutItself = event.type === "story.added" || event.type === "story.changed";
  return isAboutItself && event.story.id !== story ? `${event.type} is about another story` : null;
}

const OF_THE_PROJECT: ReadonlySet<string> = new Set(PROJECT_EVENTS.map((schema) => schema.shape.type.value));
const OF_A_STORY: ReadonlySet<string> = new Set(STORY_EVENTS.map((schema) => schema.shape.type.value));
