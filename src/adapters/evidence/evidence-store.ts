import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import { type EvidenceId, evidenceId } from "../../core/events/ids.ts";
import { isHiddenText } from "../../core/gates/check-output.ts";
import type { Evidence } from "../../ports/evidence.ts";
import { assert } from "../../stdx/assert.ts";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { type SecretRules, redactSecrets } from "../../parse/secrets/secrets.ts";
import { ownRedactor } from "../process/own-secrets.ts";

/**
 * Stores output in files named after their content's hash. Files are gzip, so that a person can read them with `zcat`.
 * A file is never incomplete: it is written to a temporary file, synced and renamed.
 */
export function createEvidenceStore(folder: string, options: EvidenceOptions = {}): Evidence {
  const placeOf = (id: EvidenceId): string => {
    assert(isEvidenceId(id), `an id of evidence is a hash: ${id}`);
    return join(folder, id.slice(0, 2), `${id.slice(2)}.gz`);
  };
  return {
    keep: async (text) => {
      const { id, bytes } = prepareEvidence(text, options);
      const place = placeOf(id);
      if (!(await isWhole(place, id))) await write(place, await packed(bytes));
      return id;
    },
    read: async (id) => (isEvidenceId(id) ? read(placeOf(id), id) : null),
    placeOf,
    ...(options.shownIn === undefined ? {} : { show: showIn(options.shownIn, (id) => read(placeOf(id), id)) }),
  };
}

/** Writes plain copies for agents, named by the start of the id. Removes the oldest when there are too many. */
function showIn(folder: string, textOf: (id: EvidenceId) => Promise<string | null>): Required<Evidence>["show"] {
  return async (id) => {
    const text = isEvidenceId(id) ? await textOf(id) : null;
    if (text === null || isHiddenText(text)) return null;
    const path = join(folder, `${id.slice(0, 12)}.log`);
    await write(path, Buffer.from(text));
    const files = await filesByAge(folder);
    await Promise.all(files.slice(MOST_SHOWN).map((file) => rm(join(folder, file), { force: true })));
    return path;
  };
}

const MOST_SHOWN = 100;

async function filesByAge(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? 0 })),
  );
  return dated.sort((a, b) => b.at - a.at).map(({ name }) => name);
}

async function read(place: string, id: EvidenceId): Promise<string | null> {
  let found: Buffer;
  try {
    found = await readFile(place);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw asEvidenceError(error, "read", place);
  }
  const text = await unpackEvidence(found, id);
  if (text !== null) return text;
  throw new RemandError(
    "evidence-corrupt",
    `the evidence ${place} is damaged`,
    "Bring the file back from a backup, or delete it: then it counts as lost, not as changed.",
  );
}

/** Whether the stored file is intact. A damaged file is written again, since the text is at hand. */
async function isWhole(place: string, id: EvidenceId): Promise<boolean> {
  try {
    return (await read(place, id)) !== null;
  } catch (error) {
    if (error instanceof RemandError && error.code === "evidence-corrupt") return false;
    throw error;
  }
}

async function write(place: string, bytes: Buffer): Promise<void> {
  const beside = `${place}.${randomBytes(6).toString("hex")}.new`;
  try {
    const made = await mkdir(dirname(place), { recursive: true });
    if (made !== undefined) await syncFolder(dirname(made));
    const file = await open(beside, "wx");
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, place);
    await syncFolder(dirname(place));
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw asEvidenceError(error, "write", place);
  }
}

/**
 * Syncs the folder, because the journal refers to the file next: its name must be on disk first. Windows does not need
 * it.
 */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function asEvidenceError(error: unknown, verb: string, place: string): RemandError {
  const reason = error instanceof Error ? error.message : String(error);
  const hint =
    codeOf(error) === "ENOSPC" ? "Make room on the disk." : "Check that the folder is there and may be written to.";
  return new RemandError("file-unreadable", `cannot ${verb} the evidence ${place}: ${reason}`, hint, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

export interface EvidenceOptions {
  /** A longer text keeps only its beginning and its end. */
  readonly maxBytes?: number;
  readonly secrets?: SecretRules;
  /** The folder for plain copies that agents can read. */
  readonly shownIn?: string;
}

/** Prepares a text for storage, and returns its bytes and the id of its content. */
export function prepareEvidence(
  text: string,
  options: EvidenceOptions,
): { readonly id: EvidenceId; readonly bytes: Buffer } {
  // Redact before cutting: a secret that is cut in half would no longer be recognized.
  const { text: clean } = redactSecrets(ownRedactor().text(text), options.secrets);
  const bytes = capBytes(clean, options.maxBytes ?? MAX_BYTES);
  return { id: idOf(bytes), bytes };
}

const MAX_BYTES = 16 * 1024 * 1024;

const idOf = (bytes: Buffer): EvidenceId => evidenceId(createHash("sha256").update(bytes).digest("hex"));

export const isEvidenceId = (id: string): boolean => /^[0-9a-f]{64}$/.test(id);

export const packed: (bytes: Buffer) => Promise<Buffer> = promisify(gzip);

/** Unpacks a stored text; `null` if it does not match the id. */
export async function unpackEvidence(found: Buffer, id: EvidenceId): Promise<string | null> {
  let bytes: Buffer;
  try {
    bytes = await promisify(gunzip)(found, { maxOutputLength: 512 * 1024 * 1024 });
  } catch {
    // Not valid gzip, so not what was written.
    return null;
  }
  return idOf(bytes) === id ? bytes.toString("utf8") : null;
}

/**
 * Returns a text as at most `maxBytes` bytes. A longer text keeps its beginning, where a run says what it does, and its
 * end, where it says how it ended. A line between them states how much was cut.
 */
export function capBytes(text: string, maxBytes: number): Buffer {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return bytes;
  const room = Math.max(0, maxBytes - NOTE_BYTES);
  const headEnd = lineBreakBefore(bytes, characterStart(bytes, Math.floor(room / 2)));
  const tailStart = lineBreakAfter(bytes, characterStart(bytes, bytes.length - (room - Math.floor(room / 2))));
  const head = bytes.subarray(0, headEnd);
  const tail = bytes.subarray(tailStart);
  const note = `[${tailStart - headEnd} of ${bytes.length} bytes were cut here: the first ${head.length} and the last ${tail.length} are kept]`;
  const isOnItsOwn = head.length === 0 || head.at(-1) === NEWLINE;
  return Buffer.concat([head, Buffer.from(`${isOnItsOwn ? "" : "\n"}${note}\n`), tail]);
}

/** Enough for the note with the largest numbers. */
const NOTE_BYTES = 160;
const NEWLINE = 0x0a;
/** Cuts are moved to a line break within this distance; longer lines are cut in the middle. */
const NEAR = 2000;

/** Returns the start of the UTF-8 character at a position, so that no cut splits a character. */
function characterStart(bytes: Buffer, at: number): number {
  let start = Math.max(0, Math.min(at, bytes.length));
  while (start > 0 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start--;
  return start;
}

function lineBreakBefore(bytes: Buffer, at: number): number {
  const found = bytes.subarray(Math.max(0, at - NEAR), at).lastIndexOf(NEWLINE);
  return found === -1 ? at : Math.max(0, at - NEAR) + found + 1;
}

function lineBreakAfter(bytes: Buffer, at: number): number {
  const found = bytes.subarray(at, at + NEAR).indexOf(NEWLINE);
  return found === -1 ? at : at + found + 1;
}

/** A file of an evidence store, for code that copies or exports the store. */
export interface EvidenceFile {
  readonly id: EvidenceId;
  /** Returns the stored bytes; `null` if the content does not match the file's name. */
  read(): Promise<Buffer | null>;
}

export async function evidenceFiles(folder: string): Promise<readonly EvidenceFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => {
    const parent = entry.parentPath.slice(-2);
    const id = evidenceId(`${parent}${entry.name.replace(/\.gz$/, "")}`);
    if (!entry.isFile() || !isEvidenceId(id)) return [];
    const path = join(entry.parentPath, entry.name);
    const read = async (): Promise<Buffer | null> => {
      const packed = await readFile(path);
      return (await unpackEvidence(packed, id)) === null ? null : packed;
    };
    return [{ id, read }];
  });
}
