import { readFile } from "node:fs/promises";
import { RemandError } from "../../core/events/error.ts";
import { KEYS_FILE, readReceiptKeys } from "../../parse/data/receipt-keys.ts";
import type { Git } from "../../adapters/git/git.ts";
import { fileText, isInHistory } from "../../adapters/git/history.ts";
import type { BaseCommit } from "../../adapters/git/checkout/gated-checkout.ts";
import type { KnownKeys } from "./check-receipt.ts";

/** The public keys that are valid for a commit. */
export interface PublicKeys {
  readonly from: string;
  forCommit(commit: string): Promise<KnownKeys>;
}

/** The keys of a file that a person named. */
export async function keysInFile(file: string): Promise<PublicKeys> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new RemandError("file-missing", `Cannot read the keys: ${error.message}`, "Give --keys a file with keys.");
  });
  const known = readKnown(text, file);
  return { from: file, forCommit: async () => known };
}

/**
 * The keys on the base branch, never those of the verified commits. For a commit that is not on that branch, the newest
 * keys; for a commit that is, the keys as they were before that commit and all other verified ones.
 */
export function keysOnBranch(git: Git, base: BaseCommit | null, verified: ReadonlySet<string>): PublicKeys {
  if (base === null) {
    const from = `${KEYS_FILE} on the base branch, which was not found`;
    const none = { from, keys: [] };
    return { from, forCommit: async () => none };
  }
  const from = `${KEYS_FILE} on ${base.name}`;
  const read = new Map<string, Promise<KnownKeys>>();
  const keysAt = (commit: string): Promise<KnownKeys> => {
    const known = read.get(commit) ?? readAt(git, commit, from);
    read.set(commit, known);
    return known;
  };
  const mainline = createMainline(git, base.commit);
  return {
    from,
    forCommit: async (commit) => {
      const before = await mainline.before(commit, verified);
      if (before === null) return keysAt(base.commit);
      return before.commit === null ? { from, keys: [] } : keysAt(before.commit);
    },
  };
}

/** The keys that the branch lists now. */
export const newestKeys = async (git: Git, { commit, name }: BaseCommit): Promise<KnownKeys> =>
  readAt(git, commit, `${KEYS_FILE} on ${name}`);

async function readAt(git: Git, commit: string, from: string): Promise<KnownKeys> {
  return readKnown((await fileText(git, commit, KEYS_FILE)) ?? "", from);
}

function readKnown(text: string, from: string): KnownKeys {
  const { keys, problems } = readReceiptKeys(text);
  if (problems.length === 0) return { from, keys };
  const form = "A line is: ed25519 <key> [from <time>] [to <time>] [# comment]. remand key show prints yours.";
  throw new RemandError("config-invalid", `${from}: ${problems[0]}`, form);
}

/**
 * The first-parent history of the base branch. A commit that was merged is not in it, but arrived with a commit that
 * is.
 */
function createMainline(
  git: Git,
  tip: string,
): { before(commit: string, verified: ReadonlySet<string>): Promise<{ readonly commit: string | null } | null> } {
  let chain: Promise<readonly string[]> | null = null;
  const commits = (): Promise<readonly string[]> =>
    (chain ??= git.run(["rev-list", "--first-parent", tip]).then((text) => text.trim().split("\n")));
  return {
    /**
     * The newest commit of the branch without `commit` that is not verified itself; `null`: the branch does not contain
     * `commit`.
     */
    before: async (commit, verified) => {
      if (!(await isInHistory(git, commit, tip))) return null;
      const line = await commits();
      // Newest first: commits that contain it come before those that do not.
      let [holds, lacks] = [0, line.length];
      while (lacks - holds > 1) {
        const middle = (holds + lacks) >> 1;
        if (await isInHistory(git, commit, line[middle]!)) holds = middle;
        else lacks = middle;
      }
      return { commit: line.slice(holds + 1).find((each) => !verified.has(each)) ?? null };
    },
  };
}
