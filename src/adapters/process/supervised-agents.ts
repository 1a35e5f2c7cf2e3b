import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentRequest } from "../../ports/agent.ts";
import type { AgentRuns } from "../../ports/agent-runs.ts";
import { assert } from "../../stdx/assert.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { type AgentDispatch, type AgentProcesses, DISPATCH_PREFIX } from "./agent-processes.ts";
import { launchOf } from "./launch.ts";
import { COOKIE_VARIABLE, cookieValue, killLeftovers } from "./leftovers.ts";
import { readOr } from "./process-table.ts";
import {
  type RunRequest,
  readNote,
  readRequest,
  readStatus,
  writeInput,
  writeNote,
  writeRequest,
} from "./run-files.ts";
import { type ProcessControl, type ProcessResult, type ProcessSpec, runProcess } from "./run-process.ts";
import { type RunState, followRun, identityOf, isRunning, stateOfRun } from "./supervised-run.ts";
import type { SupervisorMessage } from "./supervisor.ts";

export interface SupervisedAgents extends AgentRuns {
  /** Roles are told apart, because one dispatch may ask several. */
  forRole(role: string): AgentProcesses;
}

export interface SupervisedAgentsOptions {
  /** Holds the runs. Nothing else is kept there. */
  readonly folder: string;
  /** The cookie of what the engine starts. */
  readonly cookie: string | undefined;
  readonly program: string;
  readonly tempFolder?: string;
}

/** The supervisor's program; `null` where it was not built, as when tests run the sources. */
export function supervisorProgram(): string | null {
  const path = fileURLToPath(new URL("./supervisor.js", import.meta.url));
  return existsSync(path) ? path : null;
}

/**
 * Agents whose programs are held by a supervisor, so that they and their results survive the death of this process.
 * A call that an earlier engine has made already is not made again: what its program printed is read from the
 * beginning, and its end is waited for.
 */
export function createSupervisedAgents(options: SupervisedAgentsOptions): SupervisedAgents {
  const { folder, tempFolder = tmpdir() } = options;
  const supervisor = createSupervisor(options);
  /** Two calls of the same role may be under way in one dispatch. */
  const isOpen = new Set<string>();

  async function open(role: string, { key, turn }: Pick<AgentRequest, "key" | "turn">): Promise<AgentDispatch> {
    const id = sha256(JSON.stringify([key, role, turn])).slice(0, 24);
    let name = id;
    for (let again = 2; isOpen.has(name); again++) name = `${id}-${again}`;
    isOpen.add(name);
    const path = join(folder, name);
    const known = scratchOf(path, tempFolder);
    const isResumed = known !== null && existsSync(known) && isThere(await stateOfRun(join(path, "0")));
    if (!isResumed) await remove(path);
    const scratch = isResumed ? known : mkdtempSync(join(tempFolder, DISPATCH_PREFIX));
    if (!isResumed) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      writeNote(join(path, NOTE), { key, scratch } satisfies DispatchNote);
    }
    let parts = 0;
    return {
      folder: scratch,
      isResumed,
      run: (spec, control) => run(join(path, String(parts++)), spec, control),
      // Its files stay until the journal has the result.
      close: () => Promise.resolve(void isOpen.delete(name)),
    };
  }

  async function run(path: string, spec: ProcessSpec, control: ProcessControl): Promise<ProcessResult> {
    if (isThere(await stateOfRun(path))) return followRun(path, spec, control, supervisor.notify);
    await endRun(path);
    rmSync(path, { recursive: true, force: true });
    // Ended before it began.
    if (control.signal?.aborted === true) return runProcess(spec, control);
    await supervisor.start(path, spec);
    return followRun(path, spec, control, supervisor.notify);
  }

  async function remove(path: string): Promise<void> {
    for (const part of foldersIn(path)) await endRun(part);
    const scratch = scratchOf(path, tempFolder);
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true });
    rmSync(path, { recursive: true, force: true });
  }

  return {
    forRole: (role) => ({ open: (call) => open(role, call) }),
    async has(key) {
      const dispatches = foldersIn(folder).filter((path) => keyOf(path) === key);
      for (const part of dispatches.flatMap(foldersIn)) if (isThere(await stateOfRun(part))) return true;
      return false;
    },
    async drop(story) {
      const owner = story ?? "@project";
      for (const path of foldersIn(folder)) if (ownerOf(keyOf(path) ?? "") === owner) await remove(path);
    },
    async dropAllBut(keys) {
      for (const path of foldersIn(folder)) if (!keys.has(keyOf(path) ?? "")) await remove(path);
    },
  };
}

/** The cookies of what runs under a supervisor, and of the supervisors: they are not left over from a crash. */
export async function supervisedCookies(folder: string): Promise<readonly string[]> {
  const cookies: string[] = [];
  for (const part of foldersIn(folder).flatMap(foldersIn)) {
    const request = readRequest(part);
    if (request === null || readStatus(part) !== null || !(await isRunning(request.supervisor))) continue;
    cookies.push(request.cookie, request.supervisor.cookie);
  }
  return [...new Set(cookies)];
}

const isThere = (state: RunState): boolean => state === "finished" || state === "running";

interface DispatchNote {
  readonly key: string;
  /** The folder for the files that the agent and we hand to each other. */
  readonly scratch: string;
}

const NOTE = "dispatch.json";
const noteIn = (path: string): DispatchNote | null => readNote<DispatchNote>(join(path, NOTE));
const keyOf = (path: string): string | null => noteIn(path)?.key ?? null;
/** A key is the story, or `@project`, and a number. */
const ownerOf = (key: string): string => key.slice(0, key.lastIndexOf(":"));

/** It will be removed with all that is in it, so it must be one that we made. */
function scratchOf(path: string, tempFolder: string): string | null {
  const scratch = noteIn(path)?.scratch ?? null;
  const isOurs = scratch !== null && dirname(scratch) === tempFolder && basename(scratch).startsWith(DISPATCH_PREFIX);
  return isOurs ? scratch : null;
}

function foldersIn(path: string): string[] {
  const entries = readOr(() => readdirSync(path, { withFileTypes: true }), []);
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(path, entry.name)] : []));
}

/** Ends what still runs of it. */
async function endRun(path: string): Promise<void> {
  const state = await stateOfRun(path);
  if (state === "running") await followRun(path, {}, { signal: AbortSignal.abort() });
  if (state === "lost") await killLeftovers(readRequest(path)!.cookie);
}

interface Supervisor {
  /** Has it start a program. Resolves when it was asked to, which a crash of this process cannot take back. */
  start(path: string, spec: ProcessSpec): Promise<void>;
  notify(): void;
}

interface RunningSupervisor {
  readonly child: ChildProcess;
  readonly about: RunRequest["supervisor"];
}

/** One supervisor for all agents of this process, started with the first of them. */
function createSupervisor({ folder, cookie: engineCookie, program }: SupervisedAgentsOptions): Supervisor {
  let current: Promise<RunningSupervisor> | null = null;

  async function begin(): Promise<RunningSupervisor> {
    const cookie = `supervisor-${randomBytes(8).toString("hex")}`;
    // Programs that it starts can read the environment it was started with, so there is nothing in it.
    const env = { PATH: process.env["PATH"] ?? "", [COOKIE_VARIABLE]: cookieValue(engineCookie, cookie) };
    const child = spawn(process.execPath, [program, folder], {
      cwd: "/",
      env,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.once("exit", () => (current = null));
    // A message that cannot be sent any more: the run is lost, which who follows it will see.
    child.on("error", () => (current = null));
    // It keeps nothing waiting: who follows a run does.
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
      writeRequest(path, { cookie, supervisor: about, startedAt, endsAt });
      const message: SupervisorMessage = {
        type: "start",
        folder: path,
        timeoutMs: Number.isFinite(timeoutMs) ? timeoutMs : null,
        spec: { ...pick(spec), launch: launchOf(spec, cookie), cookie },
        hasInput: stdin !== undefined,
      };
      if (child.connected) child.send(message);
    },
    notify: () =>
      void current?.then(({ child }) => child.connected && child.send({ type: "cancel" } satisfies SupervisorMessage)),
  };
}

const pick = ({ graceMs, survivors }: ProcessSpec): Pick<ProcessSpec, "graceMs" | "survivors"> => ({
  ...(graceMs === undefined ? {} : { graceMs }),
  ...(survivors === undefined ? {} : { survivors }),
});
