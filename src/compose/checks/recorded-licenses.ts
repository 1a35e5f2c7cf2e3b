import type { LicensedTest } from "../../core/gates/contested-test.ts";
import type { JudgedState } from "../../core/gates/gate-report.ts";
import { RemandError } from "../../core/events/error.ts";
import { storyId, type TreeId } from "../../core/events/ids.ts";
import { readStories } from "../journal/read-journal.ts";
import { journalTrouble } from "../journal/journal-past.ts";
import { stateFolder } from "../state-folder.ts";

/**
 * What people allowed the story's work to change, by the checkout's journal: beforehand, or in answer to a question.
 * A commit can claim to be a story's: only the files that the journal knows as the story's newest are licensed by it.
 */
export async function recordedLicenses(
  root: string,
  { attemptOf, tree }: Pick<JudgedState, "attemptOf" | "tree">,
  onNotice: (text: string) => void,
): Promise<readonly LicensedTest[]> {
  if (attemptOf === undefined) return [];
  try {
    return await licensesOf(root, attemptOf, tree, onNotice);
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    onNotice(`licenses in the journal do not count: ${error.message} — ${error.hint}`);
    return [];
  }
}

async function licensesOf(
  root: string,
  attemptOf: string,
  tree: TreeId,
  onNotice: (text: string) => void,
): Promise<readonly LicensedTest[]> {
  const trouble = await journalTrouble(root, stateFolder(root).journal, true);
  if (trouble !== null)
    throw new RemandError("journal-corrupt", trouble.text, "Find out what happened with remand verify.");
  const seen = await readStories(root, null, [storyId(attemptOf)]);
  if (seen === null) return [];
  try {
    const state = seen.states[0];
    if (state?.tree !== tree) return [];
    const beforehand = (state.story.tests ?? []).map((test) => ({ test, by: "the story", reason: "" }));
    const licensed = [...beforehand, ...(state.licensed ?? [])];
    if (licensed.length > 0) onNotice(noticeOf(attemptOf, licensed));
    return licensed;
  } finally {
    await seen.close();
  }
}

function noticeOf(story: string, licensed: readonly LicensedTest[]): string {
  const each = licensed.map(({ test, by }) => `${test} (allowed by ${by})`);
  return `the journal of ${story} allows the work to change ${[...new Set(each)].join(", ")}`;
}
