import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { RemandError } from "../../domain/error.ts";
import { evidenceId, type EvidenceId } from "../../domain/ids.ts";
import type { Evidence } from "../../ports/evidence.ts";
import { redactSecrets, type SecretRules } from "../../readers/secrets.ts";
import { assert } from "../../stdx/assert.ts";
import { capped } from "./capped.ts";

export interface EvidenceOptions {
  /** A text that is longer keeps its beginning and its end. */
  readonly maxBytes?: number;
  readonly secrets?: SecretRules;
}

/**
 * What was printed, in files named after their content. A file is gzip, so that a person can read it with what every
 * machine has (`zcat`), and it is never half there: it is written beside its place, forced to the disk, and moved.
 */
export function createEvidenceStore(folder: string, options: EvidenceOptions = {}): Evidence {
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  const placeOf = (id: EvidenceId): string => {
    assert(ID.test(id), `an id of evidence is a hash: ${id}`);
    return join(folder, id.slice(0, 2), `${id.slice(2)}.gz`);
  };
  return {
    keep: async (text) => {
      // Secrets first: a cut in the middle of one would leave a half that nobody recognises.
      const bytes = capped(redactSecrets(text, options.secrets).text, maxBytes);
      const id = evidenceId(createHash("sha256").update(bytes).digest("hex"));
      const place = placeOf(id);
      if (!(await isWhole(place, id))) await write(place, await promisify(gzip)(bytes));
      return id;
    },
    read: async (id) => (ID.test(id) ? read(placeOf(id), id) : null),
    placeOf,
  };
}

const MAX_BYTES = 16 * 1024 * 1024;
const ID = /^[0-9a-f]{64}$/;

async function read(place: string, id: EvidenceId): Promise<string | null> {
  let packed: Buffer;
  try {
    packed = await readFile(place);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw asEvidenceError(error, "read", place);
  }
  const bytes = await unpacked(packed);
  if (bytes !== null && createHash("sha256").update(bytes).digest("hex") === id) return bytes.toString("utf8");
  throw new RemandError(
    "evidence-corrupt",
    `the evidence ${place} is damaged`,
    "Bring the file back from a backup, or delete it: then it counts as lost, not as changed.",
  );
}

async function unpacked(packed: Buffer): Promise<Buffer | null> {
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: 512 * 1024 * 1024 });
  } catch {
    // Whatever zlib did not like about it, it is not what was written.
    return null;
  }
}

/** A damaged file is no reason to lose the text that is at hand: it is written again. */
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

/** The journal names the file after this: its name must be on the disk before. Windows keeps names without it. */
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
