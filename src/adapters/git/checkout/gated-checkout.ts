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
  line,
  objectsNamed,
  ownName,
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
  /** A folder of the user's checkout. */
  readonly root: string;
  /** The folder in which Remand keeps its own things. */
  readonly state: string;
  /** The commit to judge; `null`: the files as they are. */
  readonly at: string | null;
  /** What to compare with; `null`: found by itself. */
  readonly base: string | null;
  /** A commit of the files as they were when the work began. It takes the place of a base that is found. */
  readonly since?: string | null;
  /** The branch that the files come from, where a CI service says so: its checkouts may be on none. */
  readonly sourceBranch?: string;
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  /** Ignored files that are copied from the user's checkout. */
  readonly carry?: readonly string[];
  /** Patterns of files, besides lockfiles and manifests, that decide what the set-up makes. */
  readonly inputs?: readonly string[];
  /** The folder for what belongs to the user and to no checkout. */
  readonly userState: string;
  readonly env?: Environment;
  readonly setupEnv?: Environment;
  /** Around the set-up; absent: none. */
  readonly sandbox?: Sandbox;
  /** How things were before an agent worked; absent: they are as they are now. */
  start?(): Promise<WorkStart>;
  /** Where programs in a sandbox find a checkout with the packages of the start; `null`, absent: where it is. */
  readonly shownAt?: string | null;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** A state of the files, in a folder where it can be judged. */
export interface GatedCheckout extends JudgedState {
  readonly path: string;
  /** Where a person has these files, if `path` is a clean checkout of them. */
  readonly workedIn?: string;
  /** Writes the files as they are now as a commit that no name refers to. */
  toCommit?(): Promise<string>;
  /** Takes away what was made for it. */
  close(): Promise<void>;
}

/**
 * The files as they are are judged where they are: nothing is written but objects that no name refers to. A commit is
 * judged in a clean checkout, which is removed afterwards.
 */
export async function openJudgedPlace(options: GatedCheckoutOptions): Promise<GatedCheckout> {
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
    line(
      await git.run(["commit-tree", tree, ...(commit === null ? [] : ["-p", commit]), "-m", "where the work began"]),
    );
  const judged = { at: null, tree, commit: commit ?? "", base: base.commit, baseName: base.name, folder: prefix };
  return { ...judged, ...attemptOf(attempt), path: join(top, prefix), toCommit, close: async () => {} };
}

/** With an index that is ours for this one look, and begins from what is there. */
async function treeNow(git: Git, top: string, gitDir: string, state: string): Promise<TreeId> {
  // No story's id begins with a dot.
  const index = createPrivateIndex(join(state, "index", `.gate-${ownName()}`));
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
  const tree = treeId(line(await git.run(["rev-parse", "--verify", `${commit}^{tree}`])));
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
  /** For people. */
  readonly name: string;
}

/** The state of files that is judged: a tree, and the commit it is or is based on (`null` before the first one). */
export interface GatedFiles {
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

/** A story that builds on others begins with their work, which is not its own; `null` where it began on the default branch. */
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

/** `null` where they have nothing in common, or the clone is too shallow to know. */
async function forkPoint(git: Git, one: string, other: string): Promise<string | null> {
  const { exitCode, stdout } = await git.ask(["merge-base", one, other]);
  return exitCode === 0 ? line(stdout) : null;
}

/** The remote's comes first: what is not pushed yet is what is to be judged. */
export async function defaultBranch(git: Git): Promise<BaseCommit | null> {
  const { exitCode, stdout } = await git.ask(["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  const known = exitCode === 0 ? [line(stdout)] : [];
  const usual = line((await git.ask(["config", "--get", "init.defaultBranch"])).stdout);
  const usuals = ["main", "master", "trunk", ...(usual === "" ? [] : [usual])];
  const names = [...known, ...usuals.map((each) => `origin/${each}`), ...usuals];
  const refs = names.map((name) => `${name.startsWith("origin/") ? "refs/remotes/" : "refs/heads/"}${name}^{commit}`);
  const commits = await objectsNamed(git, refs);
  const at = commits.findIndex((commit) => commit !== null);
  return at < 0 ? null : { commit: commits[at]!, name: names[at]! };
}

const emptyTree = async (git: Git): Promise<string> =>
  line(await git.run(["hash-object", "-t", "tree", "-w", "--stdin"], { stdin: "" }));

/**
 * The story whose attempts wrote commits of the work: their messages say so, or the branch is a story's. A clone of CI
 * may have neither, and knows the branch by its environment.
 */
async function attemptIn(
  git: Git,
  { commit, branch }: Pick<GatedFiles, "commit" | "branch">,
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
