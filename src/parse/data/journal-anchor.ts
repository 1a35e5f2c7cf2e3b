import type { FileMark, JournalAnchor, LostJournal, PendingJournal } from "../../core/events/journal-anchor.ts";
import { isRecord } from "../../stdx/assert.ts";

/** Reads a journal's anchor. Not a schema, because `status` reads it and must start quickly. */
export function readJournalAnchor(text: string): JournalAnchor | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value) || value["v"] !== 1) return null;
  const { id, position, hash, at, file, pending } = value;
  if (!isId(id) || !isCount(position) || !isHash(hash) || typeof at !== "number") return null;
  const mark = file === undefined ? undefined : fileMark(file);
  const begun = pending === undefined ? undefined : pendingJournal(pending);
  if (mark === null || begun === null) return null;
  return {
    v: 1,
    id,
    position,
    hash,
    at,
    ...(mark === undefined ? {} : { file: mark }),
    ...(begun === undefined ? {} : { pending: begun }),
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isHash = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isId = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{32}$/.test(value);

function fileMark(value: unknown): FileMark | null {
  if (!isRecord(value)) return null;
  const { dev, ino, size, mtimeNs, ctimeNs } = value;
  const parts = [dev, ino, size, mtimeNs, ctimeNs];
  if (!parts.every((part) => typeof part === "string" && /^\d+$/.test(part))) return null;
  return { dev, ino, size, mtimeNs, ctimeNs } as FileMark;
}

function pendingJournal(value: unknown): PendingJournal | null {
  if (!isRecord(value)) return null;
  const { id, lost, by } = value;
  const known = lostJournal(lost);
  return isId(id) && typeof by === "string" && known !== null ? { id, lost: known, by } : null;
}

function lostJournal(value: unknown): LostJournal | null {
  if (!isRecord(value)) return null;
  const { id, position, hash, why, kept } = value;
  if (!(id === null || isId(id)) || !isCount(position) || !isHash(hash)) return null;
  if (typeof why !== "string" || !(kept === null || typeof kept === "string")) return null;
  return { id, position, hash, why, kept };
}
