import type { ReceiptKey } from "../../core/events/receipt.ts";
import { sha256 } from "../../stdx/sha256.ts";

/** The file of a repository that lists the public keys whose receipts are valid. */
export const KEYS_FILE = "remand.keys";

export interface ReadKeys {
  readonly keys: readonly ReceiptKey[];
  /** Invalid lines, with their numbers. */
  readonly problems: readonly string[];
}

/** Reads lines of the form `ed25519 <key> [from <time>] [to <time>] [# comment]`. */
export function readReceiptKeys(text: string): ReadKeys {
  const keys: ReceiptKey[] = [];
  const problems: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [, words = "", comment] = /^([^#]*)(?:#\s*(.*?)\s*)?$/.exec(line) ?? [];
    if (words.trim() === "") continue;
    const key = keyOf(words.trim().split(/\s+/), comment);
    if (key === null) problems.push(`line ${index + 1} is not a key: ${line.trim().slice(0, 80)}`);
    else keys.push(key);
  }
  return { keys, problems };
}

function keyOf([type, publicKey = "", ...rest]: readonly string[], comment: string | undefined): ReceiptKey | null {
  if (type !== "ed25519" || !/^[\w-]{43}$/.test(publicKey)) return null;
  const limits: { from?: number; to?: number } = {};
  for (let at = 0; at < rest.length; at += 2) {
    const [name, time = ""] = rest.slice(at, at + 2);
    const ms = /^\d{4}-\d{2}-\d{2}/.test(time) ? Date.parse(time) : Number.NaN;
    if ((name !== "from" && name !== "to") || Number.isNaN(ms)) return null;
    limits[name] = ms;
  }
  const note = comment === undefined || comment === "" ? {} : { comment };
  return { id: keyIdOf(publicKey), publicKey, ...limits, ...note };
}

/** Returns the id of a key. `publicKey`: its 32 bytes as base64url. */
export const keyIdOf = (publicKey: string): string => sha256(publicKey);

/** Formats a key as a line of the file. */
export function receiptKeyLine({ publicKey, from, to, comment }: ReceiptKey): string {
  const time = (name: string, ms: number | undefined): string =>
    ms === undefined ? "" : ` ${name} ${new Date(ms).toISOString()}`;
  return `ed25519 ${publicKey}${time("from", from)}${time("to", to)}${comment === undefined ? "" : ` # ${comment}`}`;
}

export const isKeyValidAt = ({ from, to }: ReceiptKey, at: number): boolean =>
  (from === undefined || at >= from) && (to === undefined || at <= to);
