import { readFile } from "node:fs/promises";
import type { Journal } from "../../ports/journal.ts";
import { isRecord } from "../../stdx/assert.ts";
import { fileInClone, writeInClone } from "../journal/journal-anchors.ts";

/** Which lines have their receipts: those after `since`, up to `position`. */
export interface ReceiptRange {
  read(): Promise<{ readonly since: number; readonly position: number }>;
  write(range: { readonly since: number; readonly position: number }): Promise<void>;
}

/** What the clone's git directory notes of it. A journal that is older than receipts gets them from now on. */
export function notedRange(root: string, journal: Pick<Journal, "id" | "head">): ReceiptRange {
  return {
    read: async () => {
      const noted = await readNotedRange(root, journal.id);
      if (noted !== null) return noted;
      const { position } = await journal.head();
      const from = { since: position, position };
      await writeNotedRange(root, journal.id, from);
      return from;
    },
    write: (range) => writeNotedRange(root, journal.id, range),
  };
}

async function writeNotedRange(root: string, id: string | null, range: object): Promise<void> {
  const file = await fileInClone(root, "receipts");
  if (file !== null) await writeInClone(file, { v: 1, id, ...range });
}

/** `null`: nothing is noted of this journal. */
export async function readNotedRange(root: string, id: string | null): Promise<NotedRange | null> {
  const noted = await readNote(root);
  return noted?.id === id ? noted : null;
}

interface NotedRange {
  /** Of the journal. */
  readonly id: string | null;
  readonly since: number;
  readonly position: number;
}

/** What the clone notes of the receipts of its journal, whichever that was. */
export async function readNote(root: string): Promise<NotedRange | null> {
  const file = await fileInClone(root, "receipts");
  const text = file === null ? null : await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return null;
    const { id, since, position } = value;
    if ((id !== null && typeof id !== "string") || typeof since !== "number" || typeof position !== "number")
      return null;
    return { id, since, position };
  } catch {
    // A note that cannot be read is none: receipts that are there are still checked.
    return null;
  }
}
