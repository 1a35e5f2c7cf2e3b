import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { evidenceId, type EvidenceId } from "../../domain/ids.ts";
import { redactSecrets, type SecretRules } from "../../readers/secrets.ts";
import { capped } from "./capped.ts";

export interface EvidenceOptions {
  /** A text that is longer keeps its beginning and its end. */
  readonly maxBytes?: number;
  readonly secrets?: SecretRules;
}

/** A text as it may be kept, wherever that is, and the id that its content gives it. */
export function prepared(text: string, options: EvidenceOptions): { readonly id: EvidenceId; readonly bytes: Buffer } {
  // Secrets first: a cut in the middle of one would leave a half that nobody recognises.
  const bytes = capped(redactSecrets(text, options.secrets).text, options.maxBytes ?? MAX_BYTES);
  return { id: idOf(bytes), bytes };
}

const MAX_BYTES = 16 * 1024 * 1024;

const idOf = (bytes: Buffer): EvidenceId => evidenceId(createHash("sha256").update(bytes).digest("hex"));

export const isEvidenceId = (id: string): boolean => /^[0-9a-f]{64}$/.test(id);

export const packed: (bytes: Buffer) => Promise<Buffer> = promisify(gzip);

/** The text again; `null` where it is not what was kept under this id. */
export async function unpacked(found: Buffer, id: EvidenceId): Promise<string | null> {
  let bytes: Buffer;
  try {
    bytes = await promisify(gunzip)(found, { maxOutputLength: 512 * 1024 * 1024 });
  } catch {
    // Whatever zlib did not like about it, it is not what was written.
    return null;
  }
  return idOf(bytes) === id ? bytes.toString("utf8") : null;
}
