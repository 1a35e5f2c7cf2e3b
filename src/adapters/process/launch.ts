import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { Environment } from "./environment.ts";
import { COOKIE_VARIABLE, cookieValue } from "./leftovers.ts";
import { entranceTo } from "./mounted-folder.ts";

/** How a program is started: everything the system is told. It is plain data, so that another process can start it. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  /** `program` is a line for the shell. */
  readonly shell: boolean;
}

interface ProgramSpec {
  readonly command: string | readonly [program: string, ...args: string[]];
  readonly cwd: string;
  readonly env: Environment;
}

/** The one place that decides how a program is started, whether this process or a supervisor starts it. */
export function launchOf({ command, cwd, env }: ProgramSpec, cookie: string): Launch {
  const entrance = entranceTo(cwd);
  const plain = typeof command === "string" ? ([command] as const) : command;
  const inside = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
  const [program, ...args] = entrance === null ? plain : ([...entrance, ...inside] as const);
  return {
    program,
    args,
    cwd: entrance === null ? cwd : "/",
    env: { ...env, [COOKIE_VARIABLE]: cookieValue(env[COOKIE_VARIABLE] ?? process.env[COOKIE_VARIABLE], cookie) },
    shell: entrance === null && typeof command === "string",
  };
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
