import type { StoryId } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import { evolve } from "../policy/evolve.ts";
import { EMPTY_RUN } from "../policy/new-state.ts";
import { mapped, type SortedMap } from "../stdx/sorted-map.ts";
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
export const SNAPSHOT_FORMAT = "run/4";

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
  const policies = new Map<Policy, number>();
  const policyOf = (policy: Policy | null): number | null => {
    if (policy !== null && !policies.has(policy)) policies.set(policy, policies.size);
    return policy === null ? null : policies.get(policy)!;
  };
  const stories = mapped(state.stories, (story) => ({ ...story, policy: policyOf(story.policy) }));
  const packed: Packed = {
    state: { ...state, policy: policyOf(state.policy), stories },
    policies: [...policies.keys()],
    seqs: [...seqs],
  };
  await journal.saveSnapshot({ position, format: SNAPSHOT_FORMAT, text: JSON.stringify(packed) });
}

const NOTHING_FOLDED = (): Folded => ({ state: EMPTY_RUN, position: 0, seqs: new Map() });

/** A folded journal as it is kept. Stories share their policy, which written out for each would be most of the text. */
interface Packed {
  readonly state: Omit<RunState, "policy" | "stories"> & {
    readonly policy: number | null;
    readonly stories: SortedMap<StoryId, Omit<StoryState, "policy"> & { readonly policy: number | null }>;
  };
  readonly policies: readonly Policy[];
  readonly seqs: readonly (readonly [StoryId | null, number])[];
}

/** State is plain data all through, trees included, so that its text is its JSON. */
function unpacked(text: string): Pick<Folded, "state" | "seqs"> {
  const { state, policies, seqs } = JSON.parse(text) as Packed;
  const policyAt = (at: number | null): Policy | null => (at === null ? null : policies[at]!);
  const stories = mapped(state.stories, (story) => ({ ...story, policy: policyAt(story.policy) }));
  return { state: { ...state, policy: policyAt(state.policy), stories }, seqs: new Map(seqs) };
}
