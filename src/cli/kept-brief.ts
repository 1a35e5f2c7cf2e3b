import { RemandError } from "../core/events/error.ts";
import { type EvidenceId, type StoryId, evidenceId } from "../core/events/ids.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import type { StoredEvent } from "../ports/journal.ts";
import type { World } from "../app/command.ts";
import { linesOf, withJournal, storyOf } from "../app/with-journal.ts";

export interface KeptBrief {
  readonly story: StoryId;
  /** The attempt that got the brief, or will get it. */
  readonly attempt: number;
  readonly text: string;
  /** Where the full text is stored. */
  readonly place: string;
}

/** Finds the brief of an attempt as it was sent; by default the newest. */
export async function keptBrief(world: World, typed: string, wanted: number | "next" | "newest"): Promise<KeptBrief> {
  return withJournal(world, async (view) => {
    const state = storyOf(view.state, typed);
    const { attempt, id } = briefOf(state, await linesOf(view, state.story.id), wanted);
    const text = await view.evidence.read(id);
    if (text !== null) return { story: state.story.id, attempt, text, place: view.evidence.placeOf(id) };
    throw new RemandError(
      "file-missing",
      `the brief of attempt ${attempt} is no longer kept`,
      `It was ${view.evidence.placeOf(id)}.`,
    );
  });
}

function briefOf(
  state: StoryState,
  lines: readonly StoredEvent[],
  wanted: number | "next" | "newest",
): { attempt: number; id: EvidenceId } {
  const { story, rework, attempts } = state;
  if (wanted === "next") {
    if (rework !== null) return { attempt: attempts.length + 1, id: evidenceId(rework.brief) };
    throw new RemandError(
      "usage",
      `no work of ${story.id} is being sent back`,
      "A brief is written when a gate, or a person, sends the work back.",
    );
  }
  const sent = lines.flatMap(({ event }) =>
    event.type === "attempt.started" && event.brief !== null ? [{ attempt: event.attempt, id: event.brief }] : [],
  );
  const waiting = rework === null ? [] : [{ attempt: attempts.length + 1, id: evidenceId(rework.brief) }];
  const found = wanted === "newest" ? [...sent, ...waiting].at(-1) : sent.find(({ attempt }) => attempt === wanted);
  if (found !== undefined) return found;
  const have = sent.map(({ attempt }) => attempt);
  const hint =
    have.length === 0 ? "Only work that was sent back has one." : `Attempts with a brief: ${have.join(", ")}.`;
  throw new RemandError(
    "usage",
    wanted === "newest" ? `no work of ${story.id} was sent back` : `attempt ${wanted} of ${story.id} had no brief`,
    hint,
  );
}
