import { type FSWatcher, watch, mkdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { assert } from "../../stdx/assert.ts";
import { ancestry, bootId } from "./ancestry.ts";
import { createCollector } from "./capture.ts";
import { killLeftovers, COOKIE_VARIABLE, cookieValue } from "./leftovers.ts";
import {
  type ProcessIdentity,
  type RunRequest,
  type RunStatus,
  hasStarted,
  isAskedFor,
  readRequest,
  readStatus,
  requestCancel,
  writeInput,
  writeRequest,
  writeStatus,
  createOutputReader,
} from "./run-files.ts";
import {
  DEFAULT_MAX_OUTPUT_BYTES,
  type ProcessControl,
  type ProcessResult,
  type ProcessSpec,
  hurrySignal,
  onKillGroups,
  NOTHING_RAN,
  survivorsOf,
} from "./run-process.ts";
import { openLaunch } from "./launch.ts";
import type { SupervisorMessage } from "./supervisor.ts";

export async function identityOf(pid: number): Promise<ProcessIdentity> {
  const [process] = await ancestry(pid);
  return { pid, startedAt: process?.startedAt ?? 0, boot: bootId() };
}

/** Whether exactly this process still runs. Its id may have been reused, or the machine restarted. */
export async function isRunning({ pid, startedAt, boot }: ProcessIdentity): Promise<boolean> {
  if (boot !== bootId()) return false;
  const [process] = await ancestry(pid);
  return process !== undefined && process.startedAt === startedAt;
}

/**
 * The state of a run that an earlier engine requested. `lost`: its supervisor is gone and left no status, so its result
 * will never be known. `none`: it never started, or was cancelled.
 */
export type RunState = "finished" | "running" | "lost" | "none";

/** Returns a run's state. Waits for a run that is being started. */
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

/** Tells a run's supervisor, if it can be reached, that a request was written. */
export type Notify = () => void;

/**
 * Follows a run to its end, from its first line, whichever engine requested it. Gives the same result and lines as
 * `runProcess`. A run whose supervisor died is ended, with the result of a killed program.
 */
export async function followRun(
  folder: string,
  request: RunRequest,
  spec: Pick<ProcessSpec, "maxOutputBytes">,
  control: ProcessControl,
  notify: Notify = () => undefined,
): Promise<ProcessResult> {
  const collector = createCollector(spec.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES, control.onLine);
  const output = createOutputReader(folder, collector);
  const stopCancelling = passOnCancel(folder, control.signal, notify);
  const change = watchFolder(folder);
  try {
    const status = await untilEnded(folder, request, () => output.read(), change.next);
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
      // If its files were deleted, no status will be written.
      const isLost = isOverdue || !isAskedFor(folder) || !(await isRunning(request.supervisor));
      if (isLost) return readEnd(folder, request);
    }
    await changed();
  }
}

/** Returns the end of a run whose supervisor is gone. The supervisor may have written the status just before. */
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

/** How often to check whether the supervisor still runs. */
const LIVENESS_MS = 1000;
/** A supervisor that has not ended its program this long after the deadline is stuck. */
const OVERDUE_MS = 60_000;

/**
 * Passes a cancellation on. It is written to disk first, so that it takes effect even if this process dies right after.
 */
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

/** Not every system reports promptly, or at all, that a file grew. */
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

/** Watches a folder; `null` if the system has no more watchers: polling is enough. */
function watcherOf(folder: string, change: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, change);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}

export interface SupervisorOptions {
  /** The folder of the runs, and of nothing else. */
  readonly folder: string;
  /** The cookie of the engine's processes. */
  readonly cookie: string | undefined;
  readonly program: string;
}

/** The supervisor of this process's agents, from the engine's side. */
export interface Supervisor {
  /** Asks the supervisor to start a program. Resolves when the request is recorded, even if this process crashes. */
  start(path: string, spec: ProcessSpec): Promise<RunRequest>;
  notify(): void;
}

interface RunningSupervisor {
  readonly child: ChildProcess;
  readonly about: RunRequest["supervisor"];
}

/** Creates one supervisor for all agents of this process, started with the first of them. */
export function createSupervisor({ folder, cookie: engineCookie, program }: SupervisorOptions): Supervisor {
  let current: Promise<RunningSupervisor> | null = null;

  async function begin(): Promise<RunningSupervisor> {
    const cookie = `supervisor-${randomBytes(8).toString("hex")}`;
    // Keep its environment empty: programs that it starts can read it.
    const env = { PATH: process.env["PATH"] ?? "", [COOKIE_VARIABLE]: cookieValue(engineCookie, cookie) };
    const child = spawn(process.execPath, [program, folder], {
      cwd: "/",
      env,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.once("exit", () => (current = null));
    // A message could not be sent: the run is lost, which `followRun` detects.
    child.on("error", () => (current = null));
    // It must not keep this process alive; `followRun` does.
    child.unref();
    child.channel?.unref();
    return { child, about: { ...(await identityOf(child.pid ?? 0)), cookie } };
  }

  return {
    async start(path, spec) {
      const { stdin, timeoutMs } = spec;
      assert(typeof stdin !== "function", "a program under a supervisor is told everything at its start");
      mkdirSync(path, { recursive: true, mode: 0o700 });
      if (stdin !== undefined) writeInput(path, stdin);
      const { child, about } = await (current ??= begin());
      const cookie = `agent-${randomBytes(8).toString("hex")}`;
      const startedAt = Date.now();
      const endsAt = Number.isFinite(timeoutMs) ? startedAt + timeoutMs : null;
      const opened = await openLaunch(spec, cookie);
      const cellFolder = "failure" in opened ? null : opened.cellFolder;
      const request = { cookie, supervisor: about, startedAt, endsAt, cellFolder };
      writeRequest(path, request);
      if ("failure" in opened) {
        const { failure } = opened;
        writeStatus(path, { ...NOTHING_RAN, status: "failed-to-start", failure, durationMs: 0, lostBytes: 0 });
        return request;
      }
      const message: SupervisorMessage = {
        type: "start",
        folder: path,
        timeoutMs: Number.isFinite(timeoutMs) ? timeoutMs : null,
        spec: { ...graceOf(spec), survivors: survivorsOf(spec), launch: opened.launch, cookie },
        hasInput: stdin !== undefined,
      };
      if (child.connected) child.send(message);
      return request;
    },
    notify: () =>
      void current?.then(({ child }) => child.connected && child.send({ type: "cancel" } satisfies SupervisorMessage)),
  };
}

const graceOf = ({ graceMs }: ProcessSpec): Pick<ProcessSpec, "graceMs"> => (graceMs === undefined ? {} : { graceMs });
