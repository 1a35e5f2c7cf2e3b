import { uptime } from "node:os";
import type { Clock } from "../../ports/clock.ts";

/**
 * The machine's own clock. A long sleep is split into pieces: a timer of more than 24.8 days would fire at once, and a
 * timer that started before the machine was suspended would fire late by the time of the suspension.
 */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    bootedAt: () => Date.now() - uptime() * 1000,
    sleep: async (ms, signal) => {
      const until = { wall: Date.now() + ms, steady: performance.now() + ms };
      for (;;) {
        // Whichever comes first: the wall clock may be set back, and the steady clock stops while the machine is
        // suspended.
        const leftMs = Math.min(until.wall - Date.now(), until.steady - performance.now());
        if (!(leftMs > 0) || signal?.aborted === true) return;
        await pause(Math.min(leftMs, PIECE_MS), signal);
      }
    },
  };
}

const PIECE_MS = 60_000;

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, Math.ceil(ms));
    signal?.addEventListener("abort", finish, { once: true });
  });
}
