import type { Event, Recorded } from "../domain/event.ts";
import type { StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import { spendOn } from "../domain/event-cost.ts";
import { undoRefusal } from "../domain/undo.ts";
import { byText, insert, lookup, size } from "../stdx/sorted-map.ts";
import { evolveProject } from "./evolve-project.ts";
import { evolveStory, type Surroundings } from "./evolve-story.ts";
import { newStory } from "./new-state.ts";
import { filed, refiled } from "./queue-story.ts";
import { blockedBy } from "./remediate.ts";

/**
 * State is a fold of the journal with this function and nothing else: the same events give the same state. It
 * costs what changed, not what there is: one story, and those that waited for it.
 */
export function evolve(run: RunState, recorded: Recorded): RunState {
  const { story: id, event } = recorded;
  if (id === null) return evolveProject({ ...run, position: run.position + 1 }, recorded);
  const before = lookup(run.stories, id, byText);
  if (event.type === "story.added") return added(run, recorded, event.story, before);
  if (before === undefined || isProjectEvent(event)) return { ...run, position: run.position + 1 };
  const around: Surroundings = {
    policy: run.policy,
    base: run.base,
    mayUndo: () => undoRefusal(run, before) === null,
  };
  const heard = { ...recorded, event: withPossibleWait(run, id, event) } as Parameters<typeof evolveStory>[1];
  const after = evolveStory(before, heard, around);
  // One copy for everything this event changes of the run: the fold spends most of its time copying.
  const next: RunState = {
    ...run,
    position: run.position + 1,
    spent: spendOn(run.spent, event),
    remediation: blockedBy(run, recorded),
  };
  return settled(next, before, after, event.type === "answer.undone");
}

export function fold(events: Iterable<Recorded>, from: RunState): RunState {
  let run = from;
  for (const recorded of events) run = evolve(run, recorded);
  return run;
}

function added(run: RunState, recorded: Recorded, story: StoryState["story"], known: StoryState | undefined): RunState {
  const counted = { ...run, position: run.position + 1 };
  if (known !== undefined) return counted;
  return settled(awaiting(counted, story.id, story.dependsOn), null, newStory(story, size(run.stories), recorded.at));
}

/** Puts the story's new state in its place, and moves those that waited for it when it is accepted. */
function settled(run: RunState, before: StoryState | null, after: StoryState, isUndone = false): RunState {
  const id = after.story.id;
  let next = run;
  if (after.wait?.type === "story" && after.wait.story !== null && after.wait !== before?.wait)
    next = awaiting(next, id, [after.wait.story]);
  if (before !== null && before.story !== after.story) next = awaiting(next, id, after.story.dependsOn);
  next = filed(next, before, after);
  const isAccepted = after.ending?.how === "accepted";
  // An answer that was taken back may have accepted it: those that wait for it wait again.
  if (isAccepted === (before?.ending?.how === "accepted")) return next;
  // Whoever takes an answer back brings back what was there: its time was counted when it came about.
  if (isAccepted && !isUndone) next = withUsual(next, after);
  for (const waiting of lookup(next.dependents, id, byText) ?? []) {
    const state = lookup(next.stories, waiting, byText);
    if (state !== undefined) next = refiled(next, state);
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

/** Work that was forced, or was done before we looked, says nothing of how long work takes. */
function withUsual(run: RunState, story: StoryState): RunState {
  if (story.ending?.how !== "accepted" || story.ending.forced !== null) return run;
  const { kind } = story.story;
  const known = Object.hasOwn(run.usual, kind) ? run.usual[kind]! : { count: 0, totalMs: 0 };
  const usual = { count: known.count + 1, totalMs: known.totalMs + story.spent.timeMs };
  return { ...run, usual: { ...run.usual, [kind]: usual } };
}

/**
 * An agent may say that it waits for a story. If that story is unknown, over, or itself waits for this one, the
 * wait would never end: then it is a wait for a time, which its own bound ends at a person.
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
