import fc from "fast-check";
import { BRIEF_VARIANTS } from "../../src/core/gates/registry.ts";
import { SPENT_BUDGETS } from "../../src/core/stories/budget.ts";
import { ENGINE_ENDS, FAILED_HOW, STEPS, type Event, type Recorded } from "../../src/core/events/event.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import type { StoryId } from "../../src/core/events/ids.ts";
import {
  amount,
  answer,
  attemptOutcome,
  blame,
  budgetName,
  count,
  escalation,
  evidence,
  findingId,
  gate,
  identity,
  is,
  judgement,
  list,
  recordOf,
  name,
  phase,
  policy,
  role,
  rolesAsked,
  route,
  knownFailures,
  scope,
  session,
  story,
  storyName,
  tddPhase,
  text,
  texts,
  tree,
} from "./part-arbitraries.ts";

const step = fc.constantFrom(...STEPS);
const sentBackBy = fc.constantFrom(...GATES, "person" as const);
const durationMs = amount;
const paid = { costUsd: amount, tokens: count };

type EventArbitraries = { readonly [T in Event["type"]]: fc.Arbitrary<Extract<Event, { readonly type: T }>> };

/** A way to make each event there is: the compiler asks for the one that is missing. */
export const EVENTS: EventArbitraries = {
  "policy.set": recordOf({ ...is("policy.set"), policy, by: name }),
  "infrastructure.blocked": recordOf({ ...is("infrastructure.blocked"), issue: text }),
  "remediation.started": recordOf({ ...is("remediation.started"), attempt: count }),
  "remediation.finished": recordOf({ ...is("remediation.finished"), attempt: count, fixes: texts, durationMs }, paid),
  "health.checked": recordOf({ ...is("health.checked"), healthy: fc.boolean(), remaining: texts, durationMs }, paid),
  "run.resumed": recordOf({ ...is("run.resumed"), by: name }, { identity }),
  "journal.replaced": recordOf({
    ...is("journal.replaced"),
    id: text,
    lost: recordOf({ id: fc.option(text), position: count, hash: text, why: text, kept: fc.option(text) }),
    by: name,
  }),
  "base.moved": recordOf({ ...is("base.moved"), commit: text }),
  "escalation.raised": recordOf({ ...is("escalation.raised"), escalation }),
  "person.answered": recordOf({ ...is("person.answered"), answer }),
  "budget.warned": recordOf({ ...is("budget.warned"), budget: budgetName, used: amount, limit: amount }),
  "story.added": recordOf({ ...is("story.added"), story }),
  "story.changed": recordOf({ ...is("story.changed"), story, what: texts }),
  "story.started": recordOf({ ...is("story.started"), by: name }),
  "story.prepared": recordOf(
    { ...is("story.prepared"), tree, commit: text, preExisting: texts },
    { flaky: texts, known: knownFailures, isBaseOpen: fc.constant(true as const) },
  ),
  "base.judged": recordOf({ ...is("base.judged"), preExisting: texts, flaky: texts }),
  "attempt.started": recordOf(
    {
      ...is("attempt.started"),
      attempt: count,
      phase,
      role,
      reworkOf: fc.option(sentBackBy),
      brief: fc.option(evidence),
      forecastUsd: fc.option(amount),
    },
    {
      tddPhase,
      model: text,
      isolation: text,
      stronger: recordOf({ failures: count }),
      fresh: recordOf({ failures: count }),
    },
  ),
  "attempt.unclear": recordOf(
    { ...is("attempt.unclear"), attempt: count, detail: text, durationMs },
    { ...paid, session },
  ),
  "attempt.finished": recordOf(
    {
      ...is("attempt.finished"),
      attempt: count,
      outcome: attemptOutcome,
      tree,
      commit: text,
      changed: texts,
      productChanged: fc.boolean(),
      summary: text,
      durationMs,
    },
    {
      ...paid,
      product: findingId,
      message: evidence,
      transcript: evidence,
      exceptions: list(recordOf({ path: text, rationale: text })),
      putBack: texts,
      session,
    },
  ),
  "gate.started": recordOf({ ...is("gate.started"), gate, tree, stages: texts }),
  "gate.judged": recordOf({ ...is("gate.judged"), judgement }),
  "step.started": recordOf({ ...is("step.started"), step }),
  "step.failed": recordOf({ ...is("step.failed"), step, detail: text, infrastructure: fc.boolean() }),
  "blame.found": recordOf({ ...is("blame.found"), gate, blame, durationMs }, paid),
  "lint.fixed": recordOf({ ...is("lint.fixed"), tree, commit: text, changed: texts }),
  "branch.updated": recordOf({ ...is("branch.updated"), tree, commit: text, changed: texts, conflicts: texts }),
  "work.sent-back": recordOf(
    {
      ...is("work.sent-back"),
      gate: sentBackBy,
      variant: fc.constantFrom(...BRIEF_VARIANTS),
      failure: count,
      failureLimit: fc.option(count),
      route,
      scope,
      brief: evidence,
    },
    { note: evidence },
  ),
  "tree.restored": recordOf({ ...is("tree.restored"), tree, commit: text }),
  "grace.granted": recordOf({ ...is("grace.granted"), gate, failures: count }),
  "finding.disputed": recordOf({ ...is("finding.disputed"), gate, finding: findingId, by: name, rationale: text }),
  "finding.adjudicated": recordOf(
    { ...is("finding.adjudicated"), finding: findingId, upheld: fc.boolean(), by: name, reason: text, durationMs },
    { ...paid, asked: rolesAsked },
  ),
  "work.delivered": recordOf(
    {
      ...is("work.delivered"),
      how: fc.constantFrom("branch", "merge", "pull-request"),
      where: text,
    },
    { by: name },
  ),
  "delivery.refused": recordOf(
    { ...is("delivery.refused"), why: fc.constantFrom("not-merged", "branch-moved"), detail: text },
    { commit: text },
  ),
  "work.adopted": recordOf({ ...is("work.adopted"), tree, commit: text, changed: texts, by: name }, { branch: text }),
  "story.accepted": recordOf(is("story.accepted"), { notes: texts }),
  "story.failed": recordOf({ ...is("story.failed"), how: fc.constantFrom(...FAILED_HOW), reason: text }),
  "story.flagged": recordOf({ ...is("story.flagged"), usualMs: amount, takenMs: amount }),
  "work.interrupted": recordOf(
    { ...is("work.interrupted"), detail: text },
    {
      engine: fc.constantFrom(...ENGINE_ENDS),
      cause: fc.constant("target-moved" as const),
      overrun: recordOf({ budget: fc.constantFrom(...SPENT_BUDGETS), durationMs }, paid),
    },
  ),
  "work.resumed": recordOf({ ...is("work.resumed"), detail: text, engine: fc.constantFrom(...ENGINE_ENDS) }),
  "story.held": recordOf({ ...is("story.held"), by: name }, { identity }),
  "story.released": recordOf({ ...is("story.released"), by: name }, { identity }),
  "answer.undone": recordOf({ ...is("answer.undone"), by: name }, { identity }),
  "policy.applied": recordOf({ ...is("policy.applied"), policy, by: name }, { identity }),
};

/** Written out by hand: the streams are what is tested. `either` has its place in both. */
const STREAM: { readonly [T in Event["type"]]?: "project" | "either" } = {
  "policy.set": "project",
  "infrastructure.blocked": "project",
  "remediation.started": "project",
  "remediation.finished": "project",
  "health.checked": "project",
  "run.resumed": "project",
  "base.moved": "project",
  "journal.replaced": "project",
  "escalation.raised": "either",
  "person.answered": "either",
  "budget.warned": "either",
};

export const streamOf = (type: Event["type"]): "project" | "either" | "story" => STREAM[type] ?? "story";

/** A line of the journal that holds an event of this type, in a stream where it has its place. */
export function recordedOf(type: Event["type"]): fc.Arbitrary<Recorded> {
  const event = EVENTS[type] as fc.Arbitrary<Event>;
  return fc.tuple(event, amount, storyName, fc.boolean()).map(([event, at, id, ofProject]) => {
    const stream = streamOf(type);
    const isOfProject = stream === "project" || (stream === "either" && ofProject);
    return { v: 1, at, story: isOfProject ? null : ownerOf(event, id), event };
  });
}

function ownerOf(event: Event, id: StoryId): StoryId {
  return event.type === "story.added" || event.type === "story.changed" ? event.story.id : id;
}
