/** The only source of time. */
export interface Clock {
  now(): number;
  /** When this machine was started, by the same clock; absent if unknown. */
  bootedAt?(): number;
  /** Resolves when the time has passed, or earlier when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
