import { byText, lookup } from "../stdx/sorted-map.ts";
import type { Event, Step } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Running, StoryState } from "../core/stories/story-state.ts";
import type { StoredEvent, Watcher } from "../ports/journal.ts";
import { type FoldedJournal, foldJournal, withLine } from "./fold-journal.ts";
import { type FoldedRun, createSnapshotSaver } from "./snapshot.ts";
import type { EngineWorld } from "./world.ts";

/** The journal and the state folded from it, kept in step. The only writer of events in the engine. */
export interface Ledger {
  state(): RunState;
  story(id: StoryId): StoryState;
  /**
   * Appends events to a stream. `false`: another writer was first and nothing was written, so the caller must look at
   * the state again. `known`: the number of events that the writer has seen; default: all folded events.
   */
  append(stream: StoryId | null, events: readonly Event[], known?: number): Promise<boolean>;
  /** Whether the writer may still write about this story. Always true, except for commands (see `fencing.ts`). */
  mayWrite(stream: StoryId | null): boolean;
  /** Folds what other writers have appended. */
  catchUp(): Promise<void>;
  /** Resolves at the next change of the state. */
  changed(): Promise<void>;
  /** Saves a snapshot, so that the next reader folds little. Call it when work pauses. */
  rest(): Promise<void>;
}

type LedgerWorld = Pick<EngineWorld, "journal" | "clock" | "watcher">;

export async function openLedger(world: LedgerWorld): Promise<Ledger> {
  const opened = await foldJournal(world.journal);
  return ledgerFrom(world, opened, opened.kept?.position ?? 0);
}

/**
 * Continues from a state that another reader of the same journal has folded, and reads only the lines after it. That
 * journal's engine makes the snapshots, unless many lines are appended here.
 */
export async function continueLedger(world: LedgerWorld, known: FoldedJournal): Promise<Ledger> {
  // Copies, because the reader continues to fold and to count lines in its own maps.
  const own = { ...known, seqs: new Map(known.seqs), odd: new Set(known.odd) };
  const ledger = ledgerFrom(world, own, known.position);
  await ledger.catchUp();
  return ledger;
}

/** `lastSaved`: the position of the last snapshot. */
function ledgerFrom(world: LedgerWorld, opened: FoldedJournal, lastSaved: number): Ledger {
  const { journal, clock } = world;
  const { now, fold, changed } = folding(opened, world.watcher);
  const saveSnapshot = createSnapshotSaver(journal, opened.kept);
  const inTurn = oneByOne();
  let savedAt = lastSaved;
  let writing = 0;

  const keepSnapshot = async (every: number): Promise<void> => {
    const { position } = now();
    if (position - savedAt < every) return;
    savedAt = position;
    await saveSnapshot(now());
  };
  const readOn = async (): Promise<void> => {
    const lines: StoredEvent[] = [];
    for await (const line of journal.read(now().position)) lines.push(line);
    fold(lines);
    await keepSnapshot(SNAPSHOT_EVERY);
  };
  // Writers that appended at the same time share one read. It has not begun yet, so it will include all their lines.
  let planned: Promise<void> | null = null;
  const readSoon = (): Promise<void> =>
    (planned ??= inTurn(() => {
      planned = null;
      return readOn();
    }));
  // Lines that were just written are not read again, unless lines of other writers may be before or after them.
  const foldOwn = async (stored: readonly StoredEvent[]): Promise<void> => {
    if (writing > 1 || stored[0]?.position !== now().position + 1) return readOn();
    fold(stored);
    await keepSnapshot(SNAPSHOT_EVERY);
  };

  return {
    state: () => now().state,
    story: (id) => lookup(now().state.stories, id, byText)!,
    append: async (stream, events, known) => {
      writing++;
      try {
        const appended = await journal.append(stream, expectedSeq(now(), stream, known), events, clock.now());
        await (appended.ok && writing === 1 ? inTurn(() => foldOwn(appended.stored)) : readSoon());
        return appended.ok;
      } finally {
        writing--;
      }
    },
    mayWrite: () => true,
    catchUp: readSoon,
    changed,
    rest: () => inTurn(() => keepSnapshot(WORTH_SAVING)),
  };
}

/**
 * Lines between snapshots: few enough that opening the journal is quick, many enough that writing snapshots costs
 * little.
 */
export const SNAPSHOT_EVERY = 1000;
/** At the end of a run fewer lines are enough for a snapshot, because people read the journal then. */
const WORTH_SAVING = 100;

/**
 * Returns the number of lines that the stream should have. It may hold lines that its story does not count, because
 * they came before the story was added.
 */
function expectedSeq({ state, seqs }: FoldedRun, stream: StoryId | null, known: number | undefined): number {
  const lines = seqs.get(stream) ?? 0;
  if (known === undefined) return lines;
  const folded = stream === null ? state.seq : (lookup(state.stories, stream, byText)?.seq ?? 0);
  return lines - (folded - known);
}

/** The folded state, and the readers that wait for the next change. */
function folding(from: FoldedRun, watcher: Watcher) {
  let folded = from;
  const wake: (() => void)[] = [];
  return {
    now: () => folded,
    fold: (lines: readonly StoredEvent[]): void => {
      const fresh = lines.filter((line) => line.position > folded.position);
      for (const line of fresh) folded = withLine(folded, line);
      if (fresh.length === 0) return;
      watcher.onLines(fresh, folded.state);
      for (const each of wake.splice(0)) each();
    },
    changed: (): Promise<void> => new Promise((resolve) => wake.push(resolve)),
  };
}

/** Runs tasks one after the other: two folds at once would each see half of the lines. */
function oneByOne(): (work: () => Promise<void>) => Promise<void> {
  let turn = Promise.resolve();
  return (work) => {
    const next = turn.then(work);
    turn = next.catch(() => undefined);
    return next;
  };
}

/**
 * Appends the result of a step. A person may have written to the same stream meanwhile, which must not lose the result:
 * it is appended after that. It is dropped only if another engine has taken over the step.
 */
async function appendUntil(
  ledger: Ledger,
  stream: StoryId | null,
  isOurs: () => boolean,
  events: readonly Event[],
): Promise<boolean> {
  for (;;) {
    if (await ledger.append(stream, events)) return true;
    if (!isOurs() || !ledger.mayWrite(stream)) return false;
  }
}

/** Appends the result of a story's step while the journal still says that this step is running. */
export function appendIfRunning(
  ledger: Ledger,
  story: StoryId,
  isOurs: (running: Running) => boolean,
  events: readonly Event[],
): Promise<boolean> {
  const isStillOurs = (): boolean => {
    const { running } = ledger.story(story);
    return running !== null && isOurs(running);
  };
  return appendUntil(ledger, story, isStillOurs, events);
}

/** Appends the result of a remediation while this try is the current one. */
export function appendToRemediation(ledger: Ledger, attempt: number, events: readonly Event[]): Promise<boolean> {
  return appendUntil(ledger, null, () => ledger.state().remediation?.tries === attempt, events);
}

export const isStep =
  (step: Step) =>
  (running: Running): boolean =>
    running.type === "step" && running.step === step;
