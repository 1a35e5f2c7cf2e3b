import { endedAs, type Settled, type StoryOutline, type RunState } from "../core/stories/run-state.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Lane } from "../core/stories/command.ts";
import type { Policy } from "../core/events/policy.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import type { Journal, Snapshot, SnapshotPart } from "../ports/journal.ts";
import { byText, changes, entries, fromSorted, type SortedMap } from "../stdx/sorted-map.ts";
import { outlinesFrom, outlineText } from "./outline-text.ts";

/** The state, the position in the journal up to which it was folded, and the number of lines of each stream. */
export interface FoldedRun {
  readonly state: RunState;
  readonly position: number;
  readonly seqs: Map<StoryId | null, number>;
  /** Streams with lines that changed no story, so that no story counts them. */
  readonly odd: Set<StoryId>;
}

/**
 * Changes with the form of the state. A snapshot of another format is ignored and everything is folded again; a test
 * checks that the format's name changes with the form.
 */
export const SNAPSHOT_FORMAT = "run/16";

/** The name of the part about the whole run; the others are named after their stories, and no story's name is empty. */
export const RUN_PART = "";

/** The contents of the newest snapshot, so that the next one only stores what is new. */
export interface SnapshotContents {
  readonly position: number;
  readonly stories: RunState["stories"];
  /**
   * Policies that stories share: written out for each story, they would be most of the text. Stories refer to them by
   * index.
   */
  readonly policies: readonly Policy[];
}

export interface SnapshotSaver {
  (folded: FoldedRun): Promise<void>;
}

/** Saves what has changed since the last snapshot, or everything if that snapshot is gone. */
export function createSnapshotSaver(
  journal: Pick<Journal, "saveSnapshot">,
  from: SnapshotContents | null,
): SnapshotSaver {
  let kept = from;
  const save = async (folded: FoldedRun, before: SnapshotContents | null): Promise<boolean> => {
    const { parts, policies } = packSnapshot(folded, before);
    const { position, state } = folded;
    const isSaved = await journal.saveSnapshot({ position, format: SNAPSHOT_FORMAT, parts }, before?.position ?? null);
    if (isSaved) kept = { position, stories: state.stories, policies };
    return isSaved;
  };
  return async (folded) => {
    if (!(await save(folded, kept))) await save(folded, null);
  };
}

/** A run as it is stored: without its stories. */
export interface RunText {
  readonly state: Omit<RunState, "policy" | "stories" | "lanes" | "timers" | "dependents">;
  readonly policy: number | null;
  readonly dependents: readonly (readonly [StoryId, readonly StoryId[]])[];
  readonly policies: readonly Policy[];
  /** Open stories, and the number of ended ones: readers of open stories do not need the others. */
  readonly open: readonly StoryId[];
  readonly settled: Settled;
  /** Line counts of the project's stream, and of streams with lines that their stories do not count. */
  readonly seqs: readonly (readonly [StoryId | null, number])[];
}

interface StoryText {
  readonly state: Omit<StoryState, "policy">;
  readonly policy: number | null;
  readonly seq: number;
}

function packSnapshot(
  folded: FoldedRun,
  before: SnapshotContents | null,
): { parts: SnapshotPart[]; policies: readonly Policy[] } {
  const { state: run, seqs, odd } = folded;
  const policies = [...(before?.policies ?? [])];
  const places = new Map(policies.map((policy, place) => [policy, place]));
  const placeOf = (policy: Policy | null): number | null => {
    if (policy === null) return null;
    if (!places.has(policy)) places.set(policy, policies.push(policy) - 1);
    return places.get(policy)!;
  };
  const parts: SnapshotPart[] = [];
  for (const [id, { policy: of, ...state }] of changes(before?.stories ?? null, run.stories, byText)) {
    const policy = placeOf(of);
    const text: StoryText = { state, policy, seq: seqs.get(id) ?? 0 };
    parts.push({ name: id, text: JSON.stringify(text), outline: outlineText(state, policy) });
  }
  const { policy: of, stories: _, lanes: _lanes, timers: _timers, dependents, ...state } = run;
  const policy = placeOf(of);
  const text: RunText = {
    state,
    policy,
    dependents: [...entries(dependents)],
    policies,
    ...openAndSettled(run.stories),
    seqs: [null, ...odd].map((stream) => [stream, seqs.get(stream) ?? 0]),
  };
  parts.push({ name: RUN_PART, text: JSON.stringify(text), outline: "" });
  return { parts, policies };
}

function openAndSettled(stories: RunState["stories"]): Pick<RunText, "open" | "settled"> {
  const open: StoryId[] = [];
  const settled = { accepted: 0, failed: 0, dismissed: 0 };
  for (const [id, { ending }] of entries(stories))
    if (ending === null) open.push(id);
    else settled[endedAs(ending)]++;
  return { open, settled };
}

/** Restores a snapshot. State is plain data throughout, so its text is JSON. */
export function unpackSnapshot({ position, parts }: Snapshot): FoldedRun & { readonly kept: SnapshotContents } {
  const run = JSON.parse(parts.find(({ name }) => name === RUN_PART)!.text) as RunText;
  const seqs = new Map<StoryId | null, number>();
  const stories = parts
    .filter(({ name }) => name !== RUN_PART)
    .map(({ text }) => {
      const { id, seq, state } = unpackedStory(text, run.policies);
      seqs.set(id, seq);
      return [id, state] as const;
    });
  const odd = new Set<StoryId>();
  for (const [stream, seq] of run.seqs) {
    seqs.set(stream, seq);
    if (stream !== null) odd.add(stream);
  }
  const state = { ...unpackedRun(run), stories: inOrder(stories), ...placesOf(stories) };
  return { state, position, seqs, odd, kept: { position, stories: state.stories, policies: run.policies } };
}

export function unpackedStory(text: string, policies: readonly Policy[]) {
  const { state, policy, seq } = JSON.parse(text) as StoryText;
  const whole: StoryState = { ...state, policy: policy === null ? null : policies[policy]! };
  return { id: state.story.id, state: whole, seq, place: policy };
}

export function unpackedRun({
  state,
  policy,
  policies,
  dependents,
}: RunText): Omit<RunState, "stories" | "lanes" | "timers"> {
  return { ...state, policy: policy === null ? null : policies[policy]!, dependents: inOrder(dependents) };
}

/** Rebuilds the lanes and timers: each story's state holds its queue position. */
function placesOf(stories: readonly (readonly [StoryId, StoryState])[]): Pick<RunState, "lanes" | "timers"> {
  const queues: Record<Lane | "timers", (readonly [string, StoryId])[]> = {
    engine: [],
    developers: [],
    critics: [],
    auditors: [],
    checks: [],
    timers: [],
  };
  for (const [id, { queued }] of stories) if (queued !== null) queues[queued.lane].push([queued.key, id]);
  const { engine, developers, critics, auditors, checks, timers } = queues;
  return {
    lanes: {
      engine: inOrder(engine),
      developers: inOrder(developers),
      critics: inOrder(critics),
      auditors: inOrder(auditors),
      checks: inOrder(checks),
    },
    timers: inOrder(timers),
  };
}

function inOrder<K extends string, V>(list: readonly (readonly [K, V])[]): SortedMap<K, V> {
  return fromSorted(list.toSorted(([a], [b]) => byText(a, b)));
}

/** Restores the run with outlines of its stories; the stories of `whole` are restored completely. */
export function unpackedOutlines(
  run: RunText,
  outlines: readonly string[],
  whole: readonly string[],
): Omit<RunState, "stories"> & { readonly stories: SortedMap<StoryId, StoryOutline> } {
  const states = new Map(
    whole.map((text) => {
      const { id, state } = unpackedStory(text, run.policies);
      return [id, state];
    }),
  );
  const stories = outlinesFrom(outlines, run.policies).map((outline) => {
    const { id } = outline.story;
    return [id, states.get(id) ?? outline] as const;
  });
  return { ...unpackedRun(run), ...placesOf([]), stories: inOrder(stories) };
}
