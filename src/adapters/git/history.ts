import { RemandError } from "../../core/events/error.ts";
import { readNameStatus, touchedPaths } from "../../parse/code/git-output.ts";
import { type TreeId, treeId } from "../../core/events/ids.ts";
import { type Git, gitFailure } from "./git.ts";
import { commitTree } from "./refs.ts";
import { line } from "./repository.ts";

/** Whatever a user's configuration says of diffs, these look the same. */
const SAME_FOR_ALL = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--find-renames",
  "--submodule=short",
];

/** Paths that differ, both names of what was renamed included. */
export async function changedPaths(git: Git, from: string, to: string): Promise<readonly string[]> {
  const text = await git.run([
    "diff",
    ...SAME_FOR_ALL,
    "--name-status",
    "-z",
    checkRevision(from),
    checkRevision(to),
    "--",
  ]);
  return touchedPaths(readNameStatus(text));
}

/** In git's unified form. A binary file is named, not shown. A diff too long to hold has its middle cut out, and says so. */
export async function diffText(git: Git, from: string, to: string): Promise<string> {
  const layout = [
    "--patch",
    "--diff-algorithm=histogram",
    "--unified=3",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-O/dev/null",
  ];
  return git.run(["diff", ...SAME_FOR_ALL, ...layout, checkRevision(from), checkRevision(to), "--"], {
    mayBeCut: true,
  });
}

/** `null` for a path that is not there, or is no file. */
export async function fileText(git: Git, at: string, path: string): Promise<string | null> {
  const { exitCode, stdout } = await git.ask(["cat-file", "blob", `${checkRevision(at)}:${path}`]);
  if (exitCode === 0) return stdout;
  const whole = await git.ask(["rev-parse", "--verify", "--quiet", `${checkRevision(at)}^{tree}`]);
  if (whole.exitCode === 0) return null;
  throw new RemandError("workspace-broken", `there is no tree or commit ${at} in this repository`, GONE);
}

const GONE = "It may have been pruned, or belong to another clone: fetch it, or start the story again.";

/** A name may come from a stored file: one that looks like an option must not become one. */
function checkRevision(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_./^{}~@-]*$/.test(name)) return name;
  throw new RemandError("workspace-broken", `${JSON.stringify(name)} is not the name of a tree or commit`, GONE);
}

/** Two states of the files in one, with git's marks where they contradict each other. */
export interface MergedTree {
  readonly tree: TreeId;
  readonly conflicts: readonly string[];
}

/** What git makes of both, without touching a file. */
export async function mergeTrees(git: Git, ours: string, theirs: string): Promise<MergedTree> {
  const asked = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
  const { exitCode, stdout, stderr } = await git.ask(asked);
  if (exitCode > 1) throw gitFailure("git merge-tree failed", stderr);
  const [tree = "", ...conflicts] = stdout.split("\0").filter((part) => part !== "");
  return { tree: treeId(tree), conflicts: [...new Set(conflicts)] };
}

/** The same with a base of our choice, whatever the histories have in common. */
export async function togetherFrom(git: Git, base: string, ours: string, theirs: string): Promise<MergedTree> {
  // Commits that no ref names, made so that the base is the only thing the two sides share.
  const alone = async (state: string, parents: readonly string[]): Promise<string> =>
    commitTree(git, { tree: await treeOf(git, state), parents, subject: "remand: compared", trailers: [] });
  const start = await alone(base, []);
  return mergeTrees(git, await alone(ours, [start]), await alone(theirs, [start]));
}

export async function isInHistory(git: Git, commit: string, of: string): Promise<boolean> {
  return (await git.ask(["merge-base", "--is-ancestor", commit, of])).exitCode === 0;
}

export const treeOf = async (git: Git, commit: string): Promise<TreeId> =>
  treeId(line(await git.run(["rev-parse", "--verify", `${commit}^{tree}`])));
