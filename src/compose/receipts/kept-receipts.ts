import { existsSync } from "node:fs";
import type { Head } from "../../ports/journal.ts";
import { createGit } from "../../adapters/git/git.ts";
import { receiptNames, receiptTexts } from "../../adapters/git/receipts.ts";
import { findGitFolder, ownEnvironment, repositoryOpener } from "../../adapters/git/repository.ts";
import { openJournalReadOnly } from "../../adapters/journal/sqlite-journal.ts";
import { jsonText } from "../../stdx/canonical-json.ts";
import { stateFolder } from "../state-folder.ts";
import { userKeys } from "./user-key.ts";
import { readReceipt, checkReceipt } from "./check-receipt.ts";

/**
 * The line that the newest receipt of a journal names, where the user's own key signed it. One that another key signed,
 * or that was changed, binds nothing: `remand verify` reports it.
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

/** The receipts of the checkout's journal, by file name below the trail. What is no receipt any more is left out. */
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
