import { RemandError } from "../../core/events/error.ts";
import { readNameStatus, readTrailers, touchedPaths } from "../../parse/code/git-output.ts";
import { type TreeId, treeId } from "../../core/events/ids.ts";
import { type Git, gitFailure } from "./git.ts";
import { TRAILERS, commitTree } from "./refs.ts";
import { commitOf, trimLine, repositoryOpener } from "./repository.ts";
import type { Origin } from "../../core/blame/blame.ts";
import type { ChangedHunk } from "../../core/blame/change.ts";

/** Options that make diffs independent of the user's configuration. */
const SAME_FOR_ALL = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--find-renames",
  "--submodule=short",
];

/** Returns the paths that differ, with both names of a renamed file. */
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

/**
 * Returns a diff in unified form. A binary file is named, not shown. A diff over the size limit is cut in the middle
 * and says so.
 */
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

/** Returns a file's text; `null` if the path does not exist or is not a file. */
export async function fileText(git: Git, at: string, path: string): Promise<string | null> {
  const { exitCode, stdout } = await git.ask(["cat-file", "blob", `${checkRevision(at)}:${path}`]);
  if (exitCode === 0) return stdout;
  const whole = await git.ask(["rev-parse", "--verify", "--quiet", `${checkRevision(at)}^{tree}`]);
  if (whole.exitCode === 0) return null;
  throw new RemandError("workspace-broken", `there is no tree or commit ${at} in this repository`, GONE);
}

const GONE = "It may have been pruned, or belong to another clone: fetch it, or start the story again.";

/** Checks a name that may come from a stored file, so that it cannot be read as an option. */
function checkRevision(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_./^{}~@-]*$/.test(name)) return name;
  throw new RemandError("workspace-broken", `${JSON.stringify(name)} is not the name of a tree or commit`, GONE);
}

/** The merge of two trees, with git's conflict markers. */
export interface MergedTree {
  readonly tree: TreeId;
  readonly conflicts: readonly string[];
}

/** Merges two trees, without writing files. */
export async function mergeTrees(git: Git, ours: string, theirs: string): Promise<MergedTree> {
  const asked = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
  const { exitCode, stdout, stderr } = await git.ask(asked);
  if (exitCode > 1) throw gitFailure("git merge-tree failed", stderr);
  const [tree = "", ...conflicts] = stdout.split("\0").filter((part) => part !== "");
  return { tree: treeId(tree), conflicts: [...new Set(conflicts)] };
}

/** Merges two trees with a given base, whatever history they share. */
export async function mergeWithBase(git: Git, base: string, ours: string, theirs: string): Promise<MergedTree> {
  // Make unreferenced commits whose only common ancestor is the base.
  const alone = async (state: string, parents: readonly string[]): Promise<string> =>
    commitTree(git, { tree: await treeOf(git, state), parents, subject: "remand: compared", trailers: [] });
  const start = await alone(base, []);
  return mergeTrees(git, await alone(ours, [start]), await alone(theirs, [start]));
}

/**
 * Whether a commit is in a history. A commit that is missing here is in no history. Throws if git fails for another
 * reason, because that is neither yes nor no.
 */
export async function isInHistory(git: Git, commit: string, of: string): Promise<boolean> {
  const { exitCode, stderr } = await git.ask(["merge-base", "--is-ancestor", commit, of]);
  if (exitCode <= 1) return exitCode === 0;
  if ((await commitOf(git, commit)) === null || (await commitOf(git, of)) === null) return false;
  throw gitFailure("git merge-base failed", stderr);
}

export const treeOf = async (git: Git, commit: string): Promise<TreeId> =>
  treeId(trimLine(await git.run(["rev-parse", "--verify", `${commit}^{tree}`])));

/** The tree that contains the lines, and how far back they are followed. */
export interface BlameRange {
  readonly base: string;
  /** The newest commit; uncommitted changes come after it. */
  readonly commit: string;
  readonly tree: TreeId;
}

/**
 * Returns which commit made each change, and for which story, by the trailers of the attempts' commits. `null` for
 * uncommitted changes, and if git cannot tell. Writes only an unreferenced object.
 */
export async function originsOf(
  root: string,
  stretch: BlameRange,
  hunks: readonly ChangedHunk[],
): Promise<(Origin | null)[]> {
  const { git, top } = await repositoryOpener(root)();
  if (stretch.commit === "" || stretch.commit === stretch.base) return hunks.map(() => null);
  const isClean = trimLine(await git.run(["rev-parse", "--verify", `${stretch.commit}^{tree}`])) === stretch.tree;
  const uncommitted = { tree: stretch.tree, parents: [stretch.commit], subject: "not committed yet", trailers: [] };
  const tip = isClean ? stretch.commit : await commitTree(git, uncommitted);
  const origins: (Origin | null)[] = [];
  for (const hunk of hunks) {
    const from = { git, top, base: stretch.base, tip };
    const commit = hunk.added.length > 0 ? await writerOf(from, hunk) : await removerOf(from, hunk);
    origins.push(commit === null || (commit === tip && !isClean) ? null : await originOf(git, commit));
  }
  return origins;
}

interface BlameContext {
  readonly git: Git;
  readonly top: string;
  readonly base: string;
  readonly tip: string;
}

/** Returns the commit that wrote most of the lines. */
async function writerOf({ git, top, base, tip }: BlameContext, hunk: ChangedHunk): Promise<string | null> {
  const range = `${hunk.start},${hunk.start + hunk.added.length - 1}`;
  const args = ["blame", "--no-textconv", "--porcelain", "-L", range, `${base}..${tip}`, "--", hunk.file];
  const { exitCode, stdout } = await git.ask(args, { cwd: top });
  return exitCode === 0 ? mostNamed(stdout) : null;
}

/** Returns the commit after the last one that still had the lines. */
async function removerOf({ git, top, base, tip }: BlameContext, hunk: ChangedHunk): Promise<string | null> {
  if (hunk.removed.length === 0) return null;
  const range = `${hunk.oldStart},${hunk.oldEnd}`;
  const args = [
    "blame",
    "--no-textconv",
    "--porcelain",
    "--reverse",
    "-L",
    range,
    `${base}..${tip}`,
    "--",
    hunk.oldFile,
  ];
  const { exitCode, stdout } = await git.ask(args, { cwd: top });
  const last = exitCode === 0 ? (mostNamed(stdout, true) ?? base) : null;
  if (last === null) return null;
  const after = await git.ask(["rev-list", "--reverse", "--ancestry-path", `${last}..${tip}`], { cwd: top });
  return after.stdout.split("\n")[0] || null;
}

/** Returns the commit with the most lines. Commits at the boundary of the range do not count. */
function mostNamed(porcelain: string, withEdge = false): string | null {
  const counts = new Map<string, number>();
  const edge = new Set<string>();
  let current = "";
  for (const text of porcelain.split("\n")) {
    const head = /^([0-9a-f]{40,64}) \d+ \d+/.exec(text)?.[1];
    if (head !== undefined) counts.set((current = head), (counts.get(head) ?? 0) + 1);
    else if (text === "boundary") edge.add(current);
  }
  const found = [...counts].filter(([commit]) => withEdge || !edge.has(commit)).sort((a, b) => b[1] - a[1]);
  return found[0]?.[0] ?? null;
}

async function originOf(git: Git, commit: string): Promise<Origin> {
  const message = await git.run(["show", "--no-patch", "--format=%B", commit]);
  const trailers = readTrailers(message);
  const attempt = Number(trailers.get(TRAILERS.attempt));
  const [story, role, phase] = [TRAILERS.story, TRAILERS.role, TRAILERS.phase].map((key) => trailers.get(key));
  return {
    commit,
    subject: message.split("\n")[0] ?? "",
    ...(story === undefined ? {} : { story }),
    ...(Number.isSafeInteger(attempt) && attempt > 0 ? { attempt } : {}),
    ...(role === undefined ? {} : { role }),
    ...(phase === undefined ? {} : { phase }),
  };
}
