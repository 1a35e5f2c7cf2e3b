import type { StoryId } from "../core/events/ids.ts";
import {
  endedAs,
  hasQuestion,
  type RunOutline,
  type Settled,
  type StoryOutline,
  type RunState,
} from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { evolve } from "../fold/fold-event.ts";
import type { JournalReader, Outlines, StoredEvent } from "../ports/journal.ts";
import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import { foldJournal } from "./fold-journal.ts";
import { outlinesFrom } from "./outline-text.ts";
import { RUN_PART, SNAPSHOT_FORMAT, unpackedOutlines, type RunText } from "./snapshot.ts";

type OutlineSource = Pick<JournalReader, "read" | "latestSnapshot" | "latestOutlines" | "snapshotParts">;

/**
 * Returns the status of all stories, without their whole states. Reads the outlines of the newest snapshot, and whole
 * states only of stories that later lines may change. With `only`, other stories are included only if these depend on
 * them; with `open`, ended stories are left out when there are more than `few`. Falls back to a full fold.
 */
export async function foldOutlines(
  journal: OutlineSource,
  only: readonly StoryId[] | "open" | null = null,
  few = FEW,
): Promise<RunOutline> {
  const some = only === null ? null : await fromOutlines(journal, only, few);
  return some ?? (await fromOutlines(journal, null, few)) ?? (await foldJournal(journal)).state;
}

/** The whole states of some stories, and the outline of the run. */
export interface StoryDetails {
  readonly run: RunOutline & Pick<RunState, "dependents">;
  readonly states: readonly StoryState[];
}

/**
 * Returns the whole states of a few stories: those named that exist, or those that ask a person. Of other stories, only
 * the outlines that `foldOutlines` needs are read.
 */
export async function foldStoryDetails(
  journal: OutlineSource,
  of: readonly StoryId[] | "asking",
): Promise<StoryDetails> {
  const ids = of === "asking" ? asking(await foldOutlines(journal, "open")) : of;
  const run =
    (await fromOutlines(journal, ids, FEW, ids)) ??
    (await fromOutlines(journal, null, FEW, ids)) ??
    (await foldJournal(journal)).state;
  // The named stories were read as whole states.
  const states = ids.flatMap((id) => (lookup(run.stories, id, byText) as StoryState | undefined) ?? []);
  return { run, states };
}

function asking(run: RunOutline): StoryId[] {
  return [...entries(run.stories)].flatMap(([id, state]) => (hasQuestion(state) ? [id] : []));
}

/** How many ended stories are listed with the others, because people look for what they saw yesterday. */
const FEW = 1000;

/** Returns `null` if there is no snapshot, if a newer one replaced it meanwhile, or if all stories are needed. */
async function fromOutlines(
  journal: OutlineSource,
  only: readonly StoryId[] | "open" | null,
  few: number,
  whole: readonly StoryId[] = [],
): Promise<StoryDetails["run"] | null> {
  const snapshot = await journal.latestOutlines(SNAPSHOT_FORMAT, only === "open" ? [] : (only ?? undefined));
  if (snapshot === null) return null;
  const { position } = snapshot;
  const [runPart] = (await journal.snapshotParts(SNAPSHOT_FORMAT, position, [RUN_PART])) ?? [];
  if (runPart === undefined) return null;
  const run = JSON.parse(runPart.text) as RunText;
  if (only === "open" && run.settled.accepted + run.settled.failed <= few) return null;
  const lines: StoredEvent[] = [];
  for await (const line of journal.read(position)) lines.push(line);
  const changed = [...new Set([...changedBy(lines, run), ...whole])];
  const parts = await journal.snapshotParts(SNAPSHOT_FORMAT, position, changed);
  const more = [...changed, ...(only === "open" ? run.open : []), ...dependentsOf(whole, run)];
  const texts = only === null ? textsOf(snapshot) : await withOthers(journal, run, snapshot, more);
  if (parts === null || texts === null) return null;
  const started = unpackedOutlines(
    run,
    texts,
    parts.map(({ text }) => text),
  );
  // Outlines of other stories serve as states here: `evolve` reads only their ending and their dependencies.
  let state = started as unknown as RunState;
  for (const line of lines) state = evolve(state, line);
  if (only === null) return state;
  const asked = only === "open" ? run.open : only;
  // Named stories may not exist; the stories of a list must.
  const isThere = (id: StoryId): boolean => lookup(state.stories, id, byText) !== undefined;
  if (!isEnough(state, whole.length === 0 ? asked : asked.filter(isThere))) return null;
  return only === "open" ? { ...state, unlisted: withoutListed(run, texts) } : state;
}

function textsOf({ outlines }: Pick<Outlines, "outlines">): readonly string[] {
  return outlines.filter(({ name }) => name !== RUN_PART).map(({ text }) => text);
}

/** Returns the requested outlines, those of `more`, and those of all stories that any of them waits for. */
async function withOthers(
  journal: OutlineSource,
  run: RunText,
  { position, outlines }: Outlines,
  more: readonly string[],
): Promise<readonly string[] | null> {
  const known = new Map(outlines.map(({ name, text }) => [name, text]));
  const tried = new Set([RUN_PART, ...known.keys()]);
  const dependenciesIn = (texts: readonly string[]): readonly string[] =>
    outlinesFrom(texts, run.policies).flatMap(waitsFor);
  let wanted = [...more, ...dependenciesIn(textsOf({ outlines }))];
  for (;;) {
    const names = [...new Set(wanted)].filter((name) => !tried.has(name));
    if (names.length === 0) break;
    for (const name of names) tried.add(name);
    const found = await journal.latestOutlines(SNAPSHOT_FORMAT, names);
    if (found?.position !== position) return null;
    for (const { name, text } of found.outlines) known.set(name, text);
    wanted = [...dependenciesIn(textsOf(found))];
  }
  known.delete(RUN_PART);
  return [...known.values()];
}

function waitsFor({ story, wait }: Pick<StoryOutline, "story" | "wait">): readonly StoryId[] {
  return wait?.type === "story" && wait.story !== null ? [...story.dependsOn, wait.story] : story.dependsOn;
}

/** Whether these stories are present, with all that they wait for according to the newest lines. */
function isEnough({ stories }: RunOutline, asked: readonly StoryId[]): boolean {
  const seen = new Set<StoryId>();
  const rest = [...asked];
  for (let id = rest.pop(); id !== undefined; id = rest.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const state = lookup(stories, id, byText);
    if (state === undefined) return false;
    rest.push(...waitsFor(state));
  }
  return true;
}

/** Counts the ended stories that were not read. */
function withoutListed({ settled, policies }: RunText, texts: readonly string[]): Settled {
  const rest = { dismissed: 0, ...settled };
  for (const { ending } of outlinesFrom(texts, policies)) if (ending !== null) rest[endedAs(ending)]--;
  return rest;
}

/** Returns the stories of these lines, and the stories that depend on them, because these may be queued again. */
function changedBy(lines: readonly StoredEvent[], run: RunText): string[] {
  const own = new Set(lines.flatMap(({ story }) => story ?? []));
  return [...new Set([...own, ...dependentsOf([...own], run)])];
}

function dependentsOf(ids: readonly StoryId[], run: RunText): readonly StoryId[] {
  if (ids.length === 0) return [];
  const dependents = new Map(run.dependents);
  return ids.flatMap((id) => dependents.get(id) ?? []);
}
