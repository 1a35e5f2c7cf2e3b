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

/** How a program is started: everything the system is told. It is plain data, so that another process can start it. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  /** `program` is a line for the shell. */
  readonly shell: boolean;
}

export interface ProgramSpec {
  /** A line for the shell, or a program with its arguments, which no shell reads. */
  readonly command: string | readonly [program: string, ...args: string[]];
  readonly cwd: string;
  readonly env: Environment;
  /** Around programs that Remand does not trust. `null`: a tool of its own, such as git. */
  readonly sandbox: Sandbox | null;
  /** Folders, besides the checkout around `cwd`, that a program in a sandbox may write to. */
  readonly writes?: readonly string[];
  /** Folders in which it may write, and of which nothing is kept. */
  readonly copies?: readonly string[];
}

export interface OpenedLaunch {
  readonly launch: Launch;
  /** What `close` removes, for a program that outlives this process; `null`: nothing. */
  readonly cellFolder: string | null;
  /** After the program's end: removes what its sandbox was made of. */
  close(): Promise<void>;
}

/** The one place that decides how a program is started, whether this process or a supervisor starts it. */
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
  // Else the sandbox starts, and says in words of its own that the program does not.
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

/** Starts a program in a session and group of its own, with pipes for its output. */
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
    // Waiting here loses no output of a child that started: its streams do not flow before a listener is added.
    if (child.pid === undefined) throw (await once(child, "error"))[0];
    return { child, pid: child.pid };
  } catch (error) {
    return { failure: startFailure(error, program, cwd) };
  }
}

/** Why a program did not start, in words a person can act on. */
export interface StartFailure {
  /** The system's name for it: `ENOENT`, `EACCES`, … */
  readonly code: string;
  readonly message: string;
}

function startFailure(error: unknown, program: string, cwd: string): StartFailure {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
  // The system says the same of a missing folder as of a missing program, so the folder is looked at first.
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

/** Programs have the rights of the user. */
export const NO_SANDBOX: Sandbox = {
  level: { kind: "none", held: [], allowed: [] },
  open: ({ env, command }) => Promise.resolve({ env, commandLine: command, close: () => Promise.resolve() }),
};

/** How the folders are called that sandboxes keep their overlays in, one for each program. */
export const CELL_PREFIX = "remand-cell-";

/** After the program's end. Nothing else is ever removed, wherever the path comes from. */
export function removeCellFolder(path: string): void {
  if (!basename(path).startsWith(CELL_PREFIX)) return;
  // The kernel makes these folders so that their owner cannot remove them.
  for (let at = 0; existsSync(join(path, `${at}`)); at++)
    readOr(() => chmodSync(join(path, `${at}`, "work", "work"), 0o700), undefined);
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}

/** Removes folders in a process of its own, which may outlive this one. Says whether it could. */
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
  /** Holds what it prints. */
  readonly log: string;
}

export interface DetachedProgram {
  /** Its exit code, once it has ended; `null` while it runs. */
  exitCode(): number | null;
  /** The end of what it printed. */
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
