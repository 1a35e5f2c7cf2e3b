import { resolve } from "node:path";
import type { VerifyPlan } from "../../app/host-plans.ts";
import { RemandError } from "../../core/events/error.ts";
import type { CommitVerification, CommitsDocument } from "../../core/events/receipt.ts";
import { defaultBranch } from "../../adapters/git/checkout/gated-checkout.ts";
import { isInHistory } from "../../adapters/git/history.ts";
import { RECEIPT_REFS, type ReceiptName, receiptNames, receiptTexts } from "../../adapters/git/receipts.ts";
import { commitOf, repositoryOpener } from "../../adapters/git/repository.ts";
import { checkReceipt, receiptTitle, type KnownKeys } from "./check-receipt.ts";
import { type FoundReceipt, type MatchedCommit, type ReadCommit, createMatcher, readCommits } from "./match-commits.ts";
import { type PublicKeys, keysInFile, keysOnBranch } from "./public-keys.ts";

/** Reports for each commit whether a receipt covers it. Uses only the repository and the keys. */
export async function verifyCommits(root: string, plan: VerifyPlan): Promise<CommitsDocument> {
  const { git } = await repositoryOpener(root)();
  const base = plan.base === null ? await defaultBranch(git) : await namedBase(git, plan.base);
  const commits = await readCommits(git, plan.commits);
  const verifiedIds = new Set(commits.map(({ commit }) => commit));
  const keys = plan.keys === null ? keysOnBranch(git, base, verifiedIds) : await keysInFile(resolve(root, plan.keys));
  const [names, tips] = [await receiptNames(git, null), commits.slice(0, 1)];
  const found = createReceiptReader(names, await receiptTexts(git, names), keys);
  const matcher = createMatcher(git, {
    commits,
    receiptsFor: async (commit) => (await found(commit)).valid,
    isOnBase: async (commit) => base !== null && (await isInHistory(git, commit, base.commit)),
    tips: tips.map(({ commit }) => commit),
  });
  const verified: CommitVerification[] = [];
  for (const commit of commits) {
    const match = await matcher(commit);
    const bad = match === null ? (await found(commit.commit)).bad : [];
    verified.push(verificationOf(commit, match, bad, plan, names.length));
  }
  const { keys: known } = await keys.forCommit(commits[0]!.commit);
  const ok = verified.every(
    ({ match, isRequired, isContradicted }) => match !== null || !(isRequired || isContradicted),
  );
  return { ok, keysFrom: keys.from, keys: known.length, receipts: names.length, commits: verified };
}

async function namedBase(git: Parameters<typeof commitOf>[0], name: string) {
  const commit = await commitOf(git, name);
  if (commit !== null) return { commit, name };
  throw new RemandError(
    "usage",
    `There is no commit ${name} here`,
    "Give --base the branch that work is merged into; a clone of CI may have to fetch it first (fetch-depth: 0).",
  );
}

interface BadReceipt {
  readonly name: ReceiptName;
  readonly problem: string;
}

interface FoundReceipts {
  readonly valid: readonly FoundReceipt[];
  /** Receipts that name the commit and are invalid. */
  readonly bad: readonly BadReceipt[];
}

/** Checks receipts once per set of keys. */
function createReceiptReader(
  names: readonly ReceiptName[],
  texts: readonly (string | null)[],
  keys: PublicKeys,
): (commit: string) => Promise<FoundReceipts> {
  const checked = new Map<KnownKeys, { valid: FoundReceipt[]; bad: BadReceipt[] }>();
  const checkAll = (known: KnownKeys): { valid: FoundReceipt[]; bad: BadReceipt[] } => {
    const before = checked.get(known);
    if (before !== undefined) return before;
    const all: { valid: FoundReceipt[]; bad: BadReceipt[] } = { valid: [], bad: [] };
    for (const [at, name] of names.entries()) {
      const result = checkReceipt(name, texts[at] ?? null, known);
      if (result.ok) all.valid.push(result);
      else all.bad.push({ name, problem: result.problem });
    }
    checked.set(known, all);
    return all;
  };
  return async (commit) => {
    const { valid, bad } = checkAll(await keys.forCommit(commit));
    return { valid, bad: bad.filter(({ name }) => name.commit === commit) };
  };
}

function verificationOf(
  { commit, subject, message }: ReadCommit,
  matched: MatchedCommit | null,
  bad: readonly BadReceipt[],
  { require }: VerifyPlan,
  receipts: number,
): CommitVerification {
  const hasTrailer = /^Remand-(?:Story|Attempt|Journal): /m.test(message);
  const isRequired = require === "all" || (require === "trailers" && hasTrailer);
  const common = { commit, subject, isRequired };
  if (matched !== null)
    return { ...common, match: matched.match, receipt: matched.receipt.receipt, problem: null, isContradicted: false };
  const [first] = bad;
  const none =
    receipts === 0
      ? `No receipt is here: fetch them, git fetch origin '${RECEIPT_REFS}/*:${RECEIPT_REFS}/*'.`
      : hasTrailer
        ? "No receipt holds for it: it was changed after it was accepted, or never accepted."
        : "No receipt holds for it.";
  const problem = first === undefined ? none : `${receiptTitle(first.name)} ${first.problem}.`;
  return { ...common, match: null, receipt: null, problem, isContradicted: first !== undefined };
}
