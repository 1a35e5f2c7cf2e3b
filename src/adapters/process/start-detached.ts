import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

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
