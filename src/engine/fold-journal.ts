import type { StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import { evolve } from "../policy/evolve.ts";
import { EMPTY_RUN } from "../policy/new-state.ts";
import type { Journal, JournalReader, Stored } from "../ports/journal.ts";

/** The state, the place in the journal up to which it was folded, and how many lines each stream has. */
export interface Folded {
  readonly state: RunState;
  readonly position: number;
  readonly seqs: Map<StoryId | null, number>;
}

/**
 * Changes with the form of the state. A snapshot of another format is passed over, and everything is folded anew; a
 * test compares the form with the one this name was given to.
 */
export const SNAPSHOT_FORMAT = "run/1";

/** Folds the journal from its newest snapshot on. */
export async function foldJournal(journal: Pick<JournalReader, "read" | "latestSnapshot">): Promise<Folded> {
  const snapshot = await journal.latestSnapshot(SNAPSHOT_FORMAT);
  let folded = snapshot === null ? NOTHING_FOLDED() : { ...unpacked(snapshot.text), position: snapshot.position };
  for await (const line of journal.read(folded.position)) folded = withLine(folded, line);
  return folded;
}

/** Folds every line up to a place, whatever snapshots say: the lines are the truth. */
export async function foldAnew(journal: Pick<JournalReader, "read">, upTo: number): Promise<RunState> {
  let folded = NOTHING_FOLDED();
  for await (const line of journal.read(0)) {
    if (line.position > upTo) break;
    folded = withLine(folded, line);
  }
  return folded.state;
}

export function withLine({ state, seqs }: Folded, line: Stored): Folded {
  seqs.set(line.story, line.seq);
  return { state: evolve(state, line), position: line.position, seqs };
}

export async function saveSnapshot(
  journal: Pick<Journal, "saveSnapshot">,
  { state, position, seqs }: Folded,
): Promise<void> {
  await journal.saveSnapshot({ position, format: SNAPSHOT_FORMAT, text: JSON.stringify({ state, seqs: [...seqs] }) });
}

const NOTHING_FOLDED = (): Folded => ({ state: EMPTY_RUN, position: 0, seqs: new Map() });

/** State is plain data all through, trees included, so that its text is its JSON. */
function unpacked(text: string): Pick<Folded, "state" | "seqs"> {
  const { state, seqs } = JSON.parse(text) as { state: RunState; seqs: [StoryId | null, number][] };
  return { state, seqs: new Map(seqs) };
}
