import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readOr } from "./process-table.ts";
import type { LaunchEnd } from "./run-process.ts";

/** A process of this machine that cannot be taken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: number;
  readonly boot: string;
}

/** What the engine notes before it asks a supervisor to start a program. The environment is not part of it. */
export interface RunRequest {
  /** Carried by every process of the run. */
  readonly cookie: string;
  readonly supervisor: ProcessIdentity & { readonly cookie: string };
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** The supervisor ends it by then, in milliseconds since 1970; `null`: no limit. */
  readonly endsAt: number | null;
  /** What its sandbox is made of, to be removed after its end. */
  readonly cellFolder: string | null;
}

/** Written last, when nothing of the run is left. `not-started`: the engine died before it could ask for it. */
export type RunStatus = (LaunchEnd & { readonly lostBytes: number }) | { readonly status: "not-started" };

/** How a run is to be ended: as by a timeout, or with SIGKILL at once. */
export type CancelRequest = "politely" | "now";

export const readRequest = (folder: string): RunRequest | null =>
  readNote(join(folder, "request.json")) as RunRequest | null;
export const readStatus = (folder: string): RunStatus | null =>
  readNote(join(folder, "status.json")) as RunStatus | null;
export const hasStarted = (folder: string): boolean => readNote(join(folder, "started.json")) !== null;

export const writeRequest = (folder: string, request: RunRequest): void =>
  writeNote(join(folder, "request.json"), request);
export const writeStatus = (folder: string, status: RunStatus): void =>
  writeNote(join(folder, "status.json"), status, { lasting: true });
export const noteStart = (folder: string, pid: number): void => writeNote(join(folder, "started.json"), { pid });

export const requestCancel = (folder: string, how: CancelRequest): void =>
  writeFileSync(join(folder, "cancel"), how, PRIVATE);
export const cancelRequest = (folder: string): CancelRequest | null =>
  readOr(() => (readFileSync(join(folder, "cancel"), "utf8") === "now" ? "now" : "politely"), null);

export const writeInput = (folder: string, text: string): void => writeFileSync(join(folder, "stdin"), text, PRIVATE);
export const readInput = (folder: string): string => readFileSync(join(folder, "stdin"), "utf8");

/** Nothing but the user who runs Remand may read what agents are told and say. */
const PRIVATE = { mode: 0o600 };

/** A note is there whole or not at all. A lasting one is there after a power failure too. */
export function writeNote(path: string, note: object, { lasting = false } = {}): void {
  const fresh = `${path}.new`;
  const file = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    writeFileSync(file, `${JSON.stringify(note)}\n`);
    if (lasting) fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
  if (lasting) syncFolder(dirname(path));
}

function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** `null` where there is none. One that a full disk cut off is none either. */
export function readNote(path: string): object | null {
  const text = readOr(() => readFileSync(path, "utf8"), null);
  return text === null ? null : readOr(() => JSON.parse(text) as object, null);
}
