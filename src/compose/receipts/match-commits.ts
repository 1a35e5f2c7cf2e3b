import { RemandError } from "../../core/events/error.ts";
import type { ReceiptMatch, VerifiedReceipt } from "../../core/events/receipt.ts";
import type { Git } from "../../adapters/git/git.ts";
import { isInHistory, mergeTrees } from "../../adapters/git/history.ts";
import { TRAILERS } from "../../adapters/git/refs.ts";

export interface ReadCommit {
  readonly commit: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly subject: string;
  readonly message: string;
}

/** A receipt with a valid signature. */
export interface FoundReceipt {
  readonly receipt: VerifiedReceipt;
  readonly commit: string;
  readonly tree: string;
}

export interface MatchedCommit {
  readonly match: ReceiptMatch;
  readonly receipt: FoundReceipt;
}

/** Reads one commit, or those of a range, newest first. */
export async function readCommits(git: Git, what: string): Promise<readonly ReadCommit[]> {
  const isRange = what.includes("..");
  const missing = new RemandError(
    "usage",
    `There is no commit ${what} here`,
    "Name a commit, a branch or a range such as main..remand/letter.",
  );
  if (what.startsWith("-")) throw missing;
  const args = ["log", "--topo-order", `--format=${FORMAT}`, ...(isRange ? [] : ["-1"]), what, "--"];
  const { exitCode, stdout } = await git.ask(args);
  if (exitCode !== 0) throw missing;
  const commits = commitsIn(stdout);
  if (commits.length === 0) throw new RemandError("usage", `The range ${what} is empty`, "Name a range with commits.");
  return commits;
}

const FORMAT = "%H%x00%T%x00%P%x00%s%x00%B%x00";

function commitsIn(text: string): readonly ReadCommit[] {
  const fields = text.split("\0");
  const commits: ReadCommit[] = [];
  for (let at = 0; at + 5 < fields.length; at += 5) {
    const [commit = "", tree = "", parents = "", subject = "", message = ""] = fields.slice(at, at + 5);
    const list = parents.split(" ").filter((each) => each !== "");
    commits.push({ commit: commit.trim(), tree, parents: list, subject, message });
  }
  return commits;
}

interface MatchContext {
  readonly commits: readonly ReadCommit[];
  /** The newest of the verified commits; whatever is merged into them is covered with them. */
  readonly tips: readonly string[];
  /** Receipts of these commits; only acceptances count. */
  receiptsFor(commit: string): Promise<readonly FoundReceipt[]>;
  isOnBase(commit: string): Promise<boolean>;
}

/** Finds the receipt that covers a commit, and how; `null` where none does. */
export function createMatcher(git: Git, context: MatchContext): (commit: ReadCommit) => Promise<MatchedCommit | null> {
  const known = new Map<string, Promise<MatchedCommit | null>>();
  const rebased = new Map<string, MatchedCommit>();
  const match = (commit: ReadCommit): Promise<MatchedCommit | null> => {
    const before = known.get(commit.commit) ?? findMatch(commit);
    known.set(commit.commit, before);
    return before;
  };
  const findMatch = async (commit: ReadCommit): Promise<MatchedCommit | null> => {
    const all = await context.receiptsFor(commit.commit);
    const receipts = all.filter(({ receipt }) => receipt.predicate.kind === "acceptance");
    return (
      itself(commit, receipts) ??
      (await ofMerge(commit)) ??
      (await ofSquash(commit, receipts)) ??
      rebased.get(commit.commit) ??
      (await earlier(commit, receipts))
    );
  };
  /**
   * A merge without changes of its own: its tree is what git makes of a parent with a receipt and one on the base
   * branch.
   */
  const ofMerge = async ({ tree, parents }: ReadCommit): Promise<MatchedCommit | null> => {
    const [first, second, ...more] = parents;
    if (first === undefined || second === undefined || more.length > 0) return null;
    for (const [work, other] of [[second, first] as const, [first, second] as const]) {
      if (!(await context.isOnBase(other))) continue;
      const matched = await match(await commitNamed(git, work));
      if (matched !== null && (await mergesTo(git, first, second, tree))) return { ...matched, match: "merge" };
    }
    return null;
  };
  /** A squash, or the last commit of a rebase: its tree is what git makes of the work and its new base. */
  const ofSquash = async (commit: ReadCommit, receipts: readonly FoundReceipt[]): Promise<MatchedCommit | null> => {
    const chain = await chainOf(git, commit, context.commits);
    const story = storyOf(commit);
    for (const [depth, onto] of chain.entries()) {
      const candidates = await notIn(git, onto, receipts, depth === 0 ? null : story);
      for (const receipt of candidates) {
        if (!(await mergesTo(git, onto, receipt.commit, commit.tree))) continue;
        const matched: MatchedCommit = { match: "squash", receipt };
        for (const between of chain.slice(0, depth)) rebased.set(between, { match: "earlier", receipt });
        return matched;
      }
    }
    return null;
  };
  /** An earlier attempt in the history of the accepted commit, which is among the verified commits. */
  const earlier = async ({ commit }: ReadCommit, receipts: readonly FoundReceipt[]): Promise<MatchedCommit | null> => {
    for (const receipt of receipts) {
      if (!receipt.receipt.predicate.commits.includes(commit)) continue;
      for (const tip of context.tips)
        if (await isInHistory(git, receipt.commit, tip)) return { match: "earlier", receipt };
    }
    return null;
  };
  return match;
}

function itself({ commit, tree }: ReadCommit, receipts: readonly FoundReceipt[]): MatchedCommit | null {
  const same = receipts.find((each) => each.commit === commit && each.tree === tree);
  if (same !== undefined) return { match: "commit", receipt: same };
  const equal = receipts.find((each) => each.tree === tree);
  return equal === undefined ? null : { match: "tree", receipt: equal };
}

async function commitNamed(git: Git, commit: string): Promise<ReadCommit> {
  return (await readCommits(git, commit))[0]!;
}

/** Whether git merges two commits to this tree. False on a conflict, or if the clone lacks an object. */
async function mergesTo(git: Git, one: string, other: string, tree: string): Promise<boolean> {
  try {
    const merged = await mergeTrees(git, one, other);
    return merged.conflicts.length === 0 && merged.tree === tree;
  } catch (error) {
    if (error instanceof RemandError && error.code === "git-failed") return false;
    throw error;
  }
}

/**
 * The commits that the work may have been rebased onto: the parent, and the parents below commits of the same story.
 */
async function chainOf(git: Git, commit: ReadCommit, listed: readonly ReadCommit[]): Promise<readonly string[]> {
  const story = storyOf(commit);
  const chain: string[] = [];
  let [parent, ...others] = commit.parents;
  while (parent !== undefined && others.length === 0 && chain.length < LONGEST_REBASE) {
    chain.push(parent);
    const at: string = parent;
    const below = listed.find((each) => each.commit === at) ?? (await commitNamed(git, at));
    if (story === null || storyOf(below) !== story) break;
    [parent, ...others] = below.parents;
  }
  return chain;
}

const LONGEST_REBASE = 100;

const storyOf = ({ message }: ReadCommit): string | null =>
  new RegExp(`^${TRAILERS.story}: (\\S+)$`, "m").exec(message)?.[1] ?? null;

/**
 * Receipts for work that is not in `onto`: merging other work would change nothing. Only the newest, because each costs
 * a merge.
 */
async function notIn(
  git: Git,
  onto: string,
  receipts: readonly FoundReceipt[],
  story: string | null,
): Promise<readonly FoundReceipt[]> {
  const wanted = receipts.filter(({ receipt }) => story === null || receipt.predicate.story.id === story);
  if (wanted.length === 0) return [];
  const stdin = [...wanted.map(({ commit }) => commit), `^${onto}`].join("\n");
  const { exitCode, stdout } = await git.ask(["rev-list", "--ignore-missing", "--stdin"], { stdin: `${stdin}\n` });
  if (exitCode !== 0) return [];
  const missing = new Set(stdout.split("\n"));
  return wanted
    .filter(({ commit }) => missing.has(commit))
    .slice(-MOST_CANDIDATES)
    .toReversed();
}

const MOST_CANDIDATES = 200;
