import { type FSWatcher, existsSync, watch } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ancestry, bootId } from "./ancestry.ts";
import { createCollector } from "./capture.ts";
import { killLeftovers } from "./leftovers.ts";
import { createOutputReader } from "./output-files.ts";
import {
  type ProcessIdentity,
  type RunRequest,
  type RunStatus,
  hasStarted,
  readRequest,
  readStatus,
  requestCancel,
} from "./run-files.ts";
import {
  DEFAULT_MAX_OUTPUT_BYTES,
  type ProcessControl,
  type ProcessResult,
  type ProcessSpec,
  hurrySignal,
  onKillGroups,
} from "./run-process.ts";

export async function identityOf(pid: number): Promise<ProcessIdentity> {
  const [process] = await ancestry(pid);
  return { pid, startedAt: process?.startedAt ?? 0, boot: bootId() };
}

/** Does this very process still run? Its number may have been given to another one, or the machine restarted. */
export async function isRunning({ pid, startedAt, boot }: ProcessIdentity): Promise<boolean> {
  if (boot !== bootId()) return false;
  const [process] = await ancestry(pid);
  return process !== undefined && process.startedAt === startedAt;
}

/**
 * What is known of a run that an earlier engine asked for. `lost`: its supervisor is gone and left no status, so its
 * result will never be known. `none`: it never began, or was ended on purpose.
 */
export type RunState = "finished" | "running" | "lost" | "none";

/** A run that is being started is waited for. */
export async function stateOfRun(folder: string): Promise<RunState> {
  const request = readRequest(folder);
  if (request === null) return "none";
  for (;;) {
    const isHeld = await isRunning(request.supervisor);
    const status = readStatus(folder);
    if (status !== null) return status.status === "not-started" || status.status === "cancelled" ? "none" : "finished";
    if (!isHeld) return "lost";
    if (hasStarted(folder)) return "running";
    await pause(START_POLL_MS);
  }
}

const START_POLL_MS = 10;

/** Tells the supervisor of a run, if it can be reached, that there is something to look at. */
export type Notify = () => void;

/**
 * Follows a run to its end, from its first line, whichever engine asked for it. The result and the lines are those that
 * `runProcess` would give. A run whose supervisor died is ended, and its result is that of a program that was killed.
 */
export async function followRun(
  folder: string,
  spec: Pick<ProcessSpec, "maxOutputBytes">,
  control: ProcessControl,
  notify: Notify = () => undefined,
): Promise<ProcessResult> {
  const collector = createCollector(spec.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES, control.onLine);
  const output = createOutputReader(folder, collector);
  const stopCancelling = passOnCancel(folder, control.signal, notify);
  const change = watchFolder(folder);
  try {
    const status = await untilEnded(folder, readRequest(folder)!, () => output.read(), change.next);
    await output.read();
    const { lostBytes, ...end } = status;
    const capture = collector.finish();
    return { ...capture, ...end, truncated: capture.truncated || output.hasGaps() || lostBytes > 0 };
  } finally {
    change.close();
    stopCancelling();
    output.close();
  }
}

type Ended = Exclude<RunStatus, { readonly status: "not-started" }>;

async function untilEnded(
  folder: string,
  request: RunRequest,
  readOn: () => Promise<void>,
  changed: () => Promise<void>,
): Promise<Ended> {
  let lookedAt = performance.now();
  for (;;) {
    await readOn();
    const status = readStatus(folder);
    if (status !== null) return status.status === "not-started" ? killed(request) : status;
    if (performance.now() - lookedAt >= LIVENESS_MS) {
      lookedAt = performance.now();
      const isOverdue = request.endsAt !== null && Date.now() > request.endsAt + OVERDUE_MS;
      if (isOverdue) await killLeftovers(request.supervisor.cookie);
      // Where its folder was deleted, a status can no longer be written.
      const isLost = isOverdue || !existsSync(folder) || !(await isRunning(request.supervisor));
      if (isLost) return readEnd(folder, request);
    }
    await changed();
  }
}

/** The supervisor is gone. It may have written the status as the last thing it did. */
async function readEnd(folder: string, request: RunRequest): Promise<Ended> {
  const status = readStatus(folder);
  if (status !== null && status.status !== "not-started") return status;
  await killLeftovers(request.cookie);
  return killed(request);
}

const killed = ({ startedAt }: RunRequest): Ended => ({
  status: "exited",
  exitCode: null,
  signal: "SIGKILL",
  failure: null,
  survivorsEnded: 0,
  durationMs: Math.max(0, Date.now() - startedAt),
  lostBytes: 0,
});

/** How often we look whether the supervisor still runs. */
const LIVENESS_MS = 1000;
/** A supervisor that has not ended its program so long after the deadline is stuck. */
const OVERDUE_MS = 60_000;

/** The request is on disk before anything else, so that it holds even if this process dies right after. */
function passOnCancel(folder: string, signal: AbortSignal | undefined, notify: Notify): () => void {
  const cancel = (): void => {
    requestCancel(folder, hurrySignal.aborted ? "now" : "politely");
    notify();
  };
  const hurry = (): void => void (signal?.aborted === true && cancel());
  const forget = onKillGroups(() => requestCancel(folder, "now"));
  signal?.addEventListener("abort", cancel);
  hurrySignal.addEventListener("abort", hurry);
  if (signal?.aborted === true) cancel();
  return () => {
    forget();
    signal?.removeEventListener("abort", cancel);
    hurrySignal.removeEventListener("abort", hurry);
  };
}

/** Not every system says at once, or at all, that a file grew. */
const POLL_MS = 100;

function watchFolder(folder: string): { next(): Promise<void>; close(): void } {
  let hasChanged = false;
  let wake = (): void => undefined;
  const change = (): void => {
    hasChanged = true;
    wake();
  };
  const watcher = watcherOf(folder, change);
  const timer = setInterval(change, POLL_MS);
  return {
    next: async () => {
      if (!hasChanged) await new Promise<void>((resolve) => (wake = resolve));
      hasChanged = false;
    },
    close() {
      watcher?.close();
      clearInterval(timer);
    },
  };
}

/** `null` where the system has no more watchers to give: looking now and then will do. */
function watcherOf(folder: string, change: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, change);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
