import type { DBOS } from "@dbos-inc/dbos-sdk";
import type { Pool } from "pg";
import { RemandError } from "../../core/events/error.ts";
import { LANES, type Lane } from "../../core/stories/command.ts";
import type { FleetQueue, ClaimedJob, Ticket } from "../../ports/queue.ts";
import { poolFor } from "./queue-database.ts";
import {
  type DbosLanes,
  type JobNotifier,
  type LaneLimits,
  createDbosLanes,
  openJobNotifier,
  queueOf,
} from "./dbos-lanes.ts";

export interface DbosQueueOptions {
  /** The database's address, for the driver. */
  readonly url: string;
  /** The schema of the queue's tables. */
  readonly schema: string;
  /** Identifies this process: its unfinished jobs are found by this after its death. */
  readonly worker: string;
  /** How many jobs of a lane run at once, over all workers. */
  readonly limits: LaneLimits;
  /** The same for this worker only. */
  readonly ownLimits?: LaneLimits;
  /** How often a lane is polled while there is activity. */
  readonly pollMs?: number;
  /** How long jobs may take to end after they were told to. */
  readonly endingMs?: number;
  onTrouble?(text: string): void;
}

export interface DbosQueue extends FleetQueue {
  /** Changes how many jobs of each lane run at once. Running jobs continue. */
  limit(limits: LaneLimits): Promise<void>;
}

type Dbos = typeof DBOS;

const POLL_MS = 500;
/** Pinned: by default the library uses a hash of the code, and jobs from before an update would wait forever. */
const VERSION = "remand-1";
/** Every takeover of a job counts as a recovery, and no number of them is a reason to give a job up. */
const MOST_RECOVERIES = 1_000_000;
const OVER = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"] as const;
const ENDING_MS = 30_000;

/**
 * Creates the fleet's queue on DBOS. A job is a workflow without steps, because its effects are in the journal. The
 * library has one instance per process, so a process has one such queue.
 */
export async function createDbosQueue(options: DbosQueueOptions): Promise<DbosQueue> {
  const dbos = await loadDbos();
  const connections = await poolFor(options.url);
  const ending = new AbortController();
  const lanes = createDbosLanes(dbos, options.pollMs ?? POLL_MS, options.ownLimits ?? {});
  let notifier: JobNotifier | null = null;
  let perform: (id: string, signal: AbortSignal) => Promise<void> = async () => undefined;
  // A job that throws is over all the same: the journal says what is left to do.
  const workflow = dbos.registerWorkflow(
    async (id: string, lane?: Lane): Promise<void> => {
      try {
        await perform(id, ending.signal);
      } catch (error) {
        options.onTrouble?.(`${id}: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        // The lane has a free slot once the library has recorded the end; then it is polled for the next job.
        setTimeout(() => lanes.wake(lane === undefined ? LANES : [lane]), NOTED_MS).unref();
      }
    },
    { name: "job", maxRecoveryAttempts: MOST_RECOVERIES },
  );
  let stopping: Promise<void> | null = null;
  const stopDbos = async (patienceMs: number): Promise<void> => {
    const timer = setTimeout(() => ending.abort(), patienceMs);
    try {
      const workflowCompletionTimeoutMS = patienceMs + (options.endingMs ?? ENDING_MS);
      await dbos.shutdown({ deregister: true, workflowCompletionTimeoutMS });
    } finally {
      clearTimeout(timer);
      ending.abort();
      lanes.release();
      await notifier?.close();
      await connections.end();
    }
  };
  const tell = async (named: readonly Lane[]): Promise<void> => {
    lanes.wake(named);
    // Only a hint. The next query that needs the server reports that it cannot be reached.
    if (named.length > 0) await notifier?.notify(named).catch(() => undefined);
  };
  return {
    start: async (work) => {
      perform = work;
      await launch(dbos, options, connections, lanes);
      notifier = openJobNotifier(connections, options.schema, (named) => lanes.wake(named, "others"));
    },
    ...handingOut(
      dbos,
      (id, lane) => dbos.startWorkflow(workflow, { workflowID: id, queueName: queueOf(lane) })(id, lane),
      tell,
    ),
    ...booksOf(dbos),
    limit: lanes.limit,
    stop: (patienceMs) => {
      if (patienceMs === 0) ending.abort();
      return (stopping ??= stopDbos(patienceMs));
    },
  };
}

/** The library records the end of a job with one commit. */
const NOTED_MS = 30;
const laneOf = (queue: string | undefined): Lane | undefined => LANES.find((lane) => queueOf(lane) === queue);

async function launch(
  dbos: Dbos,
  options: DbosQueueOptions,
  systemDatabasePool: Pool,
  lanes: DbosLanes,
): Promise<void> {
  const { url, schema, worker, limits, onTrouble } = options;
  const quiet = (): void => undefined;
  const aloud = (entry: unknown): void => onTrouble?.(entry instanceof Error ? entry.message : String(entry));
  dbos.setConfig({
    name: "remand",
    systemDatabaseUrl: url,
    systemDatabasePool,
    systemDatabaseSchemaName: `${schema}_queue`,
    applicationVersion: VERSION,
    executorID: worker,
    listenQueues: LANES.map(queueOf),
    maxConcurrentQueueDispatches: LANES.length,
    // For messages, events and streams, which Remand's workflows do not use; it would poll a hundred times a second.
    useListenNotify: false,
    // For scheduled workflows, which Remand does not use either.
    schedulerPollingIntervalMs: NEVER_MS,
    logger: { info: quiet, debug: quiet, warn: quiet, error: aloud },
  });
  // The library's pool queries a busy connection, which makes the driver print a deprecation warning at every start.
  if (process.noDeprecation !== true) process.noDeprecation = true;
  await lanes.take();
  await launchInTime(dbos);
  await lanes.limit(limits);
}

const NEVER_MS = 86_400_000;

/** Launches within a time limit: if the server goes away meanwhile, the library waits forever. */
async function launchInTime(dbos: Dbos): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer for ${LONGEST_LAUNCH_MS / 1000} s`)), LONGEST_LAUNCH_MS);
  });
  try {
    await Promise.race([dbos.launch(), late]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (/permission denied|must be owner/.test(why)) throw tablesRefused(why, error);
    const hint = "Start the worker again when the database can be reached.";
    throw new RemandError("journal-unreachable", `the queue of the fleet cannot be opened: ${why}`, hint, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

const LONGEST_LAUNCH_MS = 20_000;

function tablesRefused(why: string, cause: unknown): RemandError {
  const message = `the queue of the fleet cannot be opened: ${why}`;
  const hint =
    "Its tables are missing or older, and this user may not change them. Run as their owner, where @dbos-inc/dbos-sdk is installed: remand migrate --no-move --to <address>.";
  return new RemandError("journal-refused", message, hint, { cause });
}

function handingOut(
  dbos: Dbos,
  begin: (id: string, lane: Lane) => Promise<unknown>,
  tell: (lanes: readonly Lane[]) => Promise<void>,
): Pick<FleetQueue, "enqueue" | "release"> {
  const lanesOf = (tickets: readonly Ticket[]): readonly Lane[] =>
    LANES.filter((lane) => tickets.some((ticket) => ticket.lane === lane));
  return {
    enqueue: async (tickets) => {
      await Promise.all(tickets.map(({ id, lane }) => begin(id, lane)));
      await tell(lanesOf(tickets));
    },
    release: async (jobs) => {
      // Lane by lane, with the queue's name: without it, jobs would go to a queue without limits.
      for (const lane of lanesOf(jobs)) {
        const ids = jobs.filter((job) => job.lane === lane).map(({ id }) => id);
        await dbos.resumeWorkflows(ids, { queueName: queueOf(lane) });
      }
      await tell(lanesOf(jobs));
    },
  };
}

function booksOf(dbos: Dbos): Pick<FleetQueue, "findEnded" | "forget" | "claimedJobs"> {
  const bare = { loadInput: false, loadOutput: false };
  return {
    findEnded: async (ids) => {
      const known = await dbos.listWorkflows({ ...bare, workflowIDs: [...ids] });
      const open = new Set(known.filter(({ status }) => !isOver(status)).map(({ workflowID }) => workflowID));
      return ids.filter((id) => !open.has(id));
    },
    forget: async (which) => {
      if ("endedBefore" in which) {
        const completedBefore = new Date(which.endedBefore).toISOString();
        const ended = await dbos.listWorkflows({ ...bare, status: [...OVER], completedBefore, limit: MOST_AT_ONCE });
        if (ended.length > 0) await dbos.deleteWorkflows(ended.map(({ workflowID }) => workflowID));
      } else if (which.length > 0) await dbos.deleteWorkflows([...which]);
    },
    claimedJobs: async () => {
      const held = await dbos.listWorkflows({ ...bare, status: "PENDING" });
      return held.flatMap(({ workflowID: id, queueName, executorId: holder }): ClaimedJob[] => {
        const lane = laneOf(queueName);
        return lane === undefined || holder === undefined ? [] : [{ id, lane, holder }];
      });
    },
  };
}

const MOST_AT_ONCE = 1000;
const isOver = (status: string): boolean => OVER.some((each) => each === status);

async function loadDbos(): Promise<Dbos> {
  try {
    return (await import("@dbos-inc/dbos-sdk")).DBOS;
  } catch (error) {
    throw new RemandError(
      "usage",
      "the package @dbos-inc/dbos-sdk, which workers share their jobs with, is not installed",
      "Run npm install @dbos-inc/dbos-sdk pg beside Remand (with -g where Remand is installed globally).",
      { cause: error },
    );
  }
}
