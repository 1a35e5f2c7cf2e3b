import type { StoryId } from "../domain/ids.ts";
import type { JournalReader } from "../ports/journal.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { byText, entries, lookup, size } from "../stdx/sorted-map.ts";
import { stateText } from "./fold-journal.ts";
import { outlineText } from "./outline-text.ts";
import { RUN_PART, SNAPSHOT_FORMAT, unpackedStory, unpackedRun, type Folded, type RunText } from "./snapshot.ts";

/** What differs is the story's name, or the whole run. `gone`: an engine has made a newer snapshot meanwhile. */
export type SnapshotCheck = { readonly is: "same" | "gone" } | { readonly is: "different"; readonly where: string };

type Source = Pick<JournalReader, "latestOutlines" | "snapshotParts">;

/**
 * Does the snapshot say what the lines say? Its stories are read a few at a time: to have all of them as text at once
 * takes more memory than there is. `folded`: the lines up to the place of the snapshot.
 */
export async function checkSnapshot(journal: Source, { state, position, seqs }: Folded): Promise<SnapshotCheck> {
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

/** Stories that are read at once. */
const PAGE = 200;

function isSameRun(run: RunText, rest: Omit<Folded["state"], "stories" | "lanes" | "timers">): boolean {
  const empty = { stories: null, timers: null, lanes: EMPTY_LANES };
  return stateText({ ...unpackedRun(run), ...empty }) === stateText({ ...rest, ...empty });
}

const EMPTY_LANES = { engine: null, developers: null, critics: null, auditors: null, checks: null };
