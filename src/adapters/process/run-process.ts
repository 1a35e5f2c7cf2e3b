import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { type Collector, type OnLine, createCollector } from "./capture.ts";
import { type Launch, type ProgramSpec, type StartFailure, openLaunch, startLaunch } from "./launch.ts";
import { type ProcessFamily, createFamily, endFamily, leavesWithin, signalGroup } from "./leftovers.ts";

export interface ProcessSpec extends ProgramSpec {
  /** The whole input, or a function that writes to it while the program runs. */
  readonly stdin?: string | ((input: ProcessInput) => void);
  /** May be `Infinity`. */
  readonly timeoutMs: number;
  /** The limit per stream, and for both together. Longer output keeps its beginning and end, with a note. */
  readonly maxOutputBytes?: number;
  /** The time from the first signal to SIGKILL; default: a twelfth of the timeout, at most five seconds. */
  readonly graceMs?: number;
  /** Identifies the run's processes, so that leftovers can be found after a crash. */
  readonly cookie?: string;
  /**
   * What happens to processes that outlive a program which exits by itself; default: see `survivorsOf`. `spare`: the
   * program starts a service, or is known to leave no process (skipping the search is quicker).
   */
  readonly survivors?: "end" | "spare";
}

export interface ProcessInput {
  /** Ignored after the program has closed its input. */
  write(text: string): void;
  end(): void;
}

export interface ProcessControl {
  readonly signal?: AbortSignal;
  readonly onLine?: OnLine;
}

export interface ProcessResult {
  readonly status: "exited" | "timeout" | "cancelled" | "failed-to-start";
  /** `null` if a signal ended it, or it never started. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it did not start. */
  readonly failure: StartFailure | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams, in the order of their lines. */
  readonly output: string;
  readonly truncated: boolean;
  /** How many processes outlived the program and were ended. */
  readonly survivorsEnded: number;
  readonly durationMs: number;
}

export const DEFAULT_MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
const LADDER = ["SIGINT", "SIGTERM", "SIGKILL"] as const;
/** After the program's end, a process at the end of its pipe may still have to write its last lines. */
const LINGER_MS = 150;
const SURVIVOR_GRACE_MS = 300;
/** A surviving process may hold the output open for at most this long after the program's end. */
const PIPES_AFTER_EXIT_MS = 900;
/** After the last signal every known process is dead: only output in kernel buffers is left. */
const PIPES_AFTER_LADDER_MS = 100;
/** How long to wait for a process that the kernel cannot end now (a dead network disk). */
const EXIT_AFTER_LADDER_MS = 500;

/** The process groups of running programs. */
const groups = new Set<number>();
const hurry = new AbortController();

/** Makes programs that are being ended, now or later, get SIGKILL at once, with everything they started. */
export function endAtOnce(): void {
  hurry.abort();
}

/** Aborted by `endAtOnce`. */
export const hurrySignal: AbortSignal = hurry.signal;

/** Functions that kill programs which another process started. */
const killers = new Set<() => void>();

/** Registers `kill` for `killGroups`, until the returned function is called. */
export function onKillGroups(kill: () => void): () => void {
  killers.add(kill);
  return () => void killers.delete(kill);
}

/** Kills every running program without waiting, right before this process exits. */
export function killGroups(): void {
  for (const group of groups) signalGroup(group, "SIGKILL");
  for (const kill of killers) kill();
}

/**
 * Runs a program to its end, in its own session and process group, and resolves for every outcome. On timeout or abort,
 * all processes it started are ended, even those that left its group; so are processes that outlive it. No process can
 * make this wait: not by ignoring signals, holding the output open, or not reading the input.
 */
export async function runProcess(spec: ProcessSpec, control: ProcessControl = {}): Promise<ProcessResult> {
  const collector = createCollector(spec.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES, control.onLine);
  const cookie = spec.cookie ?? randomUUID();
  if (control.signal?.aborted) return { ...collector.finish(), ...NOTHING_RAN, status: "cancelled", durationMs: 0 };
  const startedAt = performance.now();
  const opened = await openLaunch(spec, cookie);
  if ("failure" in opened) {
    const { failure } = opened;
    const durationMs = performance.now() - startedAt;
    return { ...collector.finish(), ...NOTHING_RAN, status: "failed-to-start", failure, durationMs };
  }
  const ended = await runLaunch(
    { ...spec, survivors: survivorsOf(spec), launch: opened.launch, cookie },
    collector,
    control,
  );
  await opened.close();
  return { ...collector.finish(), ...ended };
}

/** A sandbox with its own process table leaves no survivors. */
export function survivorsOf({ survivors, sandbox }: ProcessSpec): "end" | "spare" {
  return survivors ?? (sandbox?.level.held.includes("processes") === true ? "spare" : "end");
}

export const NOTHING_RAN = { exitCode: null, signal: null, failure: null, survivorsEnded: 0 } as const;

/** A program to start, and its limits. */
export interface LaunchSpec extends Pick<ProcessSpec, "stdin" | "timeoutMs" | "graceMs" | "survivors"> {
  readonly launch: Launch;
  readonly cookie: string;
}

interface LaunchControl {
  readonly signal?: AbortSignal;
  onStart?(pid: number): void;
}

/** How the program ended, without its output, which goes to the sink as it comes. */
export type LaunchEnd = Omit<ProcessResult, "stdout" | "stderr" | "output" | "truncated">;

export async function runLaunch(
  spec: LaunchSpec,
  sink: Pick<Collector, "push">,
  control: LaunchControl,
): Promise<LaunchEnd> {
  const startedAt = performance.now();
  const endOf = (outcome: Pick<LaunchEnd, "status"> & Partial<LaunchEnd>): LaunchEnd => ({
    ...NOTHING_RAN,
    durationMs: performance.now() - startedAt,
    ...outcome,
  });
  if (control.signal?.aborted) return endOf({ status: "cancelled" });

  const started = await startLaunch(spec.launch, spec.stdin !== undefined);
  if ("failure" in started) return endOf({ status: "failed-to-start", failure: started.failure });
  const { child, pid } = started;
  groups.add(pid);
  control.onStart?.(pid);
  const ended = watch(child, sink);
  feed(child, spec.stdin);

  const family = createFamily(spec.cookie, pid);
  const stop = createDeadline(spec.timeoutMs, control.signal);
  const status = await Promise.race([ended.exit.then(() => "exited" as const), stop.reached]);
  stop.clear();
  const survivorsEnded =
    status === "exited" ? await afterExit(spec, family, ended) : await climbLadder(spec, family, ended);
  closePipes(child);
  groups.delete(pid);
  return endOf({ status, exitCode: child.exitCode, signal: child.signalCode, survivorsEnded });
}

interface ChildEnd {
  readonly exit: Promise<void>;
  /** Resolves when the program is gone and both pipes are read to their ends. */
  readonly close: Promise<void>;
}

function watch(child: ChildProcess, sink: Pick<Collector, "push">): ChildEnd {
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (bytes: Buffer) => sink.push(stream, bytes));
    // After a broken pipe there is nothing to read; the exit code tells the rest.
    child[stream]?.on("error", () => {});
  }
  return {
    exit: new Promise((resolve) => child.once("exit", () => resolve())),
    close: new Promise((resolve) => child.once("close", () => resolve())),
  };
}

function feed({ stdin: pipe }: ChildProcess, stdin: ProcessSpec["stdin"]): void {
  if (pipe === null || stdin === undefined) return;
  // A program need not read its input, so a closed pipe is no error.
  pipe.on("error", () => {});
  if (typeof stdin === "string") pipe.end(stdin);
  else stdin({ write: (text) => void (pipe.writable && pipe.write(text)), end: () => void pipe.end() });
}

async function afterExit(spec: LaunchSpec, family: ProcessFamily, ended: ChildEnd): Promise<number> {
  const pipes = within(PIPES_AFTER_EXIT_MS, ended.close);
  let survivors = 0;
  if (spec.survivors !== "spare" && !(await leavesWithin(family, LINGER_MS))) {
    survivors = await endFamily(family, ["SIGTERM", "SIGKILL"], SURVIVOR_GRACE_MS);
  }
  await pipes;
  return survivors;
}

async function climbLadder(spec: LaunchSpec, family: ProcessFamily, ended: ChildEnd): Promise<number> {
  const graceMs = spec.graceMs ?? Math.min(5000, spec.timeoutMs / 12);
  const kill = (): Promise<number> => endFamily(family, ["SIGKILL"], 0);
  const killed: Promise<unknown>[] = [];
  const killNow = (): void => void killed.push(kill());
  hurry.signal.addEventListener("abort", killNow);
  await (hurry.signal.aborted ? kill() : endFamily(family, LADDER, graceMs));
  hurry.signal.removeEventListener("abort", killNow);
  await Promise.all(killed);
  await within(EXIT_AFTER_LADDER_MS, ended.exit);
  await within(PIPES_AFTER_LADDER_MS, ended.close);
  return 0;
}

async function within(ms: number, event: Promise<void>): Promise<void> {
  const over = new AbortController();
  const timer = pause(ms, undefined, { signal: over.signal }).then(
    // If this process was busy for longer than that, bytes may be waiting: read them before the pipe is closed.
    () => nextTurn().then(() => nextTurn()),
    () => {},
  );
  await Promise.race([event, timer]);
  over.abort();
}

/**
 * Closes the pipes, so that this process can exit. A process that still holds the other end gets an error when it
 * writes.
 */
function closePipes(child: ChildProcess): void {
  child.stdin?.destroy();
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
}

/** What ends a run from outside: its timeout or the caller's abort, whichever comes first. */
export interface Deadline {
  readonly reached: Promise<"timeout" | "cancelled">;
  clear(): void;
}

/** Longer timers overflow and would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function createDeadline(timeoutMs: number, signal: AbortSignal | undefined): Deadline {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const reached = new Promise<"timeout" | "cancelled">((resolve) => {
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, LONGEST_TIMER_MS);
      timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : resolve("timeout")), stepMs);
    };
    wait(Math.max(0, timeoutMs));
    onAbort = () => resolve("cancelled");
    signal?.addEventListener("abort", onAbort, { once: true });
    // The signal may have been aborted between the check before the start and now.
    if (signal?.aborted) onAbort();
  });
  return {
    reached,
    clear() {
      clearTimeout(timer);
      if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
    },
  };
}
