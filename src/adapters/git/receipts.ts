import { RemandError } from "../../core/events/error.ts";
import { type StoryId, type TreeId, treeId } from "../../core/events/ids.ts";
import type { ReceiptKind } from "../../core/events/receipt.ts";
import type { Git } from "./git.ts";
import { commitTree, refName, updateRefs } from "./refs.ts";
import { trimLine } from "./repository.ts";

export const RECEIPT_REFS = "refs/remand/receipts";

/** The data in the name of a receipt's ref. It is only for finding the receipt; the signed content counts. */
export interface ReceiptName {
  readonly ref: string;
  /** The commit whose message holds the receipt. */
  readonly object: string;
  readonly journal: string;
  readonly position: number;
  readonly kind: ReceiptKind;
  readonly commit: string;
  readonly tree: TreeId;
  readonly story: string;
}

export interface NewReceipt extends Pick<ReceiptName, "journal" | "position" | "kind" | "commit" | "tree"> {
  readonly story: StoryId;
  readonly title: string;
  /** The envelope as JSON. */
  readonly text: string;
}

/**
 * Stores a receipt as a commit with the receipt in its message and the accepted commit as its parent. Fetching the ref
 * also fetches that commit, even if its branch is gone or was squashed.
 */
export async function keepReceipt(git: Git, receipt: NewReceipt): Promise<string> {
  const { journal, position, kind, commit, tree, story, title, text } = receipt;
  const name = `${String(position).padStart(POSITION_DIGITS, "0")}-${kind}-${commit}-${tree}-${refName(story)}`;
  const ref = `${RECEIPT_REFS}/${journal}/${name}`;
  const subject = `${kind === "acceptance" ? "Receipt" : "Receipt of a waiver"}: ${title}`;
  const to = await commitTree(git, { tree, parents: [commit], subject, trailers: [], body: text });
  const was = trimLine((await git.ask(["rev-parse", "--verify", "--quiet", ref])).stdout);
  await updateRefs(git, [{ ref, to, was: was === "" ? null : was }]);
  return ref;
}

/** Zero-padded, so that names sort by position. */
const POSITION_DIGITS = 12;
const NAME = new RegExp(
  `^${RECEIPT_REFS}/([0-9a-f]{32})/(\\d{${POSITION_DIGITS}})-(acceptance|waiver)-([0-9a-f]{40,64})-([0-9a-f]{40,64})-(.+)$`,
);

/** Returns the receipts of one journal or of all journals, oldest first; with `newest`, only the last one. */
export async function receiptNames(git: Git, journal: string | null, newest = false): Promise<readonly ReceiptName[]> {
  const below = journal === null ? RECEIPT_REFS : `${RECEIPT_REFS}/${journal}`;
  const only = newest ? ["--count=1", "--sort=-refname"] : [];
  const text = await git.run(["for-each-ref", ...only, "--format=%(objectname) %(refname)", below]);
  return text.split("\n").flatMap((each) => nameOf(each) ?? []);
}

function nameOf(text: string): ReceiptName | null {
  const [object = "", ref = ""] = text.split(" ");
  const [, journal, position, kind, commit, tree, story] = NAME.exec(ref) ?? [];
  if (journal === undefined) return null;
  return {
    ref,
    object,
    journal,
    position: Number(position),
    kind: kind as ReceiptKind,
    commit: commit!,
    tree: treeId(tree!),
    story: story!,
  };
}

/** Returns the text of each receipt, in order; `null` if the ref's object cannot hold a receipt. */
export async function receiptTexts(git: Git, names: readonly ReceiptName[]): Promise<readonly (string | null)[]> {
  const texts: (string | null)[] = [];
  for (let from = 0; from < names.length; from += READ_AT_ONCE) {
    const some = names.slice(from, from + READ_AT_ONCE);
    const stdin = some.map(({ object }) => `${object}\n`).join("");
    const out = await git.run(["cat-file", "--batch"], { stdin });
    texts.push(...textsIn(out, some.length));
  }
  return texts;
}

/** Keeps the output of a call far below its limit: a receipt has a few thousand bytes. */
const READ_AT_ONCE = 500;

/** Splits the output of `cat-file`. Sizes are in bytes, because the subject of a message may not be ASCII. */
function textsIn(out: string, count: number): (string | null)[] {
  const bytes = Buffer.from(out, "utf8");
  const texts: (string | null)[] = [];
  for (let at = 0; texts.length < count && at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at);
    const [, type, size] = bytes.toString("utf8", at, end).split(" ");
    if (size === undefined) {
      texts.push(null);
      at = end + 1;
      continue;
    }
    const object = bytes.toString("utf8", end + 1, end + 1 + Number(size));
    texts.push(type === "commit" ? envelopeIn(object) : null);
    at = end + 1 + Number(size) + 1;
  }
  while (texts.length < count) texts.push(null);
  return texts;
}

/** Returns the last paragraph of the message. */
function envelopeIn(commit: string): string | null {
  const start = commit.indexOf("\n{");
  return start < 0 ? null : commit.slice(start + 1).trim();
}

export async function dropReceipts(git: Git, names: readonly ReceiptName[]): Promise<void> {
  await updateRefs(
    git,
    names.map(({ ref, object }) => ({ ref, to: null, was: object })),
  );
}

/** Pushes receipts to the remote of the work. */
export async function pushReceipts(git: Git, remote: string, refs: readonly string[]): Promise<void> {
  const specs = refs.map((ref) => `+${ref}:${ref}`);
  const { exitCode, stderr } = await git.ask(["push", "--no-verify", "--quiet", "--", remote, ...specs], {
    timeoutMs: PUSH_MS,
    remote: true,
  });
  if (exitCode === 0) return;
  const why = stderr
    .replaceAll(/(\w+:\/\/)[^\s/@]+@/g, "$1")
    .trim()
    .split("\n")
    .slice(-2)
    .join(" ");
  throw new RemandError(
    "git-failed",
    `The receipts could not be sent to ${remote}: ${why}`,
    `Send them yourself: git push ${remote} '${RECEIPT_REFS}/*:${RECEIPT_REFS}/*'`,
  );
}

const PUSH_MS = 60_000;
