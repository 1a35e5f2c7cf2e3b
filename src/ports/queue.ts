import type { Command } from "../domain/command.ts";
import type { Lane } from "../domain/lane.ts";

/**
 * Who runs the next command, and where. A job is one command, and its id is the command's key: to enqueue it
 * twice is to enqueue it once. Nothing waits inside a job; waiting is state, and the queue is told when.
 */
export interface Queue {
  enqueue(job: Job): void;
  /** Runs jobs until it is drained or told to stop. Each lane runs as many at once as its limit allows. */
  start(work: (job: Job, signal: AbortSignal) => Promise<void>): void;
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>;
  /**
   * Resolves when none of those that run has anything left to do at this moment. Whoever has just written may be about
   * to end, and many may have written at once: then one decision about all of it is enough.
   */
  allWait(): Promise<void>;
  /** Takes no more jobs; ends those that run by their signal when `now`, else lets them end. */
  stop(now: boolean): Promise<void>;
}

export interface Job {
  readonly id: string;
  readonly lane: Lane;
  readonly command: Command;
  readonly notBefore: number;
}
