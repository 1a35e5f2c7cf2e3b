import type { Command, Lane } from "../core/stories/command.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { type StoryFilter, decide, nextWake } from "../decide/decide.ts";
import { laneOf } from "../decide/next-step.ts";
import type { Clock } from "../ports/clock.ts";
import { continuesStep } from "./fencing.ts";
import type { Ledger } from "./ledger.ts";
import { perform } from "./perform/perform.ts";
import { recover } from "./recover.ts";
import type { EngineWorld } from "./world.ts";

/**
 * Runs the one loop: fold new events, decide, hand out commands, wait for an event. It ends when there is nothing to
 * do, nothing runs and no wait is set, or when the signal aborts. It keeps no state: everything that it knows is in the
 * journal.
 */
export async function drive(
  ledger: Ledger,
  world: EngineWorld,
  signal: AbortSignal,
  only: StoryFilter = null,
  isForOthers: IsForOthers = () => false,
): Promise<RunState> {
  /** The running commands, by key. */
  const running = new Map<string, RunningCommand>();
  const wakeUp = createSignal();
  const nap = createNap(world.clock);
  signal.addEventListener("abort", nap.end);
  const trouble: { fault: Error | null } = { fault: null };
  world.queue.start(async (job, jobSignal) => {
    try {
      await perform(job.command, ledger, world, running.get(job.id)?.stop?.signal ?? jobSignal);
    } catch (error) {
      // An error here means that the journal cannot be written, which affects all stories: stop and report it.
      trouble.fault ??= asError(error);
    } finally {
      running.delete(job.id);
      // A job may end without an event (its append was refused), and a job ends after its last event.
      wakeUp.ring();
    }
  });
  const unwatch = world.journal.watch((whose) => {
    // This process folds its own events when it writes them.
    if (whose === "others") void ledger.catchUp().catch((error: unknown) => (trouble.fault ??= asError(error)));
  });
  try {
    while (!signal.aborted && trouble.fault === null) {
      const state = ledger.state();
      // Taken before deciding, so that a change in between wakes the loop.
      const change = ledger.changed();
      const rung = wakeUp.next();
      const now = world.clock.now();
      endStopped(running, ledger);
      const commands = commandsNow(state, now, only, isForOthers);
      for (const command of commands) handOut(command, running, state, world);
      // Only times after `now`: a pause that is over must not keep this loop spinning while its command is running.
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
  // Stopping: record the interruptions, so that the steps do not look as if they are still running.
  if (signal.aborted) await recover(ledger, world, "stopped");
  await ledger.rest();
  return ledger.state();
}

/** Whether a command is carried out outside the engine. The loop ends when only such commands are left. */
type IsForOthers = (command: Command) => boolean;

function commandsNow(state: RunState, now: number, only: StoryFilter, isForOthers: IsForOthers): readonly Command[] {
  if (state.policy === null) return [];
  return decide(state, state.policy, now, only).filter((command) => !isForOthers(command));
}

interface RunningCommand {
  readonly story: StoryId | null;
  readonly lane: Lane;
  /** Stops the command; `null` for bookkeeping, which is too short to stop. */
  readonly stop: AbortController | null;
}

/** Stops the running commands of stories that a person wants stopped now. */
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
    stop: lane === "engine" && !continuesStep(command) ? null : new AbortController(),
  });
  queue.enqueue({ id: command.key, lane, command, notBefore: 0 });
}

/**
 * Whether a command may start: one job at a time for a story, because an answer in between changes the key of the next
 * command; and no more jobs in a lane than its limit, because a job that has just started may not be in the state yet.
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

/** Sleeps until a time, or until it is ended. It may wake earlier than asked, because waking costs little. */
function createNap(clock: Clock): { until(at: number): Promise<void>; end(): void } {
  let current: { readonly at: number; readonly off: AbortController; readonly over: Promise<void> } | null = null;
  // With a reason, because Node otherwise creates an error with a stack each time.
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

/** The longest sleep: the notice of another process's events may be late, and no other signal announces them. */
const LOOK_AGAIN_MS = 1000;

export function laneOfCommand(command: Command): Lane {
  return command.story === null ? "engine" : laneOf(command);
}
