import type { IsolationLevel } from "../core/events/isolation.ts";

/**
 * Where programs run that Remand does not trust: agents, and everything that runs their code. What a sandbox keeps from
 * them is found out by trying it on this machine, never by the name of the program that makes it.
 */
export interface Sandbox {
  readonly level: IsolationLevel;
  /** Makes ready the sandbox of one program. It ends with `close`. */
  open(request: CellRequest): Promise<Cell>;
}

export interface CellRequest {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folders, besides the checkout around `cwd`, that the program may write to. */
  readonly writes: readonly string[];
  /** Folders in which it may write, and of which nothing is kept. */
  readonly copies: readonly string[];
  /** The checkout around `cwd` is at another path for the program. Absent: where it is. */
  readonly shown?: { readonly folder: string; readonly at: string };
}

/** One program's sandbox. */
export interface Cell {
  readonly env: Readonly<Record<string, string>>;
  /** What is started so that the program runs inside. */
  readonly commandLine: readonly [string, ...string[]];
  /** What `close` removes, for a program that outlives this process. */
  readonly folder?: string;
  /** After the program's end: removes what it wrote outside of the folders that it may write to. */
  close(): Promise<void>;
}
