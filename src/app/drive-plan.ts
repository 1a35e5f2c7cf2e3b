import type { StoryId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { storiesOf } from "../views/run/run-summary.ts";
import type { Story } from "../core/stories/story.ts";
import type { World } from "./command.ts";
import type { Host, Owned, RunPlan } from "./host.ts";
import { writeTrail } from "./trail-files.ts";

export interface Driving {
  readonly plan: RunPlan;
  readonly asked: readonly StoryId[];
  /** Who called it: stories that were held are released in this name. */
  readonly by: string;
  readonly signal: AbortSignal;
  /** Stays when all is done, and goes on when a file or a person says something new. */
  readonly watch?: Omit<Watching, "settled">;
  /** Before the journal is let go of, even when something broke. */
  onEnd?(state: RunState): Promise<void>;
}

/**
 * Becomes the engine, works until nothing is left to do or the signal says stop, and brings the trail up to date. What
 * was stopped is worked on again the next time: nothing is lost, and nothing that finished is done twice.
 */
export async function drivePlan(
  world: Pick<World, "cwd" | "files" | "host">,
  { plan, asked, by, signal, watch, onEnd }: Driving,
): Promise<RunState> {
  const owned = await world.host.own(world.cwd, plan);
  const settled = async (): Promise<void> => void (await writeTrail(world, plan.config));
  let state: RunState;
  try {
    await released(owned, asked, by);
    state = await (watch === undefined
      ? owned.drive(signal)
      : driveAndWatch(world.host, owned, { ...watch, settled }, signal));
  } finally {
    await onEnd?.(owned.state());
    await owned.close();
  }
  await settled();
  return state;
}

/** Whoever starts the work of a story that was stopped means it to go on. */
async function released(owned: Owned, asked: readonly StoryId[], by: string): Promise<void> {
  const run = owned.state();
  if (run.halted !== null) await owned.tell(null, [{ type: "run.resumed", by }]);
  for (const { story, held, ending } of storiesOf(run, asked)) {
    if (held && ending === null) await owned.tell(story.id, [{ type: "story.released", by }]);
  }
}

export interface Watching {
  /** Where the stories' files are. */
  readonly folder: string;
  /** The stories as their files say now; where one of them is wrong, what is new about that. */
  reread(): Promise<{ readonly stories: readonly Story[] } | { readonly wrong: string }>;
  /** Nothing is left to do for now. */
  onIdle(state: RunState, folder: string): void;
  onTrouble(text: string): void;
  /** Brings what is exported up to date, before it waits. */
  settled(): Promise<void>;
}

/**
 * Works, and when nothing is left to do, waits until a story's file or another process says something new; until the
 * signal says stop. Files are read again while work goes on too: a new story need not wait for the others.
 */
async function driveAndWatch(
  host: Pick<Host, "watchFolder">,
  owned: Owned,
  watch: Watching,
  signal: AbortSignal,
): Promise<RunState> {
  const bell = createBell(signal);
  let reading = Promise.resolve();
  const trouble: { error: Error | null } = { error: null };
  const readAgain = (): void => {
    reading = reading
      .then(() => shelveAgain(owned, watch, bell.ring))
      .catch((error: unknown) => {
        trouble.error ??= error instanceof Error ? error : new Error(String(error));
        bell.ring();
      });
  };
  const unwatch = host.watchFolder(watch.folder, readAgain);
  const unhear = owned.onWord(bell.ring);
  try {
    // Files may have changed between the first reading and the first look at the folder.
    readAgain();
    await reading;
    for (;;) {
      const heard = bell.rung();
      const state = await owned.drive(signal);
      if (trouble.error !== null) throw trouble.error;
      if (signal.aborted) return state;
      // What was said while the engine was about to end is not slept through.
      if (bell.rung() === heard) await watch.settled();
      if (bell.rung() === heard) {
        watch.onIdle(state, watch.folder);
        await bell.after(heard);
      }
      if (signal.aborted) return owned.state();
    }
  } finally {
    unwatch();
    unhear();
    await reading;
  }
}

/** A file that is being written is wrong for a moment: the stories stay as they were, and the next change is read. */
async function shelveAgain(owned: Owned, watch: Watching, ring: () => void): Promise<void> {
  const read = await watch.reread();
  if ("wrong" in read) {
    if (read.wrong !== "") watch.onTrouble(read.wrong);
    return;
  }
  if (await owned.shelve(read.stories)) ring();
}

/** Counts how often it was rung, so that nobody sleeps through a ring that came before he lay down. */
function createBell(signal: AbortSignal): { ring(): void; rung(): number; after(count: number): Promise<void> } {
  let count = 0;
  let wake = (): void => undefined;
  const ring = (): void => {
    count++;
    wake();
  };
  signal.addEventListener("abort", ring, { once: true });
  const after = (heard: number): Promise<void> =>
    count === heard ? new Promise((resolve) => (wake = resolve)) : Promise.resolve();
  return { ring, rung: () => count, after };
}
