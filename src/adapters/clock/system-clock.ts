import { uptime } from "node:os";
import type { Clock } from "../../ports/clock.ts";

/**
 * The machine's own time. A long pause is cut into pieces: a timer of more than 24.8 days would fire at once, and one
 * that began before the machine was put to sleep would be late by as long as that lasted.
 */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    bootedAt: () => Date.now() - uptime() * 1000,
    sleep: async (ms, signal) => {
      const until = { wall: Date.now() + ms, steady: performance.now() + ms };
      for (;;) {
        // Whichever is first: the time of day may be set back, and the steady one stands still while the machine sleeps.
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
