import type { Answer, Event, Recorded } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Remediation, RunState } from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { addEventCost } from "../core/events/event-cost.ts";
import { undoRefusal } from "../core/stories/escalation.ts";
import { byText, insert, lookup, size } from "../stdx/sorted-map.ts";
import { blockedBy, newRemediation } from "../decide/remediate.ts";
import { spend } from "../core/stories/budget.ts";
import { type ProjectFacts, evolveStory } from "./fold-story.ts";
import { identityOf } from "./fold-answer.ts";
import { newStory } from "./new-state.ts";
import { enqueue, requeue } from "./queue-story.ts";

/**
 * Applies one event to the state. State comes from this function alone: the same events give the same state. Its cost
 * follows what changed: one story, and the stories that wait for it.
 */
export function evolve(run: RunState, recorded: Recorded): RunState {
  const { story: id, event } = recorded;
  if (id === null) return evolveProject({ ...run, position: run.position + 1 }, recorded);
  const before = lookup(run.stories, id, byText);
  if (event.type === "story.added") return addStory(run, recorded, event.story, before);
  if (before === undefined || isProjectEvent(event)) return { ...run, position: run.position + 1 };
  const around: ProjectFacts = {
    policy: run.policy,
    base: run.base,
    mayUndo: () => undoRefusal(run, before) === null,
  };
  const adjusted = { ...recorded, event: withPossibleWait(run, id, event) } as Parameters<typeof evolveStory>[1];
  const after = evolveStory(before, adjusted, around);
  // One copy for all changes of the run: the fold spends most of its time copying.
  const next: RunState = {
    ...run,
    position: run.position + 1,
    spent: addEventCost(run.spent, event),
    remediation: blockedBy(run, recorded),
    ...(isAction(event) ? { actions: (run.actions ?? 0) + 1 } : {}),
  };
  return putStory(next, before, after, event.type === "answer.undone");
}

export function fold(events: Iterable<Recorded>, from: RunState): RunState {
  let run = from;
  for (const recorded of events) run = evolve(run, recorded);
  return run;
}

function addStory(
  run: RunState,
  recorded: Recorded,
  story: StoryState["story"],
  known: StoryState | undefined,
): RunState {
  const counted = { ...run, position: run.position + 1 };
  if (known !== undefined) return counted;
  return putStory(awaiting(counted, story.id, story.dependsOn), null, newStory(story, size(run.stories), recorded.at));
}

/** Stores the story's new state. When it is accepted, requeues the stories that wait for it. */
function putStory(run: RunState, before: StoryState | null, after: StoryState, isUndone = false): RunState {
  const id = after.story.id;
  let next = run;
  if (after.wait?.type === "story" && after.wait.story !== null && after.wait !== before?.wait)
    next = awaiting(next, id, [after.wait.story]);
  if (before !== null && before.story !== after.story) next = awaiting(next, id, after.story.dependsOn);
  next = enqueue(next, before, after);
  const isAccepted = after.ending?.how === "accepted";
  // If an undone answer had accepted the story, the stories that depend on it wait again.
  if (isAccepted === (before?.ending?.how === "accepted")) return next;
  // An undo restores an earlier state whose time was counted already.
  if (isAccepted && !isUndone) next = withUsual(next, after);
  for (const waiting of lookup(next.dependents, id, byText) ?? []) {
    const state = lookup(next.stories, waiting, byText);
    if (state !== undefined) next = requeue(next, state);
  }
  return next;
}

function awaiting(run: RunState, waiting: StoryId, on: readonly StoryId[]): RunState {
  let dependents = run.dependents;
  for (const id of on) {
    const known = lookup(dependents, id, byText) ?? [];
    if (!known.includes(waiting)) dependents = insert(dependents, id, [...known, waiting], byText);
  }
  return { ...run, dependents };
}

/**
 * Updates the usual time. Stories that were forced, or done before they were added, are left out: they do not show how
 * long work takes.
 */
function withUsual(run: RunState, story: StoryState): RunState {
  if (story.ending?.how !== "accepted" || story.ending.forced !== null) return run;
  const { kind } = story.story;
  const known = Object.hasOwn(run.usual, kind) ? run.usual[kind]! : { count: 0, totalMs: 0 };
  const usual = { count: known.count + 1, totalMs: known.totalMs + story.spent.timeMs };
  return { ...run, usual: { ...run.usual, [kind]: usual } };
}

/**
 * Replaces a wait that would never end. An agent may say that it waits for a story; if that story is unknown, ended, or
 * itself waits for this one, the story waits for a time instead, with a limit that ends at a person.
 */
function withPossibleWait(run: RunState, id: StoryId, event: Event): Event {
  if (event.type !== "attempt.finished" || event.outcome.type !== "incomplete" || event.outcome.waitsFor === undefined)
    return event;
  const target = lookup(run.stories, event.outcome.waitsFor as StoryId, byText);
  if (target !== undefined && target.ending === null && !leadsTo(run, target, id)) return event;
  const { waitsFor: _never, ...outcome } = event.outcome;
  return { ...event, outcome };
}

function leadsTo(run: RunState, from: StoryState, to: StoryId): boolean {
  const seen = new Set<StoryId>();
  const open: StoryState[] = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at.story.id === to) return true;
    if (seen.has(at.story.id) || at.ending !== null) continue;
    seen.add(at.story.id);
    const wait = at.wait?.type === "story" && at.wait.story !== null ? [at.wait.story] : [];
    for (const next of [...at.story.dependsOn, ...wait]) {
      const state = lookup(run.stories, next, byText);
      if (state !== undefined) open.push(state);
    }
  }
  return false;
}

/** Counted at the start, so that a crash grants no free action. */
const isAction = ({ type }: Event): boolean => type === "attempt.started" || type === "gate.started";

function isProjectEvent(event: Event): boolean {
  return (
    event.type === "policy.set" ||
    event.type === "base.moved" ||
    event.type === "journal.replaced" ||
    event.type === "run.resumed" ||
    event.type === "infrastructure.blocked" ||
    event.type.startsWith("remediation.") ||
    event.type === "health.checked"
  );
}

/** Applies one event of the project's own stream: policy, infrastructure, the run's budget. */
export function evolveProject(before: RunState, { event, at }: Recorded): RunState {
  const run: RunState = { ...before, seq: before.seq + 1 };
  switch (event.type) {
    case "policy.set":
      return { ...run, policy: event.policy };
    case "base.moved":
      return { ...run, base: event.commit };
    case "run.resumed":
      return { ...run, halted: null };
    case "escalation.raised":
      return { ...run, escalation: event.escalation, escalations: run.escalations + 1 };
    case "person.answered":
      return answerProject(run, event.answer);
    case "budget.warned":
      return { ...run, warned: [...run.warned, event.budget] };
    case "infrastructure.blocked":
      return run.remediation === null ? { ...run, remediation: newRemediation(event.issue, at) } : run;
    default:
      return foldRemediation(run, event);
  }
}

function foldRemediation(run: RunState, event: Event): RunState {
  const { remediation } = run;
  if (event.type === "remediation.finished" || event.type === "health.checked") {
    const paid = { ...run, spent: spend(run.spent, event, true) };
    return remediation === null ? paid : { ...paid, remediation: endRemediation(remediation, event) };
  }
  if (event.type !== "remediation.started" || remediation === null) return run;
  // The try is counted before it begins, so that a crash grants no free one.
  return { ...run, remediation: { ...remediation, tries: event.attempt, stage: "repairing" } };
}

function endRemediation(
  remediation: Remediation,
  event: Extract<Event, { type: "remediation.finished" | "health.checked" }>,
): Remediation | null {
  if (event.type === "remediation.finished") {
    const tried = { attempt: event.attempt, fixes: event.fixes, healthy: false, remaining: [] };
    return { ...remediation, stage: "repaired", history: [...remediation.history, tried] };
  }
  if (event.healthy) return null;
  const history = remediation.history.map((each, index) =>
    index === remediation.history.length - 1 ? { ...each, remaining: event.remaining } : each,
  );
  return { ...remediation, stage: "waiting", history };
}

/** Applies a person's answer about the infrastructure or the budget of the whole run. */
function answerProject(run: RunState, answer: Answer): RunState {
  const next: RunState = { ...run, escalation: null };
  switch (answer.verb) {
    case "retry":
      if (run.remediation === null) return next;
      return {
        ...next,
        remediation: {
          ...run.remediation,
          tries: 0,
          stage: "waiting",
          guidance: [...run.remediation.guidance, answer.message],
        },
      };
    case "declare-healthy":
      return { ...next, remediation: null };
    case "halt":
      return { ...next, halted: { by: answer.by, reason: answer.message, ...identityOf(answer) } };
    case "raise-budget":
      if (answer.budget === undefined || answer.limit === undefined) return next;
      return { ...next, raised: { ...run.raised, [answer.budget]: answer.limit } };
    default:
      return run;
  }
}
