import { byText, lookup } from "../stdx/sorted-map.ts";
import type { Event } from "../domain/event.ts";
import type { StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import type { Stored } from "../ports/journal.ts";
import { foldJournal, saveSnapshot, withLine } from "./fold-journal.ts";
import type { EngineWorld } from "./world.ts";

/** The journal and the state folded from it, kept in step. The only writer of events in the engine. */
export interface Ledger {
  state(): RunState;
  story(id: StoryId): StoryState;
  /**
   * Writes events to a stream. `false`: somebody else was there first; nothing was written, and whoever asked must
   * look at the state again.
   */
  append(stream: StoryId | null, events: readonly Event[]): Promise<boolean>;
  /** Folds what others have written. */
  catchUp(): Promise<void>;
  /** Resolves at the next change of the state. */
  changed(): Promise<void>;
}

export async function openLedger(world: Pick<EngineWorld, "journal" | "clock" | "watcher">): Promise<Ledger> {
  const { journal, clock, watcher } = world;
  let folded = await foldJournal(journal);
  let savedAt = folded.position;
  let wake: (() => void)[] = [];

  const fold = (lines: readonly Stored[]): void => {
    const fresh = lines.filter((line) => line.position > folded.position);
    for (const line of fresh) folded = withLine(folded, line);
    if (fresh.length === 0) return;
    watcher.onLines(fresh, folded.state);
    const waiting = wake;
    wake = [];
    for (const each of waiting) each();
  };

  // One after the other: two folds at once would each see half.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work);
    turn = next.catch(() => undefined);
    return next;
  };
  const catchUp = async (): Promise<void> => {
    const lines: Stored[] = [];
    for await (const line of journal.read(folded.position)) lines.push(line);
    fold(lines);
    if (folded.position - savedAt < SNAPSHOT_EVERY) return;
    savedAt = folded.position;
    await saveSnapshot(journal, folded);
  };

  return {
    state: () => folded.state,
    story: (id) => lookup(folded.state.stories, id, byText)!,
    append: async (stream, events) => {
      const appended = await journal.append(stream, folded.seqs.get(stream) ?? 0, events, clock.now());
      await inTurn(catchUp);
      return appended.ok;
    },
    catchUp: () => inTurn(catchUp),
    changed: () => new Promise((resolve) => wake.push(resolve)),
  };
}

/** Often enough that recovery reads little, and seldom enough that nobody notices the writing. */
const SNAPSHOT_EVERY = 2000;
