import type { Head } from "../../ports/journal.ts";
import { createGit } from "../../adapters/git/git.ts";
import { receiptNames, receiptTexts } from "../../adapters/git/receipts.ts";
import { findGitFolder, ownEnvironment } from "../../adapters/git/repository.ts";
import { checkReceipt } from "./check-receipt.ts";
import { userKeys } from "./user-key.ts";

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
