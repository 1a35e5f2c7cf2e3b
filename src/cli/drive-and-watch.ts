import type { RunState } from "../domain/run-state.ts";
import type { Story } from "../domain/story.ts";
import type { Host, Owned } from "./host.ts";

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
export async function driveAndWatch(
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
