import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import { assert } from "../stdx/assert.ts";
import {
  type Command,
  LANES,
  type Lane,
  type ProjectCommand,
  type StoryAction,
  type StartAttempt,
} from "../core/stories/command.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Policy } from "../core/events/policy.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { StoryState, Running } from "../core/stories/story-state.ts";
import { factsFor, orderKey } from "../fold/queue-story.ts";
import { mustRunAlone } from "./engine-deaths.ts";
import { escalateRun } from "./escalate.ts";
import { type NextStep, nextStep, startGate } from "./next-step.ts";
import { remediate } from "./remediate.ts";
import { actionsLeft, runOverspent, runToWarn } from "./spending.ts";

/**
 * Returns the commands to perform now. It looks only at stories with a next step and stops when no slot is free, so its
 * cost follows the work to start, not the number of stories. The same state gives the same commands with the same keys.
 */
export function decide(run: RunState, policy: Policy, now: number, only: StoryFilter = null): Command[] {
  const commands: Command[] = [];
  const project = projectCommand(run);
  if (project !== null) commands.push({ key: `@project:${run.seq}`, ...project });
  const due = mayDispatch(run) ? dueStories(run, now) : [];
  // Since the wait began, the run may have changed (the usual time of this kind of story) so that the next step is the
  // engine's own.
  for (const { state, step } of due)
    if (step.lane === "engine" && (only === null || only.has(state.story.id)))
      commands.push(command(state, step.action));
  for (const [key, id] of entries(run.lanes.engine)) {
    const state = lookup(run.stories, id, byText)!;
    // An agent that outlived its engine occupies a slot of its lane until its result is in the journal.
    if (only !== null && !only.has(id) && state.running?.resumed !== true) continue;
    const step = bookkeeping(run, state);
    // Since the story was queued, the run may have changed (the base moved) so that its next step belongs to another
    // lane.
    if (step.lane === "engine") commands.push(command(state, step.action));
    else due.push({ key, state, step });
  }
  if (!mayDispatch(run)) return commands;
  const next = (run.alone ?? 0) === 0 ? dispatches(run, policy, due, only) : oneAtATime(run, policy, due, only);
  return [...commands, ...next];
}

/** The stories to work on; `null`: all. Other stories are left as they are. */
export type StoryFilter = ReadonlySet<StoryId> | null;

/**
 * Returns when to decide again if no event arrives before; `null`: only an event can change anything. Stories that were
 * due at `now` have been decided, so they cause no further wake-up; nor do stories outside the filter.
 */
export function nextWake(run: RunState, now = -Infinity, only: StoryFilter = null): number | null {
  // While nothing may start, the end of a pause changes nothing.
  if (!mayDispatch(run)) return null;
  for (const [key, id] of entries(run.timers)) {
    const at = Number(key.slice(0, 16));
    if (at > now && (only === null || only.has(id))) return at;
  }
  return null;
}

/**
 * Whether new work may start: not while infrastructure is broken, the run is halted, a question about it is open, or
 * its budget is spent.
 */
export function mayDispatch(run: RunState): boolean {
  return (
    run.policy !== null &&
    run.remediation === null &&
    run.halted === null &&
    run.escalation === null &&
    runOverspent(run) === null
  );
}

function projectCommand(run: RunState): ProjectCommand | null {
  if (run.halted !== null) return null;
  if (run.escalation !== null) return null;
  const warn = runToWarn(run);
  if (warn !== null) return { story: null, type: "warn-budget", ...warn };
  // Repairs cost too: they do not start when no budget is left.
  const over = run.remediation?.stage === "repairing" ? null : runOverspent(run);
  if (over === null || (over.budget === "run-actions" && !isWorkWaiting(run))) return remediate(run);
  return { story: null, type: "raise-escalation", escalation: escalateRun(run, { type: "budget", ...over }) };
}

/** Whether work is waiting. Without it, more actions would be of no use, so no person is asked for them. */
function isWorkWaiting({ lanes, timers }: RunState): boolean {
  return timers !== null || LANES.some((lane) => lane !== "engine" && lanes[lane] !== null);
}

function bookkeeping(run: RunState, state: StoryState): NextStep {
  const { running } = state;
  if (running === null) return nextStep(state, factsFor(run, state));
  const action: StoryAction =
    running.type === "attempt" && running.unclear > 0
      ? { type: "ask-again", attempt: running.attempt, times: running.unclear }
      : resumeWork(state, running);
  return { lane: "engine", urgency: 0, action };
}

/**
 * Starts at most one command, and only if nothing runs, because a story must run alone. That story comes first:
 * `dispatches` returns the most urgent story of each lane first, and such stories sort before all others.
 */
function oneAtATime(run: RunState, policy: Policy, due: readonly Candidate[], only: StoryFilter): Command[] {
  if (LANES.some((lane) => run.busy[lane] > 0)) return [];
  const ready = dispatches(run, policy, due, only);
  const isAlone = ({ story }: Command): boolean => story !== null && mustRunAlone(lookup(run.stories, story, byText)!);
  return ready.length === 0 ? [] : [ready.find(isAlone) ?? ready[0]!];
}

function dispatches(run: RunState, policy: Policy, due: readonly Candidate[], only: StoryFilter): Command[] {
  const commands: Command[] = [];
  let roomForStories = policy.concurrency.stories === null ? Infinity : policy.concurrency.stories - run.inFlight;
  let actions = actionsLeft(run);
  for (const lane of LANES) {
    if (lane === "engine" || (run.lanes[lane] === null && due.length === 0)) continue;
    let free = policy.concurrency[lane] - run.busy[lane];
    for (const { state, step } of inOrder(run, lane, due)) {
      if (free <= 0) break;
      if (only !== null && !only.has(state.story.id)) continue;
      const isNew = state.policy === null;
      // New stories come last in a lane: if no new story may start, nothing follows that may.
      if (isNew && roomForStories <= 0) break;
      const isAction = step.action.type === "start-attempt" || step.action.type === "start-gate";
      if (isAction && actions-- <= 0) continue;
      if (isNew) roomForStories--;
      free--;
      commands.push(command(state, step.action));
    }
  }
  return commands;
}

/** Yields the lane's own stories and the due stories, most urgent first, lazily. */
function* inOrder(run: RunState, lane: Lane, due: readonly Candidate[]): Generator<Candidate> {
  const waiting = due.filter((candidate) => candidate.step.lane === lane);
  let next = 0;
  for (const [key, id] of entries(run.lanes[lane])) {
    while (next < waiting.length && waiting[next]!.key <= key) yield waiting[next++]!;
    const state = lookup(run.stories, id, byText)!;
    yield { key, state, step: nextStep(state, factsFor(run, state)) };
  }
  while (next < waiting.length) yield waiting[next++]!;
}

function command(state: StoryState, action: StoryAction): Command {
  return { key: `${state.story.id}:${state.seq}`, story: state.story.id, ...action };
}

export interface Candidate {
  readonly key: string;
  readonly state: StoryState;
  readonly step: NextStep;
}

/** Returns the stories whose pause is over, in the order that they would have in their lanes. */
function dueStories(run: RunState, now: number): Candidate[] {
  const due: Candidate[] = [];
  for (const [key, id] of entries(run.timers)) {
    if (Number(key.slice(0, 16)) > now) break;
    const state = lookup(run.stories, id, byText)!;
    const step = nextStep(state, factsFor(run, state));
    due.push({ key: orderKey(state, step.urgency), state, step });
  }
  return due.sort((a, b) => byText(a.key, b.key));
}

/** Whether another engine can continue the step: only agents outlive their engine. */
export const isResumable = ({ type }: Running): boolean => type === "attempt" || type === "gate";

/** Rebuilds, from the state, the command that started the running step. */
function resumeWork(state: StoryState, running: Running): StoryAction {
  assert(state.policy !== null && running.type !== "step", "only attempts and gates are resumed");
  if (running.type === "gate") return { type: "resume-work", work: startGate(state, state.policy, running.gate) };
  return { type: "resume-work", work: runningAttempt(state, state.policy.limits.timeoutMs.developer) };
}

function runningAttempt({ attempts, counters }: StoryState, timeoutMs: number): StartAttempt {
  const { attempt, phase, role, tddPhase, reworkOf } = attempts.at(-1)!;
  return {
    type: "start-attempt",
    attempt,
    phase,
    role,
    ...(tddPhase === undefined ? {} : { tddPhase }),
    reworkOf,
    spellOutFormat: counters.lastFailure?.type === "unclear",
    timeoutMs,
    forecastUsd: null,
  };
}
