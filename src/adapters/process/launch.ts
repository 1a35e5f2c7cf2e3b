import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  constants,
  statSync,
  chmodSync,
  existsSync,
  rmSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
} from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, resolve, basename, join, dirname } from "node:path";
import type { Cell, Sandbox } from "../../ports/sandbox.ts";
import type { Environment } from "./environment.ts";
import { COOKIE_VARIABLE, cookieValue } from "./leftovers.ts";
import { entranceTo, shownFolderAround } from "./mounted-folder.ts";
import { readOr } from "./process-table.ts";

/** Everything that the system needs to start a program, as plain data, so that another process can start it. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  /** Whether `program` is a shell command line. */
  readonly shell: boolean;
}

export interface ProgramSpec {
  /** A shell command line, or a program with its arguments, which no shell reads. */
  readonly command: string | readonly [program: string, ...args: string[]];
  readonly cwd: string;
  readonly env: Environment;
  /** The sandbox of a program that Remand does not trust. `null`: one of Remand's own tools, such as git. */
  readonly sandbox: Sandbox | null;
  /** Folders, besides the checkout around `cwd`, that a sandboxed program may write to. */
  readonly writes?: readonly string[];
  /** Folders that it may write to, whose changes are thrown away. */
  readonly copies?: readonly string[];
}

export interface OpenedLaunch {
  readonly launch: Launch;
  /** The folder that `close` removes, for a program that outlives this process; `null`: none. */
  readonly cellFolder: string | null;
  /** Removes the sandbox's files. Call after the program's end. */
  close(): Promise<void>;
}

/**
 * Decides how a program is started. This is the only place that does, whether this process or a supervisor starts it.
 */
export async function openLaunch(spec: ProgramSpec, cookie: string): Promise<OpenedLaunch | { failure: StartFailure }> {
  const { command, cwd } = spec;
  const entrance = entranceTo(cwd);
  const plain = typeof command === "string" ? ([command] as const) : command;
  try {
    const cell = await openCell(spec);
    const isWrapped = entrance !== null || cell !== null;
    const [program, ...args] = isWrapped ? [...(entrance ?? []), ...(cell?.commandLine ?? argumentsOf(spec))] : plain;
    const env = cell?.env ?? spec.env;
    const launch: Launch = {
      program,
      args,
      cwd: entrance === null ? cwd : "/",
      env: { ...env, [COOKIE_VARIABLE]: cookieValue(env[COOKIE_VARIABLE] ?? process.env[COOKIE_VARIABLE], cookie) },
      shell: !isWrapped && typeof command === "string",
    };
    return { launch, cellFolder: cell?.folder ?? null, close: async () => cell?.close() };
  } catch (error) {
    return { failure: startFailure(error, plain[0], cwd) };
  }
}

const argumentsOf = ({ command }: ProgramSpec): readonly [string, ...string[]] =>
  typeof command === "string" ? ["/bin/sh", "-c", command] : command;

async function openCell(spec: ProgramSpec): Promise<Cell | null> {
  const { sandbox, cwd, env, writes = [], copies = [] } = spec;
  if (sandbox === null || sandbox.level.kind === "none") return null;
  const command = argumentsOf(spec);
  // Otherwise the sandbox starts, and reports the missing program in its own words.
  await assertRunnable(command[0], env["PATH"] ?? "", cwd);
  const shown = shownFolderAround(cwd);
  return sandbox.open({ command, cwd, env, writes, copies, ...(shown === null ? {} : { shown }) });
}

async function assertRunnable(program: string, path: string, cwd: string): Promise<void> {
  const places = program.includes("/")
    ? [resolve(cwd, program)]
    : path.split(delimiter).map((folder) => resolve(cwd, folder, program));
  let failure: unknown = Object.assign(new Error("not on the PATH"), { code: "ENOENT" });
  for (const place of places) {
    try {
      return await access(place, constants.X_OK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") failure = error;
    }
  }
  throw failure;
}

/** Starts a program in its own session and process group, with pipes for its output. */
export async function startLaunch(
  { program, args, cwd, env, shell }: Launch,
  hasInput: boolean,
): Promise<{ child: ChildProcess; pid: number } | { failure: StartFailure }> {
  try {
    const child = spawn(program, args, {
      cwd,
      env,
      shell,
      detached: true,
      windowsHide: true,
      stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe"],
    });
    // Waiting here loses no output: the streams of a started child do not flow before a listener is added.
    if (child.pid === undefined) throw (await once(child, "error"))[0];
    return { child, pid: child.pid };
  } catch (error) {
    return { failure: startFailure(error, program, cwd) };
  }
}

/** Why a program did not start, with a message that a person can act on. */
export interface StartFailure {
  /** The system's error code: `ENOENT`, `EACCES`, … */
  readonly code: string;
  readonly message: string;
}

function startFailure(error: unknown, program: string, cwd: string): StartFailure {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
  // Check the folder first: the system reports the same error for a missing folder as for a missing program.
  const folder = folderProblem(cwd);
  if (folder !== null) return { code, message: folder };
  return { code, message: MESSAGES[code]?.(program) ?? `${program} could not be started: ${messageOf(error)}` };
}

const MESSAGES: Readonly<Record<string, (program: string) => string>> = {
  ENOENT: (program) => `there is no program ${program}`,
  EACCES: (program) => `${program} may not be run: permission denied`,
  ENOEXEC: (program) => `${program} is not a program this machine can run`,
  E2BIG: (program) => `the arguments or the environment of ${program} are too long for this system`,
  EAGAIN: (program) => `${program} could not be started: the system allows no more processes`,
  EMFILE: (program) => `${program} could not be started: too many files are open`,
  ENFILE: (program) => `${program} could not be started: too many files are open on this system`,
};

function folderProblem(cwd: string): string | null {
  try {
    return statSync(cwd).isDirectory() ? null : `${cwd} is not a folder`;
  } catch {
    return `there is no folder ${cwd}`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** No sandbox: programs have the rights of the user. */
export const NO_SANDBOX: Sandbox = {
  level: { kind: "none", held: [], allowed: [] },
  open: ({ env, command }) => Promise.resolve({ env, commandLine: command, close: () => Promise.resolve() }),
};

/** The prefix of the folders that hold a sandbox's overlays, one folder per program. */
export const CELL_PREFIX = "remand-cell-";

/** Removes a sandbox's folder after the program's end. Removes nothing else, wherever the path comes from. */
export function removeCellFolder(path: string): void {
  if (!basename(path).startsWith(CELL_PREFIX)) return;
  // The kernel makes these folders so that their owner cannot remove them.
  for (let at = 0; existsSync(join(path, `${at}`)); at++)
    readOr(() => chmodSync(join(path, `${at}`, "work", "work"), 0o700), undefined);
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}

/** Removes folders in a separate process, which may outlive this one. Resolves to whether it succeeded. */
export function startRemoval(paths: readonly string[]): Promise<boolean> {
  const child = spawn("rm", ["-rf", "--", ...paths], { detached: true, stdio: "ignore" });
  child.unref();
  return new Promise((done) => {
    child.on("error", () => done(false));
    child.on("close", (code) => done(code === 0));
  });
}

export interface DetachedSpec {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file for its output. */
  readonly log: string;
}

export interface DetachedProgram {
  /** Returns its exit code; `null` while it runs. */
  exitCode(): number | null;
  /** Returns the end of its output. */
  lastOutput(): string;
}

/** Starts a program that outlives this one, as if a person had started it in another terminal. */
export function startDetached({ command: [program, ...args], cwd, env, log }: DetachedSpec): DetachedProgram {
  mkdirSync(dirname(log), { recursive: true });
  const file = openSync(log, "w", 0o600);
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", file, file] });
  closeSync(file);
  let code: number | null = null;
  child.once("exit", (ended, signal) => (code = ended ?? (signal === null ? 1 : 143)));
  child.once("error", () => (code = 1));
  child.unref();
  return { exitCode: () => code, lastOutput: () => readFileSync(log, "utf8").slice(-LAST_CHARS) };
}

const LAST_CHARS = 2000;
