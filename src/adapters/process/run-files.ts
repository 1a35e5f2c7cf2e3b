import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  readdirSync,
  readSync,
  rmSync,
  writevSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readOr } from "./process-table.ts";
import type { LaunchEnd } from "./run-process.ts";
import type { Collector, OutputStream } from "./capture.ts";

/** Identifies a process, so that a later one with the same id is not taken for it. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: number;
  readonly boot: string;
}

/** What the engine records before it asks a supervisor to start a program. The environment is left out. */
export interface RunRequest {
  /** Set in the environment of every process of the run. */
  readonly cookie: string;
  readonly supervisor: ProcessIdentity & { readonly cookie: string };
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** The supervisor ends the program by this time, in milliseconds since 1970; `null`: no limit. */
  readonly endsAt: number | null;
  /** The folder of its sandbox, to be removed after its end. */
  readonly cellFolder: string | null;
}

/**
 * Written last, when no process of the run is left. `not-started`: the engine died before it could send the request.
 */
export type RunStatus = (LaunchEnd & { readonly lostBytes: number }) | { readonly status: "not-started" };

/** How to end a run: like a timeout does, or with SIGKILL at once. */
export type CancelRequest = "politely" | "now";

export const readRequest = (folder: string): RunRequest | null =>
  readNote(join(folder, "request.json")) as RunRequest | null;
export const readStatus = (folder: string): RunStatus | null =>
  readNote(join(folder, "status.json")) as RunStatus | null;
/**
 * Whether the request still exists. An agent may delete the files of its own run; then no engine waits for the result.
 */
export const isAskedFor = (folder: string): boolean => readRequest(folder) !== null;
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

/** Only the user who runs Remand may read what agents receive and print. */
const PRIVATE = { mode: 0o600 };

/** Writes a note atomically. A lasting note also survives a power failure. */
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

/** Reads a note; `null` if it is missing, or was cut off by a full disk. */
export function readNote(path: string): object | null {
  const text = readOr(() => readFileSync(path, "utf8"), null);
  return text === null ? null : readOr(() => JSON.parse(text) as object, null);
}

/** Output is kept in files of this size: the first one, and the last two of the others. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

const STREAMS: readonly OutputStream[] = ["stdout", "stderr"];
const HEADER_BYTES = 5;

/** Records a program's output in order, in at most three files; more is dropped from the middle. */
export interface OutputWriter extends Pick<Collector, "push"> {
  lostBytes(): number;
  close(): void;
}

export function createOutputWriter(folder: string, segmentBytes = SEGMENT_BYTES): OutputWriter {
  let index = 0;
  let written = 0;
  let lost = 0;
  let file: number | null = null;
  const sizes = new Map<number, number>();
  const segment = (number: number): string => join(folder, `output.${number}`);

  function rotate(): void {
    if (file !== null) closeSync(file);
    file = null;
    sizes.set(index, written);
    const old = index - 1;
    if (old > 0) {
      lost += sizes.get(old) ?? 0;
      sizes.delete(old);
      rmSync(segment(old), { force: true });
    }
    index++;
    written = 0;
  }

  return {
    push(stream, bytes) {
      if (written > 0 && written + bytes.length > segmentBytes) rotate();
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeUInt8(STREAMS.indexOf(stream), 0);
      header.writeUInt32BE(bytes.length, 1);
      try {
        file ??= openSync(segment(index), constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600);
        writevSync(file, [header, bytes]);
        written += bytes.length;
      } catch (error) {
        // The disk is full: the agent continues, and its output is lost meanwhile. Start a new file after a partial
        // record.
        if (!isFull(error) && isAskedFor(folder)) throw error;
        lost += bytes.length;
        if (written > 0) rotate();
      }
    },
    lostBytes: () => lost,
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

export const isFull = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["ENOSPC", "EDQUOT", "EFBIG"].includes(String(error.code));

/** Passes recorded output to a collector, from the beginning, as far as it goes. */
export interface OutputReader {
  /** Reads what is new. */
  read(): Promise<void>;
  /** Whether parts were dropped before they were read. */
  hasGaps(): boolean;
  close(): void;
}

export function createOutputReader(folder: string, sink: Pick<Collector, "push">): OutputReader {
  const records = createRecordReader(sink);
  let index = 0;
  let file: number | null = null;
  let hasGaps = false;
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);

  function markGap(): void {
    hasGaps = true;
    sink.push("stdout", Buffer.from(GAP));
  }

  /** Keeps the file open while reading, so that the writer may remove it. */
  function openNext(): boolean {
    const next = segmentsIn(folder).find((each) => each >= index);
    if (next === undefined) return false;
    if (next > index) markGap();
    index = next;
    file = readOr(() => openSync(join(folder, `output.${next}`), constants.O_RDONLY), null);
    return file !== null;
  }

  async function readToEnd(from: number): Promise<void> {
    for (let read = 1; read > 0; await nextTurn()) {
      read = readSync(from, chunk, 0, CHUNK_BYTES, null);
      records.push(chunk.subarray(0, read));
    }
  }

  function close(): void {
    if (file !== null) closeSync(file);
    file = null;
  }

  return {
    async read() {
      while (file !== null || openNext()) {
        await readToEnd(file!);
        // A file is complete only after the next one was started.
        if (!segmentsIn(folder).some((each) => each > index)) return;
        await readToEnd(file!);
        if (records.dropRest()) markGap();
        close();
        index++;
      }
    },
    hasGaps: () => hasGaps,
    close,
  };
}

/** Joins records that arrive in pieces. */
function createRecordReader(sink: Pick<Collector, "push">): { push(bytes: Buffer): void; dropRest(): boolean } {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(bytes) {
      rest = Buffer.concat([rest, bytes]);
      let at = 0;
      while (rest.length - at >= HEADER_BYTES) {
        const end = at + HEADER_BYTES + rest.readUInt32BE(at + 1);
        if (end > rest.length) break;
        sink.push(STREAMS[rest.readUInt8(at)] ?? "stdout", rest.subarray(at + HEADER_BYTES, end));
        at = end;
      }
      rest = rest.subarray(at);
    },
    /** Drops a partial record. Returns whether there was one. */
    dropRest() {
      const isHalf = rest.length > 0;
      rest = Buffer.alloc(0);
      return isHalf;
    },
  };
}

const CHUNK_BYTES = 256 * 1024;
const GAP = "\n[output is missing here: the program printed more than is kept]\n";

function segmentsIn(folder: string): number[] {
  const names = readOr(() => readdirSync(folder), []);
  const numbers = names.flatMap((name) => (/^output\.\d+$/.test(name) ? [Number(name.slice("output.".length))] : []));
  return numbers.sort((a, b) => a - b);
}
