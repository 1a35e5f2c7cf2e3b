import { byText, insert, lookup, remove } from "../stdx/sorted-map.ts";
import { type Escalation, reopenRefusal } from "../core/stories/escalation.ts";
import type { Lane } from "../core/stories/command.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Running, StoryState } from "../core/stories/story-state.ts";
import { mustRunAlone } from "../decide/engine-deaths.ts";
import { type Facts, nextStep } from "../decide/next-step.ts";
import type { Event } from "../core/events/event.ts";
import { keptStory } from "./new-state.ts";
import { mergeApproved, withoutDelivery } from "./fold-delivery.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";

/** Stores a story's state after one more of its events, and queues it for the scheduler. */
export function enqueue(run: RunState, before: StoryState | null, after: StoryState): RunState {
  return setQueuePlace(run, before, after, after.seq + 1);
}

/**
 * Updates a story's queue position after an event of another story: its state is the same, but it may be able to move
 * now.
 */
export function requeue(run: RunState, state: StoryState): RunState {
  return setQueuePlace(run, state, state, state.seq);
}

function setQueuePlace(run: RunState, before: StoryState | null, after: StoryState, seq: number): RunState {
  const queued = placeFor(run, after);
  const was = before?.queued ?? null;
  const isSame = was !== null && queued !== null && was.lane === queued.lane && was.key === queued.key;
  let { lanes, timers } = run;
  if (!isSame && was !== null) {
    if (was.lane === "timers") timers = remove(timers, was.key, byText);
    else lanes = { ...lanes, [was.lane]: remove(lanes[was.lane], was.key, byText) };
  }
  if (!isSame && queued !== null) {
    if (queued.lane === "timers") timers = insert(timers, queued.key, after.story.id, byText);
    else lanes = { ...lanes, [queued.lane]: insert(lanes[queued.lane], queued.key, after.story.id, byText) };
  }
  const alone = (run.alone ?? 0) + countOf(mustRunAlone(after)) - countOf(before !== null && mustRunAlone(before));
  return {
    ...(run.alone === undefined ? run : withoutAlone(run)),
    ...(alone === 0 ? {} : { alone }),
    lanes,
    timers,
    busy: countRunning(run.busy, before?.running ?? null, after.running),
    inFlight: run.inFlight + (isInFlight(after) ? 1 : 0) - (before !== null && isInFlight(before) ? 1 : 0),
    stories: insert(run.stories, after.story.id, keptStory(after, seq, queued), byText),
  };
}

function withoutAlone(run: RunState): RunState {
  const { alone: _before, ...others } = run;
  return others;
}

const countOf = (is: boolean): number => (is ? 1 : 0);

export function factsFor(run: RunState, state: StoryState): Facts {
  const known = Object.hasOwn(run.usual, state.story.kind) ? run.usual[state.story.kind]! : null;
  return {
    base: run.base,
    usualMs: known === null || known.count < ENOUGH_TO_COMPARE ? null : known.totalMs / known.count,
  };
}

const ENOUGH_TO_COMPARE = 3;

/** Says why an idle story does not move; `null` if it can. */
function obstacle(run: RunState, state: StoryState): "settled" | "busy" | "person" | "story" | null {
  if (state.ending !== null) return "settled";
  if (state.running !== null) return "busy";
  if (state.escalation !== null || state.held) return "person";
  if (state.policy === null && state.story.shelf === "backlog") return "person";
  if (state.policy === null && unmetDependencies(run, state).length > 0) return "story";
  if (state.wait?.type === "story" && state.wait.story !== null && !isAccepted(run, state.wait.story)) return "story";
  return null;
}

function unmetDependencies(run: RunState, state: StoryState): readonly StoryState["story"]["id"][] {
  return state.story.dependsOn.filter((id) => !isAccepted(run, id));
}

function isAccepted(run: RunState, id: StoryState["story"]["id"]): boolean {
  return lookup(run.stories, id, byText)?.ending?.how === "accepted";
}

function placeFor(run: RunState, state: StoryState): StoryState["queued"] {
  if (state.ending === null && state.running !== null && needsNextCommand(state.running))
    return { lane: "engine", key: orderKey(state, 0) };
  const stops = obstacle(run, state);
  if (stops !== null && stops !== "story") return null;
  const step = nextStep(state, factsFor(run, state));
  // Bookkeeping is not delayed: a question to a person is asked now, not when a pause is over.
  if (step.lane === "engine") return { lane: "engine", key: orderKey(state, 0) };
  if (stops === "story") return null;
  if (state.wait?.type === "time")
    return { lane: "timers", key: `${String(state.wait.until).padStart(16, "0")} ${state.story.id}` };
  return { lane: step.lane, key: orderKey(state, step.urgency) };
}

/** Whether the running step needs another command: its agent is asked again, or outlived its engine. */
const needsNextCommand = (running: Running): boolean =>
  running.resumed === true || (running.type === "attempt" && running.unclear > 0);

/** Returns a key that sorts by kind of work, then priority, then age. */
export function orderKey(state: StoryState, urgency: 0 | 1 | 2): string {
  const priority = Math.max(0, Math.min(999_999, Math.round(state.story.priority) + 500_000));
  // Sorts before every other key of its lane.
  const first = mustRunAlone(state) ? "!" : "";
  return `${first}${urgency}${String(priority).padStart(6, "0")}${String(state.arrival).padStart(9, "0")}`;
}

function isInFlight(state: StoryState): boolean {
  return state.policy !== null && state.ending === null && state.escalation === null && !state.held;
}

function countRunning(busy: RunState["busy"], before: Running | null, after: Running | null): RunState["busy"] {
  const from = before === null ? null : laneOfRunning(before);
  const to = after === null ? null : laneOfRunning(after);
  if (from === to) return busy;
  return {
    ...busy,
    ...(from === null ? {} : { [from]: busy[from] - 1 }),
    ...(to === null ? {} : { [to]: busy[to] + 1 }),
  };
}

export function laneOfRunning(running: Running): Lane {
  if (running.type === "attempt") return "developers";
  if (running.type === "gate") return GATE_REGISTRY[running.gate].lane;
  switch (running.step) {
    case "prepare":
    case "dispatch":
      return "developers";
    case "adjudication":
      return "critics";
    case "base":
    case "blame":
    case "lint-fix":
    case "update":
    case "adopt":
    case "delivery":
      return "checks";
    case "brief":
    case "restore":
      return "engine";
  }
}

/**
 * Reopens an accepted story that a person sends back, or wants merged or proposed, with its whole state. No other event
 * reopens a story: `null`.
 */
export function reopenStory(state: StoryState, event: Event): StoryState | null {
  if (event.type !== "person.answered" || reopenRefusal(state, event.answer.verb) !== null) return null;
  const { verb } = event.answer;
  const { deliver: _, ...rest } = withoutDelivery(state);
  // The work is delivered again when it is accepted again.
  const open = { ...rest, ending: null, delivered: null };
  if (verb === "merge") return { ...mergeApproved(open, event.answer), deliver: verb };
  return verb === "pull-request" ? { ...open, deliver: verb } : open;
}

/** Stores a raised question. A question that is raised again is no longer deferred. */
export function questionRaised(state: StoryState, escalation: Escalation, at: number): StoryState {
  const { deferred: _, ...rest } = state;
  return { ...rest, escalation, escalatedAt: at, escalations: state.escalations + 1 };
}
