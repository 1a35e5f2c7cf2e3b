import type { JudgedState } from "../../../core/gates/gate-report.ts";
import type { ReviewedPullRequest } from "../../../core/gates/code-owners.ts";
import { mergeTrees, treeOf } from "../history.ts";
import type { Git } from "../git.ts";
import { repositoryOpener } from "../repository.ts";

/**
 * Why the files that were judged are not those of the pull request's newest commit; `null` where they are: that commit
 * itself, or what CI services check out, which is the merge of it into its target.
 */
export async function strangeToPullRequest(
  root: string,
  { commit, tree }: Pick<JudgedState, "commit" | "tree">,
  { head, mergeCommit }: Pick<ReviewedPullRequest, "head" | "mergeCommit">,
): Promise<string | null> {
  const { git } = await repositoryOpener(root)();
  if (commit === "" || (await treeOf(git, commit)) !== tree)
    return "the files differ from the commit that was approved: gate the commit with --at HEAD";
  if (commit === head || (await isMerge(git, { commit, tree }, head, mergeCommit))) return null;
  return `${commit.slice(0, 12)} was judged, and the pull request is at ${head.slice(0, 12)}: gate its newest commit`;
}

async function isMerge(
  git: Git,
  { commit, tree }: Pick<JudgedState, "commit" | "tree">,
  head: string,
  mergeCommit: string | null,
): Promise<boolean> {
  // A shallow clone hides the parents from everything but the commit's own text.
  const text = await git.run(["cat-file", "commit", commit]);
  const fields = text.slice(0, text.indexOf("\n\n")).split("\n");
  const [target, merged, ...more] = fields.flatMap((field) => /^parent (\S+)$/.exec(field)?.[1] ?? []);
  if (target === undefined || merged !== head || more.length > 0) return false;
  if (commit === mergeCommit) return true;
  // The target went on since: this is still the merge if it holds nothing that git would not make of the two.
  const isWhole = async (name: string): Promise<boolean> => (await git.ask(["cat-file", "-e", name])).exitCode === 0;
  if (!(await isWhole(target)) || !(await isWhole(head))) return false;
  const combined = await mergeTrees(git, target, head);
  return combined.conflicts.length === 0 && combined.tree === tree;
}
