import { statSync } from "node:fs";

/** Why a program did not start, in words a person can act on. */
export interface StartFailure {
  /** The system's name for it: `ENOENT`, `EACCES`, … */
  readonly code: string;
  readonly message: string;
}

export function startFailure(error: unknown, program: string, cwd: string): StartFailure {
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
