import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Head, Journal } from "../../ports/journal.ts";
import { createGit } from "../../adapters/git/git.ts";
import { receiptNames, receiptTexts } from "../../adapters/git/receipts.ts";
import { findGitFolder, ownEnvironment, repositoryOpener } from "../../adapters/git/repository.ts";
import { openJournalReadOnly } from "../../adapters/journal/sqlite-journal.ts";
import { jsonText } from "../../stdx/canonical-json.ts";
import { isRecord } from "../../stdx/assert.ts";
import { stateFolder } from "../state-folder.ts";
import { fileInClone, writeInClone } from "../journal/journal-anchors.ts";
import { userKeys } from "./user-key.ts";
import { readReceipt, checkReceipt } from "./check-receipt.ts";

/**
 * The line that a journal's newest receipt names, if the user's own key signed it. A receipt that was changed or signed
 * with another key is ignored here; `remand verify` reports it.
 */
export async function newestReceipt(
  root: string,
  userState: string,
  journal: string | null,
): Promise<(Head & { readonly story: string }) | null> {
  if (journal === null || (await findGitFolder(root)) === null) return null;
  const keys = await userKeys(userState);
  if (keys.length === 0) return null;
  const git = createGit(root, ownEnvironment());
  const newest = await receiptNames(git, journal, true);
  const [name] = newest;
  if (name === undefined) return null;
  const [text = null] = await receiptTexts(git, newest);
  const checked = checkReceipt(name, text, { from: userState, keys });
  if (!checked.ok) return null;
  const { position, hash } = checked.receipt.predicate.journal;
  return { position, hash, story: name.story };
}

/** The receipts of the checkout's journal, by file name below the trail, without invalid ones. */
export async function receiptFiles(root: string): Promise<ReadonlyMap<string, string>> {
  const { journal: file } = stateFolder(root);
  // A fleet's receipts are in the repository that its workers share.
  if (!existsSync(file)) return new Map();
  const journal = await openJournalReadOnly(file);
  await journal.close();
  const files = new Map<string, string>();
  if (journal.id === null) return files;
  const { git } = await repositoryOpener(root)();
  const names = await receiptNames(git, journal.id);
  for (const [at, text] of (await receiptTexts(git, names)).entries()) {
    const { story, position, kind } = names[at]!;
    const read = text === null ? null : readReceipt(text);
    if (read !== null && !("problem" in read))
      files.set(`receipts/${story}-${position}-${kind}.intoto.json`, jsonText(read.envelope));
  }
  return files;
}

/** Which lines have receipts: those after `since`, up to `position`. */
export interface ReceiptRange {
  read(): Promise<{ readonly since: number; readonly position: number }>;
  write(range: { readonly since: number; readonly position: number }): Promise<void>;
}

/** The range that the clone's git directory records. A journal that is older than receipts gets them from now on. */
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

/** `null`: nothing is recorded for this journal. */
export async function readNotedRange(root: string, id: string | null): Promise<NotedRange | null> {
  const noted = await readNote(root);
  return noted?.id === id ? noted : null;
}

interface NotedRange {
  /** The id of the journal. */
  readonly id: string | null;
  readonly since: number;
  readonly position: number;
}

/** The range that the clone records, for any journal. */
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
    // An unreadable note counts as missing; existing receipts are still checked.
    return null;
  }
}
