import type { RunState } from "../core/stories/run-state.ts";
import { evolve } from "../fold/fold-event.ts";
import { EMPTY_RUN } from "../fold/new-state.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { type SortedMap, byText, entries, lookup, size } from "../stdx/sorted-map.ts";
import type { JournalReader, StoredEvent } from "../ports/journal.ts";
import type { StoryId } from "../core/events/ids.ts";
import {
  type FoldedRun,
  type SnapshotContents,
  RUN_PART,
  type RunText,
  SNAPSHOT_FORMAT,
  unpackSnapshot,
  unpackedRun,
  unpackedStory,
} from "./snapshot.ts";
import { outlineText } from "./outline-text.ts";

/** The folded state, and the snapshot that the fold started from. */
export interface FoldedJournal extends FoldedRun {
  readonly kept: SnapshotContents | null;
}

/** Folds the journal from its newest snapshot on. */
export async function foldJournal(journal: Pick<JournalReader, "read" | "latestSnapshot">): Promise<FoldedJournal> {
  const snapshot = await journal.latestSnapshot(SNAPSHOT_FORMAT);
  const from = snapshot === null ? { ...NOTHING_FOLDED(), kept: null } : unpackSnapshot(snapshot);
  let folded: FoldedRun = from;
  for await (const line of journal.read(folded.position)) folded = withLine(folded, line);
  return { ...folded, kept: from.kept };
}

export function withLine({ state, seqs, odd }: FoldedRun, line: StoredEvent): FoldedRun {
  const { story, seq, position } = line;
  seqs.set(story, seq);
  const next = evolve(state, line);
  if (story !== null && next.stories === state.stories) odd.add(story);
  return { state: next, position, seqs, odd };
}

export const NOTHING_FOLDED = (): FoldedRun => ({ state: EMPTY_RUN, position: 0, seqs: new Map(), odd: new Set() });

/**
 * Returns the same text for equal states. A map's structure depends on the order of its insertions, so its entries are
 * listed.
 */
export function stateText({ stories, dependents, timers, lanes, ...rest }: RunState): string {
  const listEntries = (map: SortedMap<unknown, unknown>): unknown => [...entries(map)];
  const queues = Object.entries(lanes).map(([lane, queue]) => [lane, listEntries(queue)]);
  return canonicalJson({
    ...rest,
    stories: listEntries(stories),
    dependents: listEntries(dependents),
    timers: listEntries(timers),
    lanes: Object.fromEntries(queues) as object,
  });
}

/** `where`: the story that differs, or the whole run. `gone`: an engine has made a newer snapshot meanwhile. */
export type SnapshotCheck = { readonly is: "same" | "gone" } | { readonly is: "different"; readonly where: string };

type SnapshotSource = Pick<JournalReader, "latestOutlines" | "snapshotParts">;

/**
 * Compares the snapshot with the state folded from the lines up to its position (`folded`). Stories are read a few at a
 * time, because the text of all of them at once may not fit into memory.
 */
export async function checkSnapshot(
  journal: SnapshotSource,
  { state, position, seqs }: FoldedRun,
): Promise<SnapshotCheck> {
  const whole = await journal.latestOutlines(SNAPSHOT_FORMAT, []);
  const [part] = (await journal.snapshotParts(SNAPSHOT_FORMAT, position, [RUN_PART])) ?? [];
  if (whole?.position !== position || part === undefined) return { is: "gone" };
  const run = JSON.parse(part.text) as RunText;
  const { stories, lanes: _lanes, timers: _timers, ...rest } = state;
  if (whole.parts !== size(stories) + 1 || !isSameRun(run, rest)) return { is: "different", where: "the run" };
  const ids = [...entries(stories)].map(([id]) => id);
  for (let from = 0; from < ids.length; from += PAGE) {
    const names = ids.slice(from, from + PAGE);
    const parts = await journal.snapshotParts(SNAPSHOT_FORMAT, position, names);
    if (parts === null) return { is: "gone" };
    const texts = new Map(parts.map((each) => [each.name, each]));
    for (const id of names) {
      const kept = texts.get(id);
      if (kept === undefined || !isSameStory(kept, id)) return { is: "different", where: id };
    }
  }
  return { is: "same" };

  function isSameStory(kept: { readonly text: string; readonly outline: string }, id: StoryId): boolean {
    const known = lookup(stories, id, byText)!;
    const read = unpackedStory(kept.text, run.policies);
    const { policy: _policy, ...without } = known;
    return (
      read.seq === (seqs.get(id) ?? 0) &&
      canonicalJson(read.state) === canonicalJson(known) &&
      kept.outline === outlineText(without, read.place)
    );
  }
}

/** How many stories are read at once. */
const PAGE = 200;

function isSameRun(run: RunText, rest: Omit<FoldedRun["state"], "stories" | "lanes" | "timers">): boolean {
  const empty = { stories: null, timers: null, lanes: EMPTY_LANES };
  return stateText({ ...unpackedRun(run), ...empty }) === stateText({ ...rest, ...empty });
}

const EMPTY_LANES = { engine: null, developers: null, critics: null, auditors: null, checks: null };
