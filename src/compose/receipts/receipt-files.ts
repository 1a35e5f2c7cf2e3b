import { existsSync } from "node:fs";
import { receiptNames, receiptTexts } from "../../adapters/git/receipts.ts";
import { repositoryOpener } from "../../adapters/git/repository.ts";
import { openJournalReadOnly } from "../../adapters/journal/sqlite-journal.ts";
import { jsonText } from "../../stdx/canonical-json.ts";
import { readReceipt } from "./read-receipt.ts";
import { stateFolder } from "../state-folder.ts";

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
