import { LANES, type Lane } from "../../domain/lane.ts";
import type { Job } from "../../ports/queue.ts";

/** Jobs that have not begun: those whose time has not come, in order of time, and those that only want a free hand. */
export interface Backlog {
  add(job: Job): void;
  /** Those whose time has come get in line. */
  ripen(now: number): void;
  /** The next of a lane that may begin, taken out. */
  take(lane: Lane): Job | null;
  /** When the next one's time comes; `null` when nobody waits for a time. */
  nextAt(): number | null;
  /** Empties it. */
  clear(): readonly Job[];
}

export function createBacklog(): Backlog {
  const later: Job[] = [];
  const ready = new Map<Lane, Job[]>(LANES.map((lane) => [lane, []]));
  return {
    add: (job) => void later.splice(placeFor(later, job.notBefore), 0, job),
    ripen: (now) => {
      const due = placeFor(later, now);
      for (const job of later.splice(0, due)) ready.get(job.lane)!.push(job);
    },
    take: (lane) => ready.get(lane)!.shift() ?? null,
    nextAt: () => later[0]?.notBefore ?? null,
    clear: () => [...later.splice(0), ...[...ready.values()].flatMap((jobs) => jobs.splice(0))],
  };
}

/** After those that are due no later, so that equals keep the order in which they came. */
function placeFor(jobs: readonly Job[], notBefore: number): number {
  let low = 0;
  let high = jobs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (jobs[middle]!.notBefore <= notBefore) low = middle + 1;
    else high = middle;
  }
  return low;
}
