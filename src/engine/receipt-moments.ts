import type { Event } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Policy } from "../core/events/policy.ts";
import type { ReceiptKind } from "../core/events/receipt.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { evolve } from "../fold/fold-event.ts";
import { EMPTY_RUN } from "../fold/new-state.ts";
import type { StoredEvent } from "../ports/journal.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";

/** A line of a story that needs a receipt, and the story's state after it. */
export interface ReceiptLine {
  readonly kind: ReceiptKind;
  readonly line: StoredEvent;
  /** The story's lines up to and including this one. */
  readonly lines: readonly StoredEvent[];
  readonly state: StoryState;
}

/** Whether an event of this type can create a receipt, or revoke one. */
export const concernsReceipts = ({ type }: Event): boolean =>
  type === "story.accepted" || type === "person.answered" || type === "answer.undone";

/**
 * Returns the acceptances and waivers in a story's lines that still hold; `undone`: those that a person undid. Folded
 * from the story's own lines, so that a receipt made later has the same content as one made at once.
 */
export function receiptLines(
  story: StoryId,
  lines: readonly StoredEvent[],
  policy: Policy,
): { readonly made: readonly ReceiptLine[]; readonly undone: readonly number[] } {
  const made: ReceiptLine[] = [];
  const undone: number[] = [];
  let run = { ...EMPTY_RUN, policy };
  for (const [index, line] of lines.entries()) {
    const before = lookup(run.stories, story, byText);
    run = evolve(run, line) as typeof run;
    const state = lookup(run.stories, story, byText);
    if (state === undefined) continue;
    const kind = kindOf(line.event, before, state);
    if (kind !== null) made.push({ kind, line, lines: lines.slice(0, index + 1), state });
    if (line.event.type !== "answer.undone" || before?.undo == null || state.undo !== null) continue;
    const taken = made.findIndex(({ line: { event } }) => "answer" in event && event.answer === before.undo!.answer);
    if (taken >= 0) undone.push(...made.splice(taken, 1).map((each) => each.line.position));
  }
  return { made, undone };
}

function kindOf(event: Event, before: StoryState | undefined, after: StoryState): ReceiptKind | null {
  if (event.type === "story.accepted") return "acceptance";
  if (event.type !== "person.answered" || before === undefined) return null;
  if (before.ending === null && after.ending?.how === "accepted") return "acceptance";
  return after.waivers.length > before.waivers.length ? "waiver" : null;
}
