import { createHash } from "node:crypto";

/** SHA-256 of a string's UTF-8 bytes, as hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
