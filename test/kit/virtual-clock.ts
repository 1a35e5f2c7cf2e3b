import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../src/ports/clock.ts";
import { assert } from "../../src/stdx/assert.ts";

/** A clock that moves only when it is told to: a month passes in no time, and twice the same way. */
export interface VirtualClock extends Clock {
  /** Advances the time. Each sleeper on the way wakes at its own time and runs before the next one wakes. */
  advance(ms: number): Promise<void>;
  /** Advances to the next sleeper; `false` when there is none. */
  advanceToNext(): Promise<boolean>;
  /** How many sleep. */
  sleeping(): number;
}

interface Sleeper {
  readonly wakeAt: number;
  wake(): void;
}

export function createVirtualClock(startAt = 0): VirtualClock {
  let now = startAt;
  const sleepers = new Set<Sleeper>();

  const sleep: Clock["sleep"] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true || !(ms > 0)) return resolve();
      const sleeper: Sleeper = {
        wakeAt: now + ms,
        wake: () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      signal?.addEventListener("abort", sleeper.wake, { once: true });
      sleepers.add(sleeper);
    });
  /** The one whose time comes first; of several at the same time the one that lay down first. */
  const next = (): Sleeper | null => {
    let first: Sleeper | null = null;
    for (const sleeper of sleepers) if (first === null || sleeper.wakeAt < first.wakeAt) first = sleeper;
    return first;
  };
  const wakeOne = async (sleeper: Sleeper): Promise<void> => {
    now = Math.max(now, sleeper.wakeAt);
    sleeper.wake();
    // A turn of the event loop, so that whatever this one does next is done, or asleep again.
    await nextTurn();
  };

  return {
    now: () => now,
    sleep,
    advance: async (ms) => {
      assert(ms >= 0, "time goes forward");
      const until = now + ms;
      await nextTurn();
      for (let first = next(); first !== null && first.wakeAt <= until; first = next()) await wakeOne(first);
      now = until;
    },
    advanceToNext: async () => {
      await nextTurn();
      const first = next();
      if (first !== null) await wakeOne(first);
      return first !== null;
    },
    sleeping: () => sleepers.size,
  };
}
