import type { StoryId } from "../../core/events/ids.ts";
import { foldJournal } from "../../engine/fold-journal.ts";
import { concernsReceipts, receiptLines } from "../../engine/receipt-moments.ts";
import type { StoredEvent } from "../../ports/journal.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import { defaultBranch } from "../../adapters/git/checkout/gated-checkout.ts";
import type { Git } from "../../adapters/git/git.ts";
import { type ReceiptName, receiptNames, receiptTexts } from "../../adapters/git/receipts.ts";
import { findGitFolder, repositoryOpener, userStateFolder, commitOf } from "../../adapters/git/repository.ts";
import { mergeTrees, treeOf } from "../../adapters/git/history.ts";
import { TRAILERS, refName } from "../../adapters/git/refs.ts";
import type { SqliteReader } from "../../adapters/journal/sqlite-journal.ts";
import { type KnownKeys, checkReceipt, receiptTitle } from "./check-receipt.ts";
import { readNotedRange } from "./kept-receipts.ts";
import { newestKeys } from "./public-keys.ts";
import { userKeys } from "./user-key.ts";
import { createMatcher, readCommits, type FoundReceipt } from "./match-commits.ts";

type Reader = Pick<
  SqliteReader,
  "id" | "read" | "head" | "hashAt" | "latestSnapshot" | "latestOutlines" | "snapshotParts"
>;

/**
 * Compares a checkout's receipts with its journal: each is signed by a known key and names an existing line, no
 * acceptance or waiver lacks a receipt, and the accepted commits are still on a branch.
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

/** The user's keys and those that the project lists, because other people may have worked in the checkout. */
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

/** Accepted commits that no ref contains any more: their branch was deleted, moved or amended. */
async function missingWork(git: Git, accepted: readonly FoundReceipt[]): Promise<readonly string[]> {
  const newest = new Map(accepted.map((each) => [each.receipt.predicate.story.id, each]));
  const unheld = await unreachable(git, [...newest.values()]);
  if (unheld.length === 0) return [];
  const base = await defaultBranch(git);
  const squashed = base === null ? new Set<string>() : await storiesIn(git, base.commit);
  const problems: string[] = [];
  for (const found of unheld) {
    const { id } = found.receipt.predicate.story;
    const branch = `remand/${refName(id)}`;
    const tip = await commitOf(git, `refs/heads/${branch}`);
    if (tip !== null) {
      if (await isReceipted(git, tip, accepted)) continue;
      problems.push(
        `the branch ${branch} is at ${tip.slice(0, 12)}, which no receipt covers; accepted was ${found.commit.slice(0, 12)}. To put it back: git branch --force ${branch} ${found.commit}`,
      );
    } else if (base === null || (!squashed.has(id) && !(await holdsChanges(git, base.commit, found.commit))))
      problems.push(
        `the accepted commit ${found.commit.slice(0, 12)} of ${id} is on no branch: its branch was deleted, or its refs were moved. To bring it back: git branch ${branch} ${found.commit}`,
      );
  }
  return problems;
}

async function unreachable(git: Git, accepted: readonly FoundReceipt[]): Promise<readonly FoundReceipt[]> {
  if (accepted.length === 0) return [];
  const holders = ["refs/heads", "refs/remotes", "refs/tags", "refs/remand/loop"].map((each) => `--glob=${each}`);
  const stdin = accepted.map(({ commit }) => `${commit}\n`).join("");
  const text = await git.run(["rev-list", "--ignore-missing", "--stdin", "--not", ...holders], { stdin });
  const missing = new Set(text.split("\n"));
  return accepted.filter(({ commit }) => missing.has(commit));
}

/** Whether a receipt covers the tip after all: it was amended without a change of the files, or rebased. */
async function isReceipted(git: Git, tip: string, accepted: readonly FoundReceipt[]): Promise<boolean> {
  const [commit] = await readCommits(git, tip);
  const match = createMatcher(git, {
    commits: [commit!],
    tips: [tip],
    receiptsFor: async () => accepted,
    isOnBase: async () => true,
  });
  return (await match(commit!)) !== null;
}

/** The stories whose trailers are in the commit messages of a branch: a squash keeps the trailers. */
async function storiesIn(git: Git, branch: string): Promise<ReadonlySet<string>> {
  const text = await git.run(["log", "--format=%B", `--grep=^${TRAILERS.story}: `, branch, "--"]);
  return new Set([...text.matchAll(new RegExp(`^${TRAILERS.story}: (\\S+)$`, "gm"))].map(([, story]) => story!));
}

/** Whether the branch already contains every change of the commit. */
async function holdsChanges(git: Git, branch: string, commit: string): Promise<boolean> {
  const { tree, conflicts } = await mergeTrees(git, branch, commit);
  return conflicts.length === 0 && tree === (await treeOf(git, branch));
}
