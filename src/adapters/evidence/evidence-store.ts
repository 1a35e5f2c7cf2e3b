import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import type { Evidence } from "../../ports/evidence.ts";
import { assert } from "../../stdx/assert.ts";
import { isEvidenceId, packed, prepareEvidence, unpackEvidence, type EvidenceOptions } from "./packed.ts";

/**
 * What was printed, in files named after their content. A file is gzip, so that a person can read it with what every
 * machine has (`zcat`), and it is never half there: it is written beside its place, forced to the disk, and moved.
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
  };
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
