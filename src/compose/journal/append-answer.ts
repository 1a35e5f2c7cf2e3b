import { withIdentity, type EventAuthor } from "../../core/events/authority.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Event } from "../../core/events/event.ts";
import type { StoryId } from "../../core/events/ids.ts";
import { concernsReceipts } from "../../engine/receipt-moments.ts";
import type { Journal, StreamEvents } from "../../ports/journal.ts";
import { hasLivingOwner } from "../../adapters/journal/ownership.ts";
import { stateFolder } from "../state-folder.ts";
import type { FoldedJournal } from "../../engine/fold-journal.ts";
import { continueLedger, openLedger, type Ledger } from "../../engine/ledger.ts";
import { createSystemClock } from "../../adapters/clock/system-clock.ts";
import { shownSecrets } from "../project-evidence.ts";
import { notedRange } from "../receipts/kept-receipts.ts";
import { journalLocation } from "./read-journal.ts";
import { assertAuthority } from "./author.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";

/**
 * Appends events from outside of the engine, which notices new lines. The journal is opened and folded once for all
 * streams. Refuses a process that an engine started. `speaker`: the author for whom this process speaks. `known`: what
 * this process has already folded; newer lines are read before anything is decided.
 */
export async function appendAnswers(
  root: string,
  db: string | null,
  streams: readonly StreamEvents[],
  speaker: EventAuthor,
  env: Readonly<Record<string, string | undefined>>,
  known: FoldedJournal | null = null,
): Promise<void> {
  // Checked before the journal is opened: an agent may write nothing at all.
  assertAuthority(speaker, []);
  const opened = await journalLocation(root, db).write();
  if (opened === null)
    throw new RemandError("file-missing", "nothing has run here yet", "Start with `remand run` or `remand loop`.");
  try {
    await shownSecrets(root, []);
    const world = { journal: opened.journal, clock: createSystemClock(), watcher: NO_WATCHER };
    const ledger = known === null ? await openLedger(world) : await continueLedger(world, known);
    for (const group of together(streams))
      await Promise.all(group.map(({ stream, events }) => appendAs(speaker, ledger, stream, events)));
    if (db === null && streams.some(({ events }) => events.some(concernsReceipts)))
      await signAnswer(root, env, opened.journal, ledger);
  } finally {
    await opened.close();
  }
}

/**
 * Groups that are written at the same moment: the journal commits them together, and a commit waits for the disk. Events
 * of one stream stay in their order.
 */
function together(streams: readonly StreamEvents[]): readonly (readonly StreamEvents[])[] {
  const groups: StreamEvents[][] = [];
  for (const each of streams) {
    const last = groups.at(-1);
    const isApart =
      last === undefined || last.length >= MOST_TOGETHER || last.some(({ stream }) => stream === each.stream);
    if (isApart) groups.push([each]);
    else last.push(each);
  }
  return groups;
}

const MOST_TOGETHER = 500;

/** Signs an accepting or waiving answer at once; if an engine is running, the engine makes the receipt. */
async function signAnswer(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  journal: Journal,
  ledger: Ledger,
): Promise<void> {
  if (await hasLivingOwner(stateFolder(root).journal)) return;
  const { createReceipts } = await import("../receipts/issue-receipts.ts");
  // If the receipt cannot be made now, the next run reports the reason, and makes it.
  const parts = { root, env, journal, onNotice: () => undefined };
  await createReceipts(parts, notedRange(root, journal)).catchUp(ledger.state());
}

/** Appends the events that their author may write, with how the author is known. */
export async function appendAs(
  author: EventAuthor,
  ledger: Ledger,
  stream: StoryId | null,
  events: readonly Event[],
): Promise<void> {
  const run = ledger.state();
  const story = stream === null ? undefined : lookup(run.stories, stream, byText);
  assertAuthority(author, events, { pausedAs: story?.heldAs, haltedAs: run.halted?.identity });
  await appendWithRetry(ledger, stream, withIdentity(author, events));
}

/** Retries on a conflict with another writer, so that a person's answer is not lost. */
export async function appendWithRetry(ledger: Ledger, stream: StoryId | null, events: readonly Event[]): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) if (await ledger.append(stream, events)) return;
  throw new RemandError("journal-locked", "the journal is busy", "Try again in a moment.");
}

const MOST_TRIES = 50;

const NO_WATCHER = { onLines: () => undefined, onOutput: () => undefined };
