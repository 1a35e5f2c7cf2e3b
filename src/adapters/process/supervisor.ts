/**
 * The program that starts agents for an engine and outlives it: it records their output, ends them at their deadlines
 * and records how they ended. One per engine; it exits when the engine is gone and no agent is left.
 */
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { COOKIE_VARIABLE } from "./leftovers.ts";
import {
  cancelRequest,
  isAskedFor,
  noteStart,
  readInput,
  readRequest,
  readStatus,
  writeStatus,
  createOutputWriter,
  isFull,
} from "./run-files.ts";
import { type LaunchSpec, endAtOnce, runLaunch } from "./run-process.ts";

/** The engine requests a run whose folder exists, or says that a cancellation was recorded. */
export type SupervisorMessage =
  | {
      readonly type: "start";
      readonly folder: string;
      /** `null`: no limit. JSON has no `Infinity`. */
      readonly timeoutMs: number | null;
      readonly spec: Pick<LaunchSpec, "launch" | "cookie" | "graceMs" | "survivors">;
      readonly hasInput: boolean;
    }
  | { readonly type: "cancel" };

/** How often to look for recorded cancellations: an engine that found the run after a crash cannot send messages. */
const LOOK_MS = 250;

const [, , root = ""] = process.argv;
const running = new Map<string, AbortController>();
let isAlone = false;
let looking: NodeJS.Timeout | null = null;

process.on("message", (message: SupervisorMessage) => {
  if (message.type === "start") void run(message).catch(fail);
  else look();
});
process.on("disconnect", () => void leftAlone().catch(fail));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop());
process.on("uncaughtException", fail);

async function run(message: Extract<SupervisorMessage, { type: "start" }>): Promise<void> {
  const { folder, spec, timeoutMs, hasInput } = message;
  if (!isAskedFor(folder) || readStatus(folder) !== null) return;
  const stopping = new AbortController();
  running.set(folder, stopping);
  looking ??= setInterval(look, LOOK_MS);
  const output = createOutputWriter(folder);
  const ended = await runLaunch(
    { ...spec, timeoutMs: timeoutMs ?? Infinity, ...(hasInput ? { stdin: readInput(folder) } : {}) },
    output,
    // If the start cannot be recorded, an engine that looks for the run learns of it by the run's end.
    { signal: stopping.signal, onStart: (pid) => tryToWrite(folder, () => noteStart(folder, pid)) },
  );
  output.close();
  // The engine may have killed the program itself.
  const status = cancelRequest(folder) === null ? ended.status : "cancelled";
  const write = (): void => writeStatus(folder, { ...ended, status, lostBytes: output.lostBytes() });
  while (isAskedFor(folder) && !tryToWrite(folder, write)) await pause(ROOM_MS);
  running.delete(folder);
  exitWhenIdle();
}

/** How long to wait on a full disk before an agent's end is written again. */
const ROOM_MS = 1000;

/**
 * Returns whether the file could be written. Writing fails if the disk is full, or if the run's files were deleted by
 * the agent or by an engine that has read the status.
 */
function tryToWrite(folder: string, write: () => void): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (!isFull(error) && isAskedFor(folder)) throw error;
    return false;
  }
}

function look(): void {
  for (const [folder, stopping] of running) {
    const how = isAskedFor(folder) ? cancelRequest(folder) : "now";
    if (how === "now") endAtOnce();
    if (how !== null) stopping.abort();
  }
}

/**
 * Marks requests that never arrived as not started, because an engine that looks for those runs must not wait for them.
 */
async function leftAlone(): Promise<void> {
  await nextTurn();
  await nextTurn();
  const cookies = (process.env[COOKIE_VARIABLE] ?? "").split(",");
  for (const dispatch of readdirSync(root, { withFileTypes: true })) {
    if (!dispatch.isDirectory()) continue;
    for (const part of readdirSync(join(root, dispatch.name))) {
      const folder = join(root, dispatch.name, part);
      const request = readRequest(folder);
      const isOurs = request !== null && cookies.includes(request.supervisor.cookie);
      if (isOurs && !running.has(folder) && readStatus(folder) === null) writeStatus(folder, { status: "not-started" });
    }
  }
  isAlone = true;
  exitWhenIdle();
}

function exitWhenIdle(): void {
  if (running.size > 0) return;
  if (looking !== null) clearInterval(looking);
  looking = null;
  if (isAlone) process.exit(0);
}

/** A person, or a later engine, ends this process and its runs. */
function stop(): void {
  isAlone = true;
  for (const stopping of running.values()) stopping.abort();
  exitWhenIdle();
}

/** Exits. Engines see that this process is gone, and end its runs. */
function fail(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  appendFileSync(join(root, "supervisor-error.log"), `${new Date().toISOString()} ${text}\n`, { mode: 0o600 });
  process.exit(1);
}
