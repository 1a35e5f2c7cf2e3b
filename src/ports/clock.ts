/** The only source of time. */
export interface Clock {
  now(): number;
  /** When this machine was started, by the same clock; absent where that is not known. */
  bootedAt?(): number;
  /** Resolves when the time has passed, or early when the signal says so. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
