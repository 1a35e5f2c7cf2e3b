import { treeId, type TreeId } from "../../domain/ids.ts";
import { failed, type Git } from "./git.ts";
import { commitTree } from "./refs.ts";
import { line } from "./repository.ts";

/** Two states of the files in one, with git's marks where they contradict each other. */
export interface Combined {
  readonly tree: TreeId;
  readonly conflicts: readonly string[];
}

/** What git makes of both, without touching a file. */
export async function together(git: Git, ours: string, theirs: string): Promise<Combined> {
  const asked = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
  const { exitCode, stdout, stderr } = await git.ask(asked);
  if (exitCode > 1) throw failed("git merge-tree failed", stderr);
  const [tree = "", ...conflicts] = stdout.split("\0").filter((part) => part !== "");
  return { tree: treeId(tree), conflicts: [...new Set(conflicts)] };
}

/** The same with a base of our choice, whatever the histories have in common. */
export async function togetherFrom(git: Git, base: string, ours: string, theirs: string): Promise<Combined> {
  // Commits that no ref names, made so that the base is the only thing the two sides share.
  const alone = async (state: string, parents: readonly string[]): Promise<string> =>
    commitTree(git, { tree: await treeOf(git, state), parents, subject: "remand: compared", trailers: [] });
  const start = await alone(base, []);
  return together(git, await alone(ours, [start]), await alone(theirs, [start]));
}

export async function isInHistory(git: Git, commit: string, of: string): Promise<boolean> {
  return (await git.ask(["merge-base", "--is-ancestor", commit, of])).exitCode === 0;
}

export const treeOf = async (git: Git, commit: string): Promise<TreeId> =>
  treeId(line(await git.run(["rev-parse", "--verify", `${commit}^{tree}`])));
