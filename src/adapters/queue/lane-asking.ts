import { setTimeout as sleep } from "node:timers/promises";
import { LANES, type Lane } from "../../domain/lane.ts";
import type { Clock } from "../../ports/clock.ts";

/** When each lane is asked for a job: at once where somebody says that there may be one, else now and then. */
export interface LaneAsking {
  /** There may be a job in these lanes. What another worker says is said to all of them, and only one gets the job. */
  wake(lanes: readonly Lane[], whose?: "ours" | "others"): void;
  /** Asks until it is told to end. `ask` says whether somebody else was at the same lane at the same moment. */
  run(ask: (lane: Lane) => Promise<boolean>, end: AbortSignal): Promise<void>;
}

/** How often a lane is asked of which nobody has said anything: a word may get lost. */
const IDLE_MS = 5000;
/** For so long after a word a lane is asked often: others may have been quicker, or all hands were full. */
const AWAKE_MS = 5000;
/** However many words come, a lane is asked only so often in the time between two ordinary questions. */
const MOST_IN_A_PAUSE = { ours: 5, others: 2 };

/** Time that does not jump when the machine's clock is set. */
const MONOTONIC: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
};

export function createLaneAsking(pollMs: number, time: Clock = MONOTONIC): LaneAsking {
  const clocks = new Map(LANES.map((lane) => [lane, createLaneClock(pollMs, time)]));
  return {
    wake: (lanes, whose = "ours") => {
      for (const lane of lanes) clocks.get(lane)!.wake(pollMs / MOST_IN_A_PAUSE[whose]);
    },
    run: async (ask, end) => {
      await Promise.all([...clocks].map(([lane, clock]) => askAgain(clock, () => ask(lane), end)));
    },
  };
}

async function askAgain(clock: LaneClock, ask: () => Promise<boolean>, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    clock.asks();
    clock.asked(await ask());
    await clock.rest(end);
  }
}

type LaneClock = ReturnType<typeof createLaneClock>;

function createLaneClock(pollMs: number, time: Clock) {
  let askedAt = -Infinity;
  let dueAt = -Infinity;
  let awakeUntil = -Infinity;
  let contendedMs = 0;
  let contentions = 0;
  let rouse = new AbortController();
  return {
    wake: (leastMs: number): void => {
      const now = time.now();
      awakeUntil = now + AWAKE_MS;
      const at = Math.max(now, askedAt + Math.max(leastMs, contendedMs));
      if (at >= dueAt) return;
      dueAt = at;
      rouse.abort();
    },
    asks: (): void => {
      askedAt = time.now();
      // A word that comes while it is asked may be of a job that came too late for this question.
      dueAt = Infinity;
    },
    asked: (isContended: boolean): void => {
      const now = time.now();
      contentions = isContended ? contentions + 1 : 0;
      const idleMs = Math.max(pollMs, IDLE_MS);
      // Those who were in each other's way come back at different times, and less often the longer that goes on.
      const againMs = Math.min(idleMs, pollMs * 2 ** (contentions - 1)) * (0.5 + Math.random() / 2);
      contendedMs = isContended ? againMs : 0;
      const pauseMs = isContended ? againMs : (now < awakeUntil ? pollMs : idleMs) * (0.95 + Math.random() / 10);
      dueAt = Math.min(Math.max(dueAt, askedAt + contendedMs), now + pauseMs);
    },
    rest: async (end: AbortSignal): Promise<void> => {
      for (let now = time.now(); now < dueAt && !end.aborted; now = time.now()) {
        rouse = new AbortController();
        const signal = AbortSignal.any([rouse.signal, end]);
        await time.sleep(dueAt - now, signal);
      }
    },
  };
}
