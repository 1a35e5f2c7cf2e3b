import { setTimeout as sleep } from "node:timers/promises";
import { dispatch } from "../engine/dispatch.ts";
import { recoverStory } from "../engine/recover.ts";
import type { FleetQueue } from "../ports/fleet-queue.ts";
import { commentEar } from "./comment-ear.ts";
import { bringUpToDate } from "./own.ts";
import type { WorkerParts } from "./worker-parts.ts";

export interface Leading {
  /** Hands out jobs from now on, or stops to. */
  turn(leads: boolean, ready: Promise<void>): void;
  close(): Promise<void>;
}

/** What one of the workers does for all of them: says what is to be done, listens to the forge, and keeps the books small. */
export function createLeading(parts: WorkerParts, queue: FleetQueue): Leading {
  let stop: AbortController | null = null;
  let life = Promise.resolve();
  return {
    turn: (leads, ready) => {
      if (!leads) {
        stop?.abort();
        stop = null;
        return;
      }
      if (stop !== null) return;
      const mine = (stop = new AbortController());
      life = life.then(() => ready).then(() => lead(parts, queue, mine.signal));
    },
    close: async () => {
      stop?.abort();
      await life;
    },
  };
}

async function lead(parts: WorkerParts, queue: FleetQueue, signal: AbortSignal): Promise<void> {
  const { ledger, world, plan, policy } = parts;
  const say = (text: string): void => plan.run.onNotice?.(text);
  const ear = commentEar(ledger, world, null, say);
  const unhear = ear.stay(() => undefined);
  const tidying = tidy(queue, signal, say);
  while (!signal.aborted) {
    try {
      await ledger.catchUp();
      await bringUpToDate(ledger, plan.run.stories, policy);
      const recover = async (story: Parameters<typeof recoverStory>[0]): Promise<void> => {
        say(`${story}: whoever worked on it is gone and left no job behind`);
        await recoverStory(story, ledger, world);
      };
      await dispatch({ ledger, queue, clock: world.clock, recover }, signal);
    } catch (error) {
      // The database is away, most likely: what is to be done is still to be done when it is back.
      say(error instanceof Error ? error.message : String(error));
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  unhear();
  await tidying;
}

/** Jobs that are over are of no use, and the library keeps them for ever. */
async function tidy(queue: FleetQueue, signal: AbortSignal, say: (text: string) => void): Promise<void> {
  while (!signal.aborted) {
    await sleep(TIDY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await queue.forget({ endedBefore: Date.now() - KEPT_MS }).catch((error: unknown) => say(String(error)));
  }
}

const AGAIN_MS = 1000;
const TIDY_MS = 30_000;
const KEPT_MS = 10 * 60_000;
