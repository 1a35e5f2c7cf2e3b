import type { Event } from "../domain/event.ts";
import type { StoryState } from "../domain/story-state.ts";
import { withoutDelivery } from "./evolve-delivery.ts";

/**
 * The story as it is when somebody sends accepted work back: open once more, with everything that is known of it.
 * Nothing else opens a story again; `null` for whatever else is said of one that is over.
 */
export function reopened(state: StoryState, event: Event): StoryState | null {
  const isSentBack = event.type === "person.answered" && event.answer.verb === "send-back";
  if (!isSentBack || state.ending?.how !== "accepted" || state.policy === null || state.tree === null) return null;
  // It is delivered again when it is accepted again.
  return { ...withoutDelivery(state), ending: null, delivered: null };
}
