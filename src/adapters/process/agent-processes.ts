import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, basename, dirname } from "node:path";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AgentRequest, AgentRuns } from "../../ports/agent.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { type ProcessControl, type ProcessResult, type ProcessSpec, runProcess } from "./run-process.ts";
import { removeCellFolder } from "./launch.ts";
import { killLeftovers } from "./leftovers.ts";
import { readOr } from "./process-table.ts";
import { makeTempFolder } from "./temp-folders.ts";
import { readNote, readRequest, readStatus, writeNote } from "./run-files.ts";
import {
  type RunState,
  followRun,
  isRunning,
  stateOfRun,
  type Supervisor,
  type SupervisorOptions,
  createSupervisor,
} from "./supervised-run.ts";

/** Runs the programs of agents that get all their input at the start. */
export interface AgentProcesses {
  open(call: Pick<AgentRequest, "key" | "turn">): Promise<AgentDispatch>;
}

/** One call of an agent. It may run more than one program. */
export interface AgentDispatch {
  /** A folder outside of every worktree for files that the engine and the agent exchange. */
  readonly folder: string;
  /** Whether an engine that died made this call: its files exist, and its program is found instead of started. */
  readonly isResumed: boolean;
  run(spec: ProcessSpec, control: ProcessControl): Promise<ProcessResult>;
  close(): Promise<void>;
}

/** Runs programs that end with this process, or are left for `killLeftovers`. */
export function createPlainProcesses(tempFolder: string = tmpdir()): AgentProcesses {
  return {
    async open() {
      const folder = await makeTempFolder(DISPATCH_PREFIX, tempFolder);
      return { folder, isResumed: false, run: runProcess, close: () => rm(folder, { recursive: true, force: true }) };
    },
  };
}

const DISPATCH_PREFIX = "remand-agent-";

export interface SupervisedAgents extends AgentRuns {
  /**
   * Returns the processes of one role, because one dispatch may use several roles. `agent` identifies the program that
   * has the role now; results of another program are not reused.
   */
  forRole(role: string, agent: string): AgentProcesses;
  /** Returns the reports that agents of this role make by tools. */
  reportsOf(role: string): KeptReports;
}

interface SupervisedAgentsOptions extends SupervisorOptions {
  readonly tempFolder?: string;
}

/** Returns the path of the supervisor's program; `null` if it was not built, as when tests run the sources. */
export function supervisorProgram(): string | null {
  const path = fileURLToPath(new URL("./supervisor.js", import.meta.url));
  return existsSync(path) ? path : null;
}

/**
 * Runs agents under a supervisor, so that they and their results survive the death of this process. A call that an
 * earlier engine made is not repeated: its output is read from the beginning, and its end is awaited.
 */
export function createSupervisedAgents(options: SupervisedAgentsOptions): SupervisedAgents {
  const { folder, tempFolder = tmpdir() } = options;
  const supervisor = createSupervisor(options);
  const dispatches = createDispatches(folder, tempFolder, supervisor);
  const players = new Map<string, string>();
  const isCurrent = (note: DispatchNote | null): boolean => note !== null && players.get(note.role) === note.agent;
  const partsOf = (key: string): string[] =>
    foldersIn(folder)
      .filter((path) => keyOf(path) === key && isCurrent(noteIn(path)))
      .flatMap(foldersIn);
  return {
    forRole(role, agent) {
      players.set(role, agent);
      return { open: ({ key, turn }) => dispatches.open({ key, role, agent }, turn) };
    },
    reportsOf: (role) => createKeptReports(folder, role),
    async has(key) {
      for (const part of partsOf(key)) if (isThere(await stateOfRun(part))) return true;
      return false;
    },
    async endUnfinished(key) {
      for (const part of partsOf(key)) await endRun(part);
    },
    async drop(story) {
      const owner = story ?? "@project";
      for (const path of foldersIn(folder))
        if (ownerOf(keyOf(path) ?? "") === owner) await removeDispatch(path, tempFolder);
      removeReports(folder, (key) => ownerOf(key) === owner);
    },
    async dropAllBut(keys) {
      for (const path of foldersIn(folder)) if (!keys.has(keyOf(path) ?? "")) await removeDispatch(path, tempFolder);
      removeReports(folder, (key) => !keys.has(key));
    },
  };
}

interface Dispatches {
  open(of: Omit<DispatchNote, "scratch">, turn: number): Promise<AgentDispatch>;
}

function createDispatches(folder: string, tempFolder: string, supervisor: Supervisor): Dispatches {
  /** Names in use, because two calls of the same role may run in one dispatch. */
  const isOpen = new Set<string>();
  return {
    async open(of, turn) {
      const id = sha256(JSON.stringify([of.key, of.role, turn])).slice(0, 24);
      let name = id;
      for (let again = 2; isOpen.has(name); again++) name = `${id}-${again}`;
      isOpen.add(name);
      const path = join(folder, name);
      const known = scratchOf(path, tempFolder);
      const isSame = known !== null && existsSync(known) && noteIn(path)?.agent === of.agent;
      const isResumed = isSame && isThere(await stateOfRun(join(path, "0")));
      if (!isResumed) await removeDispatch(path, tempFolder);
      let parts = 0;
      return {
        folder: isResumed ? known : createDispatch(path, of, tempFolder),
        isResumed,
        run: (spec, control) => run(supervisor, join(path, String(parts++)), spec, control),
        // The files stay until the journal has the result.
        close: () => Promise.resolve(void isOpen.delete(name)),
      };
    },
  };
}

function createDispatch(path: string, of: Omit<DispatchNote, "scratch">, tempFolder: string): string {
  const scratch = mkdtempSync(join(tempFolder, DISPATCH_PREFIX));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  writeNote(join(path, NOTE), { ...of, scratch } satisfies DispatchNote);
  return scratch;
}

async function removeDispatch(path: string, tempFolder: string): Promise<void> {
  for (const part of foldersIn(path)) {
    await endRun(part);
    const cell = readRequest(part)?.cellFolder ?? null;
    if (cell !== null) removeCellFolder(cell);
  }
  const scratch = scratchOf(path, tempFolder);
  if (scratch !== null) rmSync(scratch, { recursive: true, force: true });
  rmSync(path, { recursive: true, force: true });
}

/** Follows the earlier run, or starts one. */
async function run(
  supervisor: Supervisor,
  path: string,
  spec: ProcessSpec,
  control: ProcessControl,
): Promise<ProcessResult> {
  const earlier = readRequest(path);
  if (earlier !== null && isThere(await stateOfRun(path)))
    return followRun(path, earlier, spec, control, supervisor.notify);
  await endRun(path);
  rmSync(path, { recursive: true, force: true });
  // Cancelled before the start.
  if (control.signal?.aborted === true) return runProcess(spec, control);
  return followRun(path, await supervisor.start(path, spec), spec, control, supervisor.notify);
}

/** Returns the cookies of supervisors and their runs, which are not leftovers of a crash. */
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
  readonly role: string;
  /** The program that has the role. */
  readonly agent: string;
  /** The folder for files that the engine and the agent exchange. */
  readonly scratch: string;
}

const NOTE = "dispatch.json";
const noteIn = (path: string): DispatchNote | null => readNote(join(path, NOTE)) as DispatchNote | null;
const keyOf = (path: string): string | null => noteIn(path)?.key ?? null;
/** A key is the story, or `@project`, and a number. */
const ownerOf = (key: string): string => key.slice(0, key.lastIndexOf(":"));

/** Returns the folder only if Remand made it, because it is removed with everything in it. */
function scratchOf(path: string, tempFolder: string): string | null {
  const scratch = noteIn(path)?.scratch ?? null;
  const isOurs = scratch !== null && dirname(scratch) === tempFolder && basename(scratch).startsWith(DISPATCH_PREFIX);
  return isOurs ? scratch : null;
}

function foldersIn(path: string): string[] {
  const entries = readOr(() => readdirSync(path, { withFileTypes: true }), []);
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(path, entry.name)] : []));
}

/** Ends what still runs of this run. */
async function endRun(path: string): Promise<void> {
  const request = readRequest(path);
  if (request === null) return;
  const state = await stateOfRun(path);
  if (state === "running") await followRun(path, request, {}, { signal: AbortSignal.abort() });
  if (state === "lost") await killLeftovers(request.cookie);
}

/**
 * Reports of agents that outlive the engine, with the address of the server that received them: the next engine
 * continues both.
 */
export interface KeptReports {
  open(call: Pick<AgentRequest, "key" | "turn">): KeptReport;
}

/** The report of one call of an agent. */
export interface KeptReport {
  /** What a dead engine wrote; `null` if there is nothing. */
  readonly last: object | null;
  write(report: object): void;
  /** Closes the report. Its file stays until the journal has the result. */
  close(): void;
}

function createKeptReports(folder: string, role: string): KeptReports {
  /** Names in use, because two calls of the same role may run in one dispatch. */
  const isOpen = new Set<string>();
  return {
    open({ key, turn }) {
      const id = sha256(JSON.stringify([key, role, turn])).slice(0, 24);
      let name = `${id}${SUFFIX}`;
      for (let again = 2; isOpen.has(name); again++) name = `${id}-${again}${SUFFIX}`;
      isOpen.add(name);
      const path = join(folder, name);
      const note = readNote(path) as KeptNote | null;
      return {
        last: note?.key === key ? note.report : null,
        write(report) {
          mkdirSync(folder, { recursive: true, mode: 0o700 });
          writeNote(path, { key, report } satisfies KeptNote);
        },
        close: () => void isOpen.delete(name),
      };
    },
  };
}

/** Removes the reports of dispatches that are over. */
function removeReports(folder: string, isOver: (key: string) => boolean): void {
  for (const name of readOr(() => readdirSync(folder), []))
    if (name.endsWith(SUFFIX) && isOver((readNote(join(folder, name)) as KeptNote | null)?.key ?? ""))
      rmSync(join(folder, name), { force: true });
}

interface KeptNote {
  readonly key: string;
  readonly report: object;
}

const SUFFIX = ".report.json";
