import type { Command, Lane } from "../core/stories/command.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { type StoryFilter, decide, nextWake } from "../decide/decide.ts";
import { laneOf } from "../decide/next-step.ts";
import type { Clock } from "../ports/clock.ts";
import { goesOn } from "./fencing.ts";
import type { Ledger } from "./ledger.ts";
import { perform } from "./perform/perform.ts";
import { recover } from "./recover.ts";
import type { EngineWorld } from "./world.ts";

/**
 * The one loop: fold what is new, decide, hand the commands out, wait for something to happen. It ends when there
 * is nothing to do, nothing runs and no time is waited for; or when it is told to stop. It keeps nothing itself:
 * whatever it knew is in the journal.
 */
export async function drive(
  ledger: Ledger,
  world: EngineWorld,
  signal: AbortSignal,
  only: StoryFilter = null,
  isForOthers: IsForOthers = () => false,
): Promise<RunState> {
  /** What runs, and how to end it. */
  const running = new Map<string, RunningCommand>();
  const wakeUp = createSignal();
  const nap = createNap(world.clock);
  signal.addEventListener("abort", nap.end);
  const trouble: { fault: Error | null } = { fault: null };
  world.queue.start(async (job, jobSignal) => {
    try {
      await perform(job.command, ledger, world, running.get(job.id)?.stop?.signal ?? jobSignal);
    } catch (error) {
      // The journal cannot be written, which affects all stories: stop and report it.
      trouble.fault ??= asError(error);
    } finally {
      running.delete(job.id);
      // A job may end without an event (it was refused its place), and the last one ends after its own.
      wakeUp.ring();
    }
  });
  const unwatch = world.journal.watch((whose) => {
    // The writer folds its own events.
    if (whose === "others") void ledger.catchUp().catch((error: unknown) => (trouble.fault ??= asError(error)));
  });
  try {
    while (!signal.aborted && trouble.fault === null) {
      const state = ledger.state();
      // Taken before deciding: a change that comes in between must not be slept through.
      const change = ledger.changed();
      const rung = wakeUp.next();
      const now = world.clock.now();
      endStopped(running, ledger);
      const commands = commandsNow(state, now, only, isForOthers);
      for (const command of commands) handOut(command, running, state, world);
      // Only times after `now`: a pause that is over must not keep this loop spinning while its command is under way.
      const wakeAt = nextWake(state, now, only);
      if (commands.length === 0 && running.size === 0 && wakeAt === null) break;
      await Promise.race([change, rung, nap.until(Math.min(wakeAt ?? Infinity, now + LOOK_AGAIN_MS))]);
      await world.queue.allWait();
    }
  } finally {
    unwatch();
    signal.removeEventListener("abort", nap.end);
    nap.end();
    if (signal.aborted) for (const { stop } of running.values()) stop?.abort();
    await world.queue.stop(signal.aborted);
  }
  if (trouble.fault !== null) throw trouble.fault;
  await ledger.catchUp();
  // Stopping: record what was interrupted, so that it does not look as if it still ran.
  if (signal.aborted) await recover(ledger, world, "stopped");
  await ledger.rest();
  return ledger.state();
}

/** Commands that are carried out outside of the engine: the loop ends when nothing else is left to do. */
type IsForOthers = (command: Command) => boolean;

function commandsNow(state: RunState, now: number, only: StoryFilter, isForOthers: IsForOthers): readonly Command[] {
  if (state.policy === null) return [];
  return decide(state, state.policy, now, only).filter((command) => !isForOthers(command));
}

interface RunningCommand {
  readonly story: StoryId | null;
  readonly lane: Lane;
  /** Stops it; `null` for bookkeeping, which is too short to stop. */
  readonly stop: AbortController | null;
}

/** What runs for a story that a person wants stopped at once is ended. */
function endStopped(running: ReadonlyMap<string, RunningCommand>, ledger: Ledger): void {
  for (const { story, stop } of running.values())
    if (story !== null && ledger.story(story).stopping !== null) stop?.abort();
}

function handOut(
  command: Command,
  running: Map<string, RunningCommand>,
  state: RunState,
  { queue }: EngineWorld,
): void {
  const lane = laneOfCommand(command);
  if (!mayHandOut(command, lane, running, state)) return;
  running.set(command.key, {
    story: command.story,
    lane,
    stop: lane === "engine" && !goesOn(command) ? null : new AbortController(),
  });
  queue.enqueue({ id: command.key, lane, command, notBefore: 0 });
}

/**
 * One job at a time for a story: an answer in between gives the next command another key, not a second job. And no more
 * jobs in a lane than its limit: a job that was just started may not show in the state yet.
 */
function mayHandOut(
  command: Command,
  lane: Lane,
  running: ReadonlyMap<string, RunningCommand>,
  { policy }: RunState,
): boolean {
  const jobs = [...running.values()];
  if (jobs.some(({ story }) => story === command.story)) return false;
  return (
    lane === "engine" || policy === null || jobs.filter((job) => job.lane === lane).length < policy.concurrency[lane]
  );
}

/** Wakes all waiters of `next()`. */
function createSignal(): { ring(): void; next(): Promise<void> } {
  let ring = (): void => undefined;
  return { ring: () => ring(), next: () => new Promise((resolve) => (ring = resolve)) };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Sleeps until a time, or until it is ended. One that ends earlier than is asked for will do: waking costs little. */
function createNap(clock: Clock): { until(at: number): Promise<void>; end(): void } {
  let current: { readonly at: number; readonly off: AbortController; readonly over: Promise<void> } | null = null;
  // With a reason of its own, or Node makes an error with a stack each time.
  const end = (): void => current?.off.abort("over");
  const startSleep = (at: number): NonNullable<typeof current> => {
    end();
    const off = new AbortController();
    const sleep = async (): Promise<void> => {
      await clock.sleep(Math.max(0, at - clock.now()), off.signal);
      if (current?.off === off) current = null;
    };
    return (current = { at, off, over: sleep() });
  };
  return { until: (at) => (current !== null && current.at <= at ? current : startSleep(at)).over, end };
}

/** Nothing rings for what another process writes while the notice of it is late; so the loop looks now and then. */
const LOOK_AGAIN_MS = 1000;

export function laneOfCommand(command: Command): Lane {
  return command.story === null ? "engine" : laneOf(command);
}
