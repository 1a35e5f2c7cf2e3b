import type { InboxItem } from "../views/inbox.ts";
import type { Stored } from "../ports/journal.ts";

/** When each open question came up, by the journal alone: whoever reminds of it counts from the same moment. */
export interface QuestionTimes {
  learn(line: Stored): void;
  since(item: Pick<InboxItem, "id" | "story">): number;
  /** When somebody last wrote anything. */
  lastAt(): number;
}

export function createQuestionTimes(): QuestionTimes {
  const raised = new Map<string, number>();
  /** An answer that is taken back asks its question anew. */
  const reopened = new Map<string | null, number>();
  let lastAt = 0;
  return {
    learn: ({ event, story, at }) => {
      lastAt = at;
      if (event.type === "escalation.raised") raised.set(event.escalation.id, at);
      if (event.type === "answer.undone") reopened.set(story, at);
    },
    since: ({ id, story }) => Math.max(raised.get(id) ?? 0, reopened.get(story) ?? 0),
    lastAt: () => lastAt,
  };
}
