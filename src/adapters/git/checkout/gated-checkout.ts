import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { type TreeId, treeId } from "../../../core/events/ids.ts";
import type { JudgedState } from "../../../core/gates/gate-report.ts";
import type { ReviewedPullRequest } from "../../../core/gates/code-owners.ts";
import type { Environment } from "../../process/environment.ts";
import { onDisk } from "../remove-folder.ts";
import type { Git } from "../git.ts";
import {
  type Repository,
  commitOf,
  ensureStateFolder,
  trimLine,
  objectsNamed,
  processUniqueName,
  repositoryOpener,
} from "../repository.ts";
import { createPrivateIndex, treeOfFiles } from "../private-index.ts";
import { TRAILERS } from "../refs.ts";
import { isInHistory, mergeTrees, treeOf } from "../history.ts";
import { openCleanCheckout } from "./clean-checkout.ts";
import { readCheckoutSettings } from "./private-repository.ts";
import type { WorkStart } from "../dependencies/work-start.ts";
import type { Sandbox } from "../../../ports/sandbox.ts";

export interface GatedCheckoutOptions {
  /** A folder in the user's checkout. */
  readonly root: string;
  /** The folder for Remand's own state. */
  readonly state: string;
  /** The commit to check; `null`: the files in the working tree. */
  readonly at: string | null;
  /** What to compare with; `null`: detect it. */
  readonly base: string | null;
  /** A commit of the files at the start of the work. It replaces the detected base. */
  readonly since?: string | null;
  /** The branch of the files, from the CI service's environment: CI checkouts are often on no branch. */
  readonly sourceBranch?: string;
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  /** Ignored files that are copied from the user's checkout. */
  readonly carry?: readonly string[];
  /** Patterns of files, besides lockfiles and manifests, that affect the result of the setup command. */
  readonly inputs?: readonly string[];
  /** The state folder of the user, shared by all checkouts. */
  readonly userState: string;
  readonly env?: Environment;
  readonly setupEnv?: Environment;
  /** The sandbox of the setup command; default: none. */
  readonly sandbox?: Sandbox;
  /** Returns packages and settings as they were before an agent worked; default: their current state. */
  start?(): Promise<WorkStart>;
  /**
   * The path at which sandboxed programs see a checkout with the packages of the start; default or `null`: its real
   * path.
   */
  readonly shownAt?: string | null;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** Files that can be checked, in a folder. */
export interface GatedCheckout extends JudgedState {
  readonly path: string;
  /** The folder in which the person has these files, if `path` is a clean checkout of them. */
  readonly workedIn?: string;
  /** Writes the current files as a commit without a ref. */
  toCommit?(): Promise<string>;
  /** Removes the folders that were made for this checkout. */
  close(): Promise<void>;
}

/**
 * Opens the files to check. The working tree is checked in place: only unreferenced git objects are written. A commit
 * is checked out into a clean checkout, which is removed afterwards.
 */
export async function openGatedCheckout(options: GatedCheckoutOptions): Promise<GatedCheckout> {
  const repository = await repositoryOpener(options.root, options.env)();
  repository.notices.forEach((text) => options.onNotice(text));
  return onDisk(async () => {
    await ensureStateFolder(options.state);
    const state = await realpath(options.state);
    return options.at === null ? filesAsTheyAre(repository, state, options) : commitAlone(repository, options);
  });
}

async function filesAsTheyAre(
  repository: Repository,
  state: string,
  options: GatedCheckoutOptions,
): Promise<GatedCheckout> {
  const { git, top, prefix, gitDir } = repository;
  const tree = await treeNow(git, top, gitDir, state);
  const commit = await commitOf(git, "HEAD");
  const begun = typeof options.since === "string" ? await commitOf(git, options.since) : null;
  const base =
    begun === null
      ? await baseFor(git, { tree, commit }, options.base)
      : { commit: begun, name: "the start of the conversation" };
  const attempt = await attemptIn(git, { commit }, base.commit, options.sourceBranch);
  const toCommit = async (): Promise<string> =>
    trimLine(
      await git.run(["commit-tree", tree, ...(commit === null ? [] : ["-p", commit]), "-m", "where the work began"]),
    );
  const judged = { at: null, tree, commit: commit ?? "", base: base.commit, baseName: base.name, folder: prefix };
  return { ...judged, ...attemptOf(attempt), path: join(top, prefix), toCommit, close: async () => {} };
}

/** Returns the tree of the current files, by a temporary index that starts as a copy of the user's. */
async function treeNow(git: Git, top: string, gitDir: string, state: string): Promise<TreeId> {
  // The dot avoids a clash: no story id begins with a dot.
  const index = createPrivateIndex(join(state, "index", `.gate-${processUniqueName()}`));
  try {
    await index.seed(join(gitDir, "index"));
    return await index.use((copy) => treeOfFiles(git, top, copy));
  } finally {
    await index.drop();
  }
}

async function commitAlone(repository: Repository, options: GatedCheckoutOptions): Promise<GatedCheckout> {
  const { git, top, prefix } = repository;
  const at = options.at!;
  const commit = await commitOf(git, at);
  if (commit === null)
    throw new RemandError("usage", `there is no commit ${at}`, "Name a branch or a commit that exists.");
  const tree = treeId(trimLine(await git.run(["rev-parse", "--verify", `${commit}^{tree}`])));
  const base = await baseFor(git, { tree, commit, branch: at }, options.base);
  const attempt = await attemptIn(git, { commit, branch: at }, base.commit, options.sourceBranch);
  const wanted = { commit, base: base.commit };
  const { shownAt = null, ...others } = options;
  const begun = await options.start?.();
  const settings = begun?.settings ?? (await readCheckoutSettings(repository));
  const checkout = await openCleanCheckout(repository, wanted, settings, {
    ...others,
    ...(begun === undefined ? {} : { dependencies: begun.dependencies }),
    ...(shownAt !== null && (await begun?.isSandboxed()) === true ? { shownAt } : {}),
  });
  return {
    at,
    tree,
    commit,
    base: base.commit,
    baseName: base.name,
    folder: prefix,
    ...attemptOf(attempt),
    path: resolve(checkout.path, prefix),
    workedIn: resolve(top, prefix),
    close: () => onDisk(() => checkout.close()),
  };
}

const attemptOf = (attempt: string | null): Pick<JudgedState, "attemptOf"> =>
  attempt === null ? {} : { attemptOf: attempt };

export interface BaseCommit {
  readonly commit: string;
  /** A name to show to people. */
  readonly name: string;
}

/** The files to check: a tree, and the commit that has it or that it is based on (`null` before the first commit). */
export interface GatedFiles {
  readonly tree: TreeId;
  readonly commit: string | null;
  /** The branch, if the caller asked for one by name. */
  readonly branch?: string;
}

/**
 * Returns the commit to compare the work with. For another branch this is the fork point, so later commits on that
 * branch do not count. The default is the default branch. On the default branch itself, uncommitted changes are
 * compared with the last commit; if everything is committed, the last commit with the one before it.
 */
async function baseFor(git: Git, judged: GatedFiles, named: string | null): Promise<BaseCommit> {
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

/**
 * Returns where a stacked story began: it starts with the work of other stories, which is not its own. `null` if it
 * began on the default branch.
 */
async function beginningOf(git: Git, branch: string | null, fork: string): Promise<BaseCommit | null> {
  if (branch?.startsWith("remand/") !== true) return null;
  const begun = await commitOf(git, `refs/remand/base/${branch.slice("remand/".length)}`);
  if (begun === null || begun === fork) return null;
  return (await isInHistory(git, fork, begun)) ? { commit: begun, name: "where the story began" } : null;
}

async function namedBase(git: Git, judged: GatedFiles, name: string): Promise<BaseCommit> {
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

/** Returns the merge base; `null` if the histories are unrelated or the clone is too shallow to tell. */
async function forkPoint(git: Git, one: string, other: string): Promise<string | null> {
  const { exitCode, stdout } = await git.ask(["merge-base", one, other]);
  return exitCode === 0 ? trimLine(stdout) : null;
}

/** Returns the default branch. The remote's is preferred, because unpushed commits are part of what is checked. */
export async function defaultBranch(git: Git): Promise<BaseCommit | null> {
  const { exitCode, stdout } = await git.ask(["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  const known = exitCode === 0 ? [trimLine(stdout)] : [];
  const usual = trimLine((await git.ask(["config", "--get", "init.defaultBranch"])).stdout);
  const usuals = ["main", "master", "trunk", ...(usual === "" ? [] : [usual])];
  const names = [...known, ...usuals.map((each) => `origin/${each}`), ...usuals];
  const refs = names.map((name) => `${name.startsWith("origin/") ? "refs/remotes/" : "refs/heads/"}${name}^{commit}`);
  const commits = await objectsNamed(git, refs);
  const at = commits.findIndex((commit) => commit !== null);
  return at < 0 ? null : { commit: commits[at]!, name: names[at]! };
}

const emptyTree = async (git: Git): Promise<string> =>
  trimLine(await git.run(["hash-object", "-t", "tree", "-w", "--stdin"], { stdin: "" }));

/**
 * Returns the story that the work belongs to: its commit messages or the branch name say so. A clone in CI may have
 * neither; there the branch comes from the environment.
 */
async function attemptIn(
  git: Git,
  { commit, branch }: Pick<GatedFiles, "commit" | "branch">,
  base: string,
  sourceBranch = "",
): Promise<string | null> {
  const current = trimLine((await git.ask(["symbolic-ref", "--quiet", "--short", "HEAD"])).stdout);
  const named = [branch ?? current, sourceBranch].flatMap((each) => STORY_BRANCH.exec(each)?.[1] ?? []);
  if (named.length > 0) return named[0]!;
  if (commit === null) return null;
  const format = `--format=%(trailers:key=${TRAILERS.story},valueonly)`;
  const { exitCode, stdout } = await git.ask(["log", format, `${base}..${commit}`, "--"]);
  return exitCode === 0 ? (stdout.split("\n").find((each) => each !== "") ?? null) : null;
}

const STORY_BRANCH = /^(?:refs\/heads\/)?(?:origin\/)?remand\/(.+)$/;

/**
 * Returns why the checked files are not those of the pull request's newest commit. `null` if they are: that commit
 * itself, or its merge into the target, which CI services check out.
 */
export async function mismatchWithPullRequest(
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
  // Read the raw commit: in a shallow clone, every other command hides the parents.
  const text = await git.run(["cat-file", "commit", commit]);
  const fields = text.slice(0, text.indexOf("\n\n")).split("\n");
  const [target, merged, ...more] = fields.flatMap((field) => /^parent (\S+)$/.exec(field)?.[1] ?? []);
  if (target === undefined || merged !== head || more.length > 0) return false;
  if (commit === mergeCommit) return true;
  // The target moved on after this merge. It still counts if its tree is exactly what git makes of the two parents.
  const isWhole = async (name: string): Promise<boolean> => (await git.ask(["cat-file", "-e", name])).exitCode === 0;
  if (!(await isWhole(target)) || !(await isWhole(head))) return false;
  const combined = await mergeTrees(git, target, head);
  return combined.conflicts.length === 0 && combined.tree === tree;
}
