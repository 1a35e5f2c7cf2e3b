import { RemandError } from "../../core/events/error.ts";
import { type StoryId, treeId } from "../../core/events/ids.ts";
import { PAYLOAD_TYPE, type ReceiptStatement } from "../../core/events/receipt.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { type ReceiptLine, concernsReceipts, receiptLines } from "../../engine/receipt-moments.ts";
import type { Journal, StoredEvent, Receipts } from "../../ports/journal.ts";
import { canonicalJson } from "../../stdx/canonical-json.ts";
import { signPayload } from "./check-receipt.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import { receiptStatement } from "../../views/story/receipt.ts";
import { dropReceipts, keepReceipt, receiptNames } from "../../adapters/git/receipts.ts";
import type { Git } from "../../adapters/git/git.ts";
import { repositoryOpener, userStateFolder } from "../../adapters/git/repository.ts";
import { ownVersion } from "../telemetry.ts";
import type { ReceiptRange } from "./kept-receipts.ts";
import { type UserKey, userKey } from "./user-key.ts";

interface ReceiptParts {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly journal: Pick<Journal, "id" | "read" | "head">;
  /** Pushes receipts to where the story's work went; absent, or if the work was not pushed: they stay local. */
  push?(git: Git, refs: readonly string[], story: StoryState): Promise<void>;
  onNotice(text: string): void;
}

export interface OwnReceipts extends Receipts {
  /** Issues receipts for every story with new lines since the last call, whichever process wrote them. */
  catchUp(state: RunState): Promise<void>;
}

/** Signs the acceptances and waivers of a journal with the user's key, and keeps them as refs of the repository. */
export function createReceipts(parts: ReceiptParts, range: ReceiptRange): OwnReceipts {
  const repository = repositoryOpener(parts.root);
  let turn: Promise<unknown> = Promise.resolve();
  /** One at a time: two at once would both find a receipt missing. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T | null> => {
    const next = turn.then(() => reported(parts, work));
    turn = next;
    return next;
  };
  const issueNow = async (story: StoryId, state: RunState): Promise<void> => {
    const known = lookup(state.stories, story, byText);
    const journal = await journalId(parts.journal);
    if (known?.policy == null || journal === null) return;
    const lines = await linesOf(parts.journal, story);
    if (!lines.some(({ event }) => concernsReceipts(event))) return;
    const { since } = await range.read();
    const { made, undone } = receiptLines(story, lines, known.policy);
    const wanted = made.filter(({ line }) => line.position > since);
    if (wanted.length === 0 && undone.length === 0) return;
    await issueWanted(parts, { git: (await repository()).git, journal, story: known }, wanted, undone);
  };
  return {
    issue: async (story, state) => void (await inTurn(() => issueNow(story, state))),
    catchUp: async (state) =>
      void (await inTurn(async () => {
        const { since, position } = await range.read();
        const stories = new Set<StoryId>();
        let last = position;
        for await (const line of parts.journal.read(position)) {
          if (line.story !== null && concernsReceipts(line.event)) stories.add(line.story);
          last = line.position;
        }
        for (const story of stories) await issueNow(story, state);
        if (last !== position) await range.write({ since, position: last });
      })),
  };
}

/** Reports an error of a key, a file or git. It delays the receipt, never the work: the next run issues the receipt. */
async function reported<T>({ onNotice }: ReceiptParts, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RemandError) {
      if (error.code.startsWith("journal-")) throw error;
      onNotice(`A receipt is not made yet. ${error.message} — ${error.hint}`);
    } else if (error instanceof Error && "code" in error && typeof error.code === "string")
      onNotice(`A receipt is not made yet: ${error.message}. The next run makes it.`);
    else throw error;
    return null;
  }
}

async function linesOf(journal: Pick<Journal, "read">, story: StoryId): Promise<readonly StoredEvent[]> {
  const lines: StoredEvent[] = [];
  for await (const line of journal.read(0, story)) lines.push(line);
  return lines;
}

/**
 * The id of a journal; for a fleet's, which has none, the hash of its first line. That line contains a time and a hash,
 * so no two journals share it.
 */
async function journalId(journal: Pick<Journal, "id" | "read">): Promise<string | null> {
  if (journal.id !== null) return journal.id;
  for await (const { hash } of journal.read(0)) return hash.slice(0, 32);
  return null;
}

async function issueWanted(
  { env, push }: ReceiptParts,
  { git, journal, story }: { readonly git: Git; readonly journal: string; readonly story: StoryState },
  wanted: readonly ReceiptLine[],
  undone: readonly number[],
): Promise<void> {
  const names = await receiptNames(git, journal);
  const taken = names.filter(({ position }) => undone.includes(position));
  if (taken.length > 0) await dropReceipts(git, taken);
  const there = new Set(names.map(({ position }) => position));
  const missing = wanted.filter(({ line }) => !there.has(line.position));
  if (missing.length === 0) return;
  const key = await userKey(userStateFolder(env), Date.now());
  const version = await ownVersion();
  const refs: string[] = [];
  for (const { kind, line, lines, state } of missing) {
    const at = { id: journal, position: line.position, hash: line.hash };
    const statement = receiptStatement(
      { kind, lines, state, at: line.at, journal: at },
      { version, signedAt: Date.now() },
    );
    if (statement !== null) refs.push(await keepSigned(git, statement, key));
  }
  if (refs.length > 0) await push?.(git, refs, story);
}

async function keepSigned(git: Git, statement: ReceiptStatement, { privateKey, current }: UserKey): Promise<string> {
  const payload = Buffer.from(canonicalJson(statement), "utf8");
  const sig = signPayload(PAYLOAD_TYPE, payload, privateKey);
  const envelope = {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString("base64"),
    signatures: [{ keyid: current.id, sig }],
  };
  const { predicate, subject } = statement;
  const [{ digest: ofCommit }, { digest: ofTree }] = subject;
  return keepReceipt(git, {
    journal: predicate.journal.id,
    position: predicate.journal.position,
    kind: predicate.kind,
    commit: ofCommit.gitCommit,
    tree: treeId(ofTree.gitTree),
    story: predicate.story.id,
    title: predicate.story.title,
    text: JSON.stringify(envelope),
  });
}

/** For a fleet: every worker issues the receipts of the work that it accepted itself. */
export const WHOLE_JOURNAL: ReceiptRange = {
  read: async () => ({ since: 0, position: 0 }),
  write: async () => undefined,
};
