import { RemandError } from "../../domain/error.ts";
import type { TreeId } from "../../domain/ids.ts";
import type { Git } from "./git.ts";
import { TRAILERS } from "./refs.ts";
import { commitOf, line } from "./repository.ts";

export interface Base {
  readonly commit: string;
  /** For people. */
  readonly name: string;
}

/** The state of files that is judged: a tree, and the commit it is or is based on (`null` before the first one). */
export interface JudgedFiles {
  readonly tree: TreeId;
  readonly commit: string | null;
  /** The branch that was asked for by its name. */
  readonly branch?: string;
}

/**
 * What the work is compared with. A branch that went on in the meantime counts from where the work left it. Without a
 * name it is the default branch; on that branch itself, what is not committed counts from the last commit, and where
 * everything is committed, that commit from the one before.
 */
export async function baseFor(git: Git, judged: JudgedFiles, named: string | null): Promise<Base> {
  if (named !== null) return namedBase(git, judged, named);
  if (judged.commit === null) return { commit: await emptyTree(git), name: "nothing" };
  const trunk = await defaultBranch(git);
  if (trunk !== null) {
    const commit = await forkPoint(git, judged.commit, trunk.commit);
    const begun = commit === null ? null : await beginningOf(git, judged.branch ?? null, commit);
    if (begun !== null) return begun;
    if (commit !== null && commit !== judged.commit) return { commit, name: trunk.name };
  }
  if (judged.tree !== (await treeOf(git, judged.commit))) return { commit: judged.commit, name: "the last commit" };
  const before = await commitOf(git, `${judged.commit}^`);
  return before === null
    ? { commit: await emptyTree(git), name: "nothing" }
    : { commit: before, name: "the commit before" };
}

/** A story that builds on others begins with their work, which is not its own; `null` where it began on the default branch. */
async function beginningOf(git: Git, branch: string | null, fork: string): Promise<Base | null> {
  if (branch?.startsWith("remand/") !== true) return null;
  const begun = await commitOf(git, `refs/remand/base/${branch.slice("remand/".length)}`);
  if (begun === null || begun === fork) return null;
  const { exitCode } = await git.ask(["merge-base", "--is-ancestor", fork, begun]);
  return exitCode === 0 ? { commit: begun, name: "where the story began" } : null;
}

async function namedBase(git: Git, judged: JudgedFiles, name: string): Promise<Base> {
  const commit = await commitOf(git, name);
  if (commit === null) {
    throw new RemandError(
      "usage",
      `there is no commit ${name} to compare with`,
      "Name a branch or a commit that exists here; a clone of CI may have to fetch it first (fetch-depth: 0).",
    );
  }
  const fork = judged.commit === null ? null : await forkPoint(git, judged.commit, commit);
  return { commit: fork ?? commit, name };
}

/** `null` where they have nothing in common, or the clone is too shallow to know. */
async function forkPoint(git: Git, one: string, other: string): Promise<string | null> {
  const { exitCode, stdout } = await git.ask(["merge-base", one, other]);
  return exitCode === 0 ? line(stdout) : null;
}

/** The remote's comes first: what is not pushed yet is what is to be judged. */
async function defaultBranch(git: Git): Promise<Base | null> {
  const { exitCode, stdout } = await git.ask(["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  const known = exitCode === 0 ? [line(stdout)] : [];
  const usual = line((await git.ask(["config", "--get", "init.defaultBranch"])).stdout);
  const names = ["main", "master", "trunk", ...(usual === "" ? [] : [usual])];
  for (const name of [...known, ...names.map((each) => `origin/${each}`), ...names]) {
    const isRemote = name.startsWith("origin/");
    const commit = await commitOf(git, `${isRemote ? "refs/remotes/" : "refs/heads/"}${name}`);
    if (commit !== null) return { commit, name };
  }
  return null;
}

async function treeOf(git: Git, commit: string): Promise<string> {
  return line(await git.run(["rev-parse", "--verify", `${commit}^{tree}`]));
}

const emptyTree = async (git: Git): Promise<string> =>
  line(await git.run(["hash-object", "-t", "tree", "-w", "--stdin"], { stdin: "" }));

/**
 * The story whose attempts wrote commits of the work: their messages say so, or the branch is a story's. A clone of CI
 * may have neither, and knows the branch by its environment.
 */
export async function attemptIn(
  git: Git,
  { commit, branch }: Pick<JudgedFiles, "commit" | "branch">,
  base: string,
  sourceBranch = "",
): Promise<string | null> {
  const current = line((await git.ask(["symbolic-ref", "--quiet", "--short", "HEAD"])).stdout);
  const named = [branch ?? current, sourceBranch].flatMap((each) => STORY_BRANCH.exec(each)?.[1] ?? []);
  if (named.length > 0) return named[0]!;
  if (commit === null) return null;
  const format = `--format=%(trailers:key=${TRAILERS.story},valueonly)`;
  const { exitCode, stdout } = await git.ask(["log", format, `${base}..${commit}`, "--"]);
  return exitCode === 0 ? (stdout.split("\n").find((each) => each !== "") ?? null) : null;
}

const STORY_BRANCH = /^(?:refs\/heads\/)?(?:origin\/)?remand\/(.+)$/;
