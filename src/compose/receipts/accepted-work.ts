import type { Git } from "../../adapters/git/git.ts";
import { defaultBranch } from "../../adapters/git/checkout/gated-checkout.ts";
import { mergeTrees, treeOf } from "../../adapters/git/history.ts";
import { TRAILERS, refName } from "../../adapters/git/refs.ts";
import { commitOf } from "../../adapters/git/repository.ts";
import { createMatcher, readCommits, type FoundReceipt } from "./match-commits.ts";

/** Accepted commits that nothing holds any more: their branch was deleted, moved or amended, and no branch has them. */
export async function missingWork(git: Git, accepted: readonly FoundReceipt[]): Promise<readonly string[]> {
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

/** Amended without a change of the files, or rebased. */
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

/** The stories whose trailers stand in the messages of a branch: a squash keeps them. */
async function storiesIn(git: Git, branch: string): Promise<ReadonlySet<string>> {
  const text = await git.run(["log", "--format=%B", `--grep=^${TRAILERS.story}: `, branch, "--"]);
  return new Set([...text.matchAll(new RegExp(`^${TRAILERS.story}: (\\S+)$`, "gm"))].map(([, story]) => story!));
}

/** Does the branch hold every change of the commit already? */
async function holdsChanges(git: Git, branch: string, commit: string): Promise<boolean> {
  const { tree, conflicts } = await mergeTrees(git, branch, commit);
  return conflicts.length === 0 && tree === (await treeOf(git, branch));
}
