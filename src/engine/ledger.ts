import { byText, lookup } from "../stdx/sorted-map.ts";
import type { Event } from "../domain/event.ts";
import type { StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import { evolve } from "../policy/evolve.ts";
import { EMPTY_RUN } from "../policy/new-state.ts";
import type { Journal, Stored } from "../ports/journal.ts";
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
  const begun = await recovered(journal);
  const { seqs } = begun;
  let { state, position } = begun;
  let wake: (() => void)[] = [];

  const fold = (lines: readonly Stored[]): void => {
    const fresh = lines.filter((line) => line.position > position);
    for (const line of fresh) {
      state = evolve(state, line);
      position = line.position;
      seqs.set(line.story, line.seq);
    }
    if (fresh.length === 0) return;
    watcher.onLines(fresh, state);
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
    for await (const line of journal.read(position)) lines.push(line);
    fold(lines);
  };

  return {
    state: () => state,
    story: (id) => lookup(state.stories, id, byText)!,
    append: async (stream, events) => {
      const appended = await journal.append(stream, seqs.get(stream) ?? 0, events, clock.now());
      await inTurn(catchUp);
      return appended.ok;
    },
    catchUp: () => inTurn(catchUp),
    changed: () => new Promise((resolve) => wake.push(resolve)),
  };
}

async function recovered(
  journal: Journal,
): Promise<{ state: RunState; position: number; seqs: Map<StoryId | null, number> }> {
  let state = EMPTY_RUN;
  let position = 0;
  const seqs = new Map<StoryId | null, number>();
  for await (const line of journal.read(0)) {
    state = evolve(state, line);
    position = line.position;
    seqs.set(line.story, line.seq);
  }
  return { state, position, seqs };
}
