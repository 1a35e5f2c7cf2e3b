import type { StoryId } from "../../core/events/ids.ts";
import { foldJournal } from "../../engine/fold-journal.ts";
import { concernsReceipts, receiptLines } from "../../engine/receipt-moments.ts";
import type { StoredEvent } from "../../ports/journal.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import { defaultBranch } from "../../adapters/git/checkout/gated-checkout.ts";
import type { Git } from "../../adapters/git/git.ts";
import { type ReceiptName, receiptNames, receiptTexts } from "../../adapters/git/receipts.ts";
import { findGitFolder, repositoryOpener, userStateFolder } from "../../adapters/git/repository.ts";
import type { SqliteReader } from "../../adapters/journal/sqlite-journal.ts";
import { type KnownKeys, checkReceipt, receiptTitle } from "./check-receipt.ts";
import { readNotedRange } from "./receipt-note.ts";
import { newestKeys } from "./public-keys.ts";
import { missingWork } from "./accepted-work.ts";
import { userKeys } from "./user-key.ts";

type Reader = Pick<
  SqliteReader,
  "id" | "read" | "head" | "hashAt" | "latestSnapshot" | "latestOutlines" | "snapshotParts"
>;

/**
 * Compares a checkout's receipts with its journal: each is signed by a known key and names a line that is there, no
 * acceptance or waiver lacks its own, and the accepted commits are still on a branch.
 */
export async function verifyReceipts(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  journal: Reader,
): Promise<{ readonly checked: number; readonly problems: readonly string[] }> {
  if (journal.id === null || (await findGitFolder(root)) === null) return { checked: 0, problems: [] };
  const { git } = await repositoryOpener(root)();
  const names = await receiptNames(git, journal.id);
  const known = await ownKeys(git, env);
  const texts = await receiptTexts(git, names);
  const checked = names.map((name, at) => ({ name, result: checkReceipt(name, texts[at] ?? null, known) }));
  const problems = checked.flatMap(({ name, result }) => {
    if (!result.ok) return [`${receiptTitle(name)} ${result.problem}`];
    return lineProblem(journal, name, result.receipt.predicate.journal.hash) ?? [];
  });
  const accepted = checked.flatMap(({ name, result }) => (result.ok && name.kind === "acceptance" ? [result] : []));
  return {
    checked: names.length,
    problems: [...problems, ...(await missingReceipts(root, journal, names)), ...(await missingWork(git, accepted))],
  };
}

/** Those of the user, and those that the project lists: a checkout may have been worked in by others. */
async function ownKeys(git: Git, env: Readonly<Record<string, string | undefined>>): Promise<KnownKeys> {
  const base = await defaultBranch(git);
  const listed = base === null ? [] : (await newestKeys(git, base)).keys;
  const own = await userKeys(userStateFolder(env));
  return { from: "your state folder (remand key show) or remand.keys", keys: [...own, ...listed] };
}

function lineProblem(journal: Pick<Reader, "hashAt">, name: ReceiptName, hash: string): string | null {
  const there = journal.hashAt(name.position);
  if (there === hash) return null;
  return there === null
    ? `${receiptTitle(name)} names a line that is not there: the end of the journal was cut off`
    : `${receiptTitle(name)} names another line ${name.position} than the journal has: it was written again`;
}

async function missingReceipts(
  root: string,
  journal: Reader,
  names: readonly ReceiptName[],
): Promise<readonly string[]> {
  const range = await readNotedRange(root, journal.id);
  if (range === null) return [];
  const stories = new Map<StoryId, StoredEvent[]>();
  for await (const line of journal.read(range.since))
    if (line.story !== null && concernsReceipts(line.event)) stories.set(line.story, []);
  if (stories.size === 0) return [];
  const there = new Set(names.map(({ position }) => position));
  const { state } = await foldJournal(journal);
  const problems: string[] = [];
  for (const [story, lines] of stories) {
    for await (const line of journal.read(0, story)) lines.push(line);
    const policy = lookup(state.stories, story, byText)?.policy;
    if (policy == null) continue;
    for (const { line, kind, state: then } of receiptLines(story, lines, policy).made) {
      const isDue = line.position > range.since && line.position <= range.position && then.tree !== null;
      if (isDue && !there.has(line.position))
        problems.push(
          `the receipt of ${story} (line ${line.position}, ${kind}) is missing: its ref was deleted or moved`,
        );
    }
  }
  return problems;
}
