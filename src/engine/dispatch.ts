import { type StoryFilter, decide, nextWake } from "../decide/decide.ts";
import type { Command } from "../core/stories/command.ts";
import type { Clock } from "../ports/clock.ts";
import type { FleetQueue } from "../ports/queue.ts";
import { type StoryId, storyId } from "../core/events/ids.ts";
import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { laneOfCommand } from "./drive.ts";
import type { Ledger } from "./ledger.ts";
import { decidedAt, continuesStep } from "./fencing.ts";
import { perform } from "./perform/perform.ts";
import { recoverStory } from "./recover.ts";
import type { EngineWorld } from "./world.ts";

export interface Dispatching {
  readonly ledger: Ledger;
  readonly queue: FleetQueue;
  readonly clock: Clock;
  readonly only?: StoryFilter;
  /** Recovers a story whose worker is gone and left no job behind. */
  recover(story: StoryId): Promise<void>;
}

/**
 * Enqueues the jobs of a fleet; one worker at a time does this: fold, decide, enqueue, wait for an event. If a second
 * worker does it at the same time, it enqueues the same jobs with the same ids. All state is in the journal and the
 * queue.
 */
export async function dispatch(dispatching: Dispatching, signal: AbortSignal): Promise<void> {
  const { ledger, clock, queue, only = null } = dispatching;
  /** Jobs on the queue, and since when. A job is removed when its command is no longer decided. */
  const handedOut = new Map<string, number>();
  const suspects = new Map<StoryId, number>();
  let lookedAt = clock.now();
  while (!signal.aborted) {
    const change = ledger.changed();
    const state = ledger.state();
    const now = clock.now();
    const commands = (state.policy === null ? [] : decide(state, state.policy, now, only)).filter(isForAnyWorker);
    const wanted = new Set(commands.map(({ key }) => key));
    for (const key of handedOut.keys()) if (!wanted.has(key)) handedOut.delete(key);
    const fresh = commands.filter(({ key }) => !handedOut.has(key));
    if (fresh.length > 0)
      await queue.enqueue(fresh.map((command) => ({ id: command.key, lane: laneOfCommand(command) })));
    for (const { key } of fresh) handedOut.set(key, now);
    if (now - lookedAt >= LOOK_AGAIN_MS) {
      lookedAt = now;
      await renewEnded(queue, handedOut, now);
      await recoverOrphans(dispatching, suspects, now);
    }
    const wakeAt = nextWake(state, now, only);
    await soonest(clock, Math.min(wakeAt ?? Infinity, lookedAt + LOOK_AGAIN_MS), change, signal);
  }
}

/** Whether any worker may do the command. Continued work needs the worker with the agent's conversation and files. */
const isForAnyWorker = (command: Command): boolean => !continuesStep(command);

/** How often the queue is compared with the journal. */
const LOOK_AGAIN_MS = 1000;
/** A job that ended this long ago without changing anything was refused: it may be enqueued again. */
const STUCK_MS = 2000;
/**
 * How long a story may have a running step without a job before it is recovered. Not zero, because journal and queue
 * are not read at the same moment.
 */
const ORPHAN_MS = 5000;

/** Frees jobs that ended without an effect: they ran too early, or their worker could not reach the journal. */
async function renewEnded(queue: FleetQueue, handedOut: Map<string, number>, now: number): Promise<void> {
  const stuck = [...handedOut].filter(([, since]) => now - since >= STUCK_MS).map(([key]) => key);
  if (stuck.length === 0) return;
  const ended = await queue.findEnded(stuck);
  if (ended.length === 0) return;
  await queue.forget(ended);
  for (const key of ended) handedOut.delete(key);
}

async function recoverOrphans(
  { ledger, queue, recover }: Dispatching,
  suspects: Map<StoryId, number>,
  now: number,
): Promise<void> {
  const isBusy = Object.values(ledger.state().busy).some((count) => count > 0);
  const running = isBusy ? [...runningStories(ledger)] : [];
  const held = new Set(running.length === 0 ? [] : (await queue.claimedJobs()).map(({ id }) => storyOf(id)));
  const orphans = new Set(running.filter((story) => !held.has(story)));
  for (const story of suspects.keys()) if (!orphans.has(story)) suspects.delete(story);
  for (const story of orphans) {
    const since = suspects.get(story) ?? now;
    suspects.set(story, since);
    if (now - since >= ORPHAN_MS) await recover(story);
  }
}

function* runningStories(ledger: Ledger): Generator<StoryId> {
  for (const [id, { running, ending }] of entries(ledger.state().stories))
    if (running !== null && ending === null) yield id;
}

async function soonest(clock: Clock, at: number, change: Promise<void>, signal: AbortSignal): Promise<void> {
  const off = new AbortController();
  const end = (): void => off.abort("over");
  signal.addEventListener("abort", end);
  await Promise.race([change, clock.sleep(Math.max(0, at - clock.now()), off.signal)]);
  end();
  signal.removeEventListener("abort", end);
}

/**
 * Does one job of a fleet: folds new events, decides, and performs the command if the job's key is still that of the
 * decision. If it is not, another worker did the work or it may not run now; the dispatcher then finds in the journal
 * what is left.
 */
export async function doJob(id: string, ledger: Ledger, world: EngineWorld, signal: AbortSignal): Promise<void> {
  await ledger.catchUp();
  const { clock } = world;
  let command = commandOf(id, ledger.state(), clock.now(), ({ key }) => key === id);
  if (command === null) return;
  while (command !== null) {
    await perform(command, ledger, world, signal);
    // Only the worker that has the conversation and the agent's files can ask again.
    command = signal.aborted ? null : commandOf(id, ledger.state(), clock.now(), ({ type }) => type === "ask-again");
  }
  // Record the interruption, so that the step does not look as if it is still running.
  if (signal.aborted) await handBack(id, ledger, world, "stopped");
}

function commandOf(id: string, state: RunState, now: number, is: (command: Command) => boolean): Command | null {
  const story = storyOf(id);
  if (state.policy === null) return null;
  const only = new Set(story === null ? [] : [story]);
  return decide(state, state.policy, now, only).find((command) => command.story === story && is(command)) ?? null;
}

/** Ends a job whose worker died or gives it up: a step that it started is reported, or interrupted if it still runs. */
export async function handBack(id: string, ledger: Ledger, world: EngineWorld, how: "stopped" | "died"): Promise<void> {
  await ledger.catchUp();
  const story = storyOf(id);
  if (story === null) return;
  const running = lookup(ledger.state().stories, story, byText)?.running ?? null;
  if (running !== null && running.seq > decidedAt({ key: id })) await recoverStory(story, ledger, world, how);
}

/** Returns the story of a job; `null`: the job is about the project. */
export function storyOf(id: string): StoryId | null {
  return id.startsWith("@") ? null : storyId(id.slice(0, id.lastIndexOf(":")));
}
