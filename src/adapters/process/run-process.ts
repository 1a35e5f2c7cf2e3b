import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { type Collector, type OnLine, createCollector } from "./capture.ts";
import { type Launch, type ProgramSpec, type StartFailure, openLaunch, startLaunch } from "./launch.ts";
import { type ProcessFamily, createFamily, endFamily, leavesWithin, signalGroup } from "./leftovers.ts";

export interface ProcessSpec extends ProgramSpec {
  /** All of its input, or a function that writes to it line by line for as long as it runs. */
  readonly stdin?: string | ((input: ProcessInput) => void);
  /** May be `Infinity`. */
  readonly timeoutMs: number;
  /** For each stream, and for both together: beginning and end are kept and the cut is stated. */
  readonly maxOutputBytes?: number;
  /** From the first signal to SIGKILL. By default a twelfth of the timeout, five seconds at most. */
  readonly graceMs?: number;
  /** Names this run, so that what it left can be found after a crash. */
  readonly cookie?: string;
  /**
   * What happens to processes that outlive the program when it ends by itself. They are ended, unless it was meant
   * to start a service, or is known to leave no process (not looking for them is quicker).
   */
  readonly survivors?: "end" | "spare";
}

export interface ProcessInput {
  /** Into nothing, once the program has closed its input. */
  write(text: string): void;
  end(): void;
}

export interface ProcessControl {
  readonly signal?: AbortSignal;
  readonly onLine?: OnLine;
}

export interface ProcessResult {
  readonly status: "exited" | "timeout" | "cancelled" | "failed-to-start";
  /** `null` when a signal ended it, or when it never started. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it did not start. */
  readonly failure: StartFailure | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams, in the order in which their lines came. */
  readonly output: string;
  readonly truncated: boolean;
  /** How many processes outlived the program and had to be ended. */
  readonly survivorsEnded: number;
  readonly durationMs: number;
}

export const DEFAULT_MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
const LADDER = ["SIGINT", "SIGTERM", "SIGKILL"] as const;
/** A process at the end of a pipe may still have to write its last lines when the program that fed it is gone. */
const LINGER_MS = 150;
const SURVIVOR_GRACE_MS = 300;
/** A surviving process may hold the output open for at most this long after the program's end. */
const PIPES_AFTER_EXIT_MS = 900;
/** After the last signal every known process is dead: the output that still comes is what the kernel holds. */
const PIPES_AFTER_LADDER_MS = 100;
/** A process that the kernel cannot end now (a dead network disk) is not waited for. */
const EXIT_AFTER_LADDER_MS = 500;

/** The groups of the programs that run now, by the number of their first process. */
const groups = new Set<number>();
const hurry = new AbortController();

/** From now on a program that is being ended is killed, with all that it started, instead of being asked to end first. */
export function endAtOnce(): void {
  hurry.abort();
}

/** Aborted by `endAtOnce`. */
export const hurrySignal: AbortSignal = hurry.signal;

/** How the programs are killed that this process did not start itself. */
const killers = new Set<() => void>();

/** Has `kill` called by `killGroups`, until the function that is returned is called. */
export function onKillGroups(kill: () => void): () => void {
  killers.add(kill);
  return () => void killers.delete(kill);
}

/** Kills every program that runs, without waiting: for the last moment before this process exits. */
export function killGroups(): void {
  for (const group of groups) signalGroup(group, "SIGKILL");
  for (const kill of killers) kill();
}

/**
 * Runs a program to its end, and resolves for every outcome. It runs in a session and group of its own. On timeout or
 * abort all processes it started are ended, also those that left its group; so are processes that outlive it. No
 * process can make this wait: not by ignoring signals, nor by holding the output open, nor by not reading the input.
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

/** Nothing outlives a sandbox with processes of its own. */
export function survivorsOf({ survivors, sandbox }: ProcessSpec): "end" | "spare" {
  return survivors ?? (sandbox?.level.held.includes("processes") === true ? "spare" : "end");
}

export const NOTHING_RAN = { exitCode: null, signal: null, failure: null, survivorsEnded: 0 } as const;

/** A program to start, and when it ends. */
export interface LaunchSpec extends Pick<ProcessSpec, "stdin" | "timeoutMs" | "graceMs" | "survivors"> {
  readonly launch: Launch;
  readonly cookie: string;
}

interface LaunchControl {
  readonly signal?: AbortSignal;
  onStart?(pid: number): void;
}

/** How it ended, without what it printed: that goes to the sink as it comes. */
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
  /** The program is gone and both pipes are read to their ends. */
  readonly close: Promise<void>;
}

function watch(child: ChildProcess, sink: Pick<Collector, "push">): ChildEnd {
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (bytes: Buffer) => sink.push(stream, bytes));
    // A pipe that breaks has nothing more to say; the exit code tells the rest.
    child[stream]?.on("error", () => {});
  }
  return {
    exit: new Promise((resolve) => child.once("exit", () => resolve())),
    close: new Promise((resolve) => child.once("close", () => resolve())),
  };
}

function feed({ stdin: pipe }: ChildProcess, stdin: ProcessSpec["stdin"]): void {
  if (pipe === null || stdin === undefined) return;
  // A program need not read its input: that it closed the pipe is its own affair.
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
    // When we were busy for longer than that, bytes may wait to be read: they get their turn before the pipe is closed.
    () => nextTurn().then(() => nextTurn()),
    () => {},
  );
  await Promise.race([event, timer]);
  over.abort();
}

/** A process that still holds the other end writes into a closed pipe, and our own process is free to exit. */
function closePipes(child: ChildProcess): void {
  child.stdin?.destroy();
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
}

/** What ends a run from outside: its timeout or the caller's abort. The first one counts. */
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
    // It may have been given between the look before the start and now.
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
