import type { RunState } from "../domain/run-state.ts";
import { evolve } from "../policy/evolve.ts";
import { EMPTY_RUN } from "../policy/new-state.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { entries, type SortedMap } from "../stdx/sorted-map.ts";
import type { JournalReader, Stored } from "../ports/journal.ts";
import { SNAPSHOT_FORMAT, unpacked, type Folded, type Kept } from "./snapshot.ts";

/** Folds the journal from its newest snapshot on. */
export async function foldJournal(
  journal: Pick<JournalReader, "read" | "latestSnapshot">,
): Promise<Folded & { readonly kept: Kept | null }> {
  const snapshot = await journal.latestSnapshot(SNAPSHOT_FORMAT);
  const from = snapshot === null ? { ...NOTHING_FOLDED(), kept: null } : unpacked(snapshot);
  let folded: Folded = from;
  for await (const line of journal.read(folded.position)) folded = withLine(folded, line);
  return { ...folded, kept: from.kept };
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

export function withLine({ state, seqs, odd }: Folded, line: Stored): Folded {
  const { story, seq, position } = line;
  seqs.set(story, seq);
  const next = evolve(state, line);
  if (story !== null && next.stories === state.stories) odd.add(story);
  return { state: next, position, seqs, odd };
}

export const NOTHING_FOLDED = (): Folded => ({ state: EMPTY_RUN, position: 0, seqs: new Map(), odd: new Set() });

/** The same text for the same state, however it was come by: a map's form depends on the order of its insertions. */
export function stateText({ stories, dependents, timers, lanes, ...rest }: RunState): string {
  const listed = (map: SortedMap<unknown, unknown>): unknown => [...entries(map)];
  const queues = Object.entries(lanes).map(([lane, queue]) => [lane, listed(queue)]);
  return canonicalJson({
    ...rest,
    stories: listed(stories),
    dependents: listed(dependents),
    timers: listed(timers),
    lanes: Object.fromEntries(queues) as object,
  });
}
