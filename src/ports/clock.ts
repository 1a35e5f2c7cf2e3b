/** The only source of time. */
export interface Clock {
  now(): number;
  /** Resolves when the time has passed, or early when the signal says so. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
