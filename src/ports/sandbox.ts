import type { IsolationLevel } from "../core/events/isolation.ts";

/**
 * Runs programs that Remand does not trust: agents, and everything that runs their code. What a sandbox blocks is found
 * by tests on this machine, never assumed from the name of the program that makes it.
 */
export interface Sandbox {
  readonly level: IsolationLevel;
  /** Prepares the sandbox of one program. `close` ends it. */
  open(request: CellRequest): Promise<Cell>;
}

export interface CellRequest {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folders, in addition to the checkout around `cwd`, that the program may write to. */
  readonly writes: readonly string[];
  /** Folders that the program may write to, but whose changes are discarded. */
  readonly copies: readonly string[];
  /** The path at which the program sees the checkout around `cwd`; absent: its real path. */
  readonly shown?: { readonly folder: string; readonly at: string };
}

/** One program's sandbox. */
export interface Cell {
  readonly env: Readonly<Record<string, string>>;
  /** The command line that runs the program inside the sandbox. */
  readonly commandLine: readonly [string, ...string[]];
  /** The folder that `close` removes, for a program that outlives this process. */
  readonly folder?: string;
  /** Called after the program's end: removes what it wrote outside the folders that it may write to. */
  close(): Promise<void>;
}
