import type { Command, Lane } from "../core/stories/command.ts";

/**
 * Decides who runs the next command, and where. A job is one command, and its id is the command's key: enqueuing it
 * twice enqueues it once. No job waits for time or people; waiting is state, and the queue is told when a wait ends.
 */
export interface Queue {
  enqueue(job: Job): void;
  /** Runs jobs until it is drained or stopped. Each lane runs as many at once as its limit allows. */
  start(work: (job: Job, signal: AbortSignal) => Promise<void>): void;
  /** Resolves when no job runs or waits. */
  idle(): Promise<void>;
  /**
   * Resolves when no running job has anything left to do at this moment. A job that has just written may be about to
   * end, and many may have written at once: then one decision is enough for all of it.
   */
  allWait(): Promise<void>;
  /** Takes no more jobs. With `now`, ends running jobs by their signal; otherwise lets them finish. */
  stop(now: boolean): Promise<void>;
}

export interface Job {
  readonly id: string;
  readonly lane: Lane;
  readonly command: Command;
  readonly notBefore: number;
}

/** A job in the fleet's queue: the key of the command, and the lane whose slot it takes. */
export interface Ticket {
  readonly id: string;
  readonly lane: Lane;
}

/** A job that a worker has claimed, and which worker. */
export interface ClaimedJob extends Ticket {
  readonly holder: string;
}

/**
 * The queue that many machines share. It assigns the work and enforces each lane's limit over all machines; it is not
 * the source of truth. A job does what the journal says when it runs, so a job that runs twice, late, or on two workers
 * changes nothing.
 */
export interface FleetQueue {
  /** Enqueuing a job twice enqueues it once, until it has been forgotten. */
  enqueue(tickets: readonly Ticket[]): Promise<void>;
  /** Starts to take jobs, as many at once as each lane allows. */
  start(work: (id: string, signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Returns the jobs among these that have ended, or that the queue does not know. */
  findEnded(ids: readonly string[]): Promise<readonly string[]>;
  /** Forgets ended jobs: these, so that they can be enqueued again, or all that ended before a time. */
  forget(which: readonly string[] | { readonly endedBefore: number }): Promise<void>;
  /** Returns jobs that a worker has claimed and not finished. */
  claimedJobs(): Promise<readonly ClaimedJob[]>;
  /** Releases the jobs of a lost worker, so that any free worker can claim them. */
  release(jobs: readonly ClaimedJob[]): Promise<void>;
  /** Takes no more jobs. Running jobs may continue for this long; then their signals end them. */
  stop(patienceMs: number): Promise<void>;
}
