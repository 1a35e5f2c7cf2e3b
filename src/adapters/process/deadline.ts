/** What ends a run from outside: time, or somebody's wish. The first one counts. */
export interface Deadline {
  readonly reached: Promise<"timeout" | "cancelled">;
  clear(): void;
}

/** Longer timers overflow and would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createDeadline(timeoutMs: number, signal: AbortSignal | undefined): Deadline {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const reached = new Promise<"timeout" | "cancelled">((resolve) => {
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, LONGEST_TIMER_MS);
      timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : resolve("timeout")), stepMs);
    };
    wait(Math.max(0, timeoutMs));
    onAbort = () => resolve("cancelled");
    signal?.addEventListener("abort", onAbort, { once: true });
    // It may have been given between the look before the start and now.
    if (signal?.aborted) onAbort();
  });
  return {
    reached,
    clear() {
      clearTimeout(timer);
      if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
    },
  };
}
