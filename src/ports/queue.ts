import type { Command, Lane } from "../core/stories/command.ts";

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
   * Resolves when none of those that run has anything left to do at this moment. A job that has just written may be about
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

/** A job as the fleet's queue knows it: the key of the command, and the lane that it takes a hand of. */
export interface Ticket {
  readonly id: string;
  readonly lane: Lane;
}

/** A job that a worker had in hand, and which worker. */
export interface ClaimedJob extends Ticket {
  readonly holder: string;
}

/**
 * The queue that many machines share. It says who does what, and keeps each lane to its limit over all of them; it is
 * not the truth. A job does what the journal says when it runs, so a job that runs twice, late, or on two workers changes
 * nothing.
 */
export interface FleetQueue {
  /** To enqueue a job twice is to enqueue it once, until it has been forgotten. */
  enqueue(tickets: readonly Ticket[]): Promise<void>;
  /** Takes jobs from now on, as many at once as each lane allows. */
  start(work: (id: string, signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Those of these that are over, or that it does not know. */
  findEnded(ids: readonly string[]): Promise<readonly string[]>;
  /** Jobs that are over are taken off its books: these, so that they can come again, or all of an hour ago. */
  forget(which: readonly string[] | { readonly endedBefore: number }): Promise<void>;
  /** Jobs that a worker has claimed and not ended. */
  claimedJobs(): Promise<readonly ClaimedJob[]>;
  /** Releases the jobs of a lost worker, so that any free worker can claim them. */
  release(jobs: readonly ClaimedJob[]): Promise<void>;
  /** Takes no more. Those that run may go on for so long; then their signals end them. */
  stop(patienceMs: number): Promise<void>;
}
