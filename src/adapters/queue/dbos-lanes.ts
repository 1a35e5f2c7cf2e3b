import type { DBOS, WorkflowQueue } from "@dbos-inc/dbos-sdk";
import { LANES, type Lane } from "../../domain/lane.ts";
import { createLaneAsking } from "./lane-asking.ts";

/** How many of a lane run at once; a lane that is not named has no limit. */
export type Limits = Readonly<Partial<Record<Lane, number>>>;

/** The lanes as queues of the library, and when they are asked. */
export interface DbosLanes {
  /** To be called before the library is launched. */
  take(): Promise<void>;
  /** Makes the queues, or has them keep to other limits. */
  limit(limits: Limits): Promise<void>;
  /** There may be a job in these lanes. */
  wake(lanes: readonly Lane[], whose?: "ours" | "others"): void;
  /** Gives the library its own loop back. */
  release(): void;
}

/** The part of the library's loop over its queues that we step into: see `take`. */
interface Runner {
  schedulerLoop?: (executor: unknown, ...rest: readonly unknown[]) => Promise<void>;
  pollQueue?: (executor: unknown, queue: WorkflowQueue) => Promise<boolean>;
  readonly abortController?: AbortController;
}

export const queueOf = (lane: Lane): string => `remand-${lane}`;

/**
 * The library asks each queue at fixed times, reads all queues' limits again every second, and has one limit of its own
 * for every worker: that of whoever started last. So the loop is ours, and only asking is left to the library. Where a
 * later version of it is not made like that any more, it does all of this itself, as often as `pollMs` says.
 */
export function createDbosLanes(dbos: typeof DBOS, pollMs: number, ownLimits: Limits): DbosLanes {
  const asking = createLaneAsking(pollMs);
  const queues = new Map<Lane, WorkflowQueue>();
  let runner: Runner | null = null;
  return {
    take: async () => {
      await letNobodyTimeOut();
      runner = await runnerOf();
      if (runner === null) return;
      const loop = runner;
      runner.schedulerLoop = async (executor) => {
        const ask = async (lane: Lane): Promise<boolean> => {
          const queue = queues.get(lane);
          // It tells its own trouble; whatever else it throws must not be the end of asking.
          return queue !== undefined && (await loop.pollQueue!(executor, queue).catch(() => true));
        };
        await asking.run(ask, loop.abortController!.signal);
      };
    },
    limit: async (limits) => {
      for (const lane of LANES) {
        const all = finite(limits[lane]);
        const own = finite(Math.min(ownLimits[lane] ?? Infinity, all ?? Infinity));
        const queue = await dbos.registerQueue(queueOf(lane), {
          ...(all === undefined ? {} : { globalConcurrency: all }),
          // What is written there holds for everybody who reads it.
          ...(own === undefined || runner !== null ? {} : { workerConcurrency: own }),
          minPollingIntervalMs: pollMs,
          onConflict: "always_update",
        });
        // Another worker may have written something else since.
        queues.set(lane, Object.assign(queue, { concurrency: all, workerConcurrency: own }));
      }
      asking.wake(LANES);
    },
    wake: asking.wake,
    release: () => {
      if (runner !== null) delete runner.schedulerLoop;
    },
  };
}

const finite = (limit: number | undefined): number | undefined => (Number.isFinite(limit) ? limit : undefined);

async function runnerOf(): Promise<Runner | null> {
  try {
    const { wfQueueRunner } = await import("@dbos-inc/dbos-sdk/internal/wfqueue");
    const runner = wfQueueRunner as unknown as Runner;
    return typeof runner.schedulerLoop === "function" && typeof runner.pollQueue === "function" ? runner : null;
  } catch {
    return null;
  }
}

/** Every second the library looks for workflows whose time is over; none of ours has such a time. */
async function letNobodyTimeOut(): Promise<void> {
  try {
    const { workflowTimeoutConfig } = await import("@dbos-inc/dbos-sdk/internal/workflow_management");
    Object.assign(workflowTimeoutConfig, { pollingIntervalMs: 60_000 });
  } catch {
    // A version that has no such thing: then it looks as often as it likes.
  }
}
