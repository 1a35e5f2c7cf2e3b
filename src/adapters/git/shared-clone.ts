import type { Environment } from "../process/environment.ts";
import type { Remote } from "./shared-remote.ts";

export interface CloneOptions {
  /** Any address that git knows: a path, git://, ssh, https. A login in it is kept to ourselves. */
  readonly remote: string;
  /** Where this worker's clone is, or is to be. One worker works there at a time. */
  readonly folder: string;
  /** The branch that work is for; by default the remote's own. */
  readonly branch?: string;
  readonly env?: Environment;
  readonly signal?: AbortSignal;
  onNotice?(text: string): void;
}

/** A worker's own clone: everything in it can be made anew from the remote. */
export interface Clone {
  /** The checkout, at the newest commit of the branch. */
  readonly root: string;
  /** The branch that work is for. */
  readonly branch: string;
  readonly remote: Remote;
  /** Gives the folder free for another worker. */
  close(): Promise<void>;
}

/** Makes a worker's clone, or finds it again, and fetches what its branch has got since then. Safe after any crash. */
export async function openClone(options: CloneOptions): Promise<Clone> {
  throw new Error(`not built yet: ${options.folder}`);
}
