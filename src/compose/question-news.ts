import type { Notification } from "../domain/notification.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Stored } from "../ports/journal.ts";
import type { ReminderNote } from "../ports/reminder-note.ts";
import { inboxItems } from "../views/inbox.ts";
import { questionWords } from "../views/notifications.ts";

/** Questions that came up. */
export interface QuestionNews {
  learn(line: Stored): void;
  /** Tells of those up to the state's place that nobody was told of, and that are still open. */
  tell(state: RunState): Promise<void>;
}

/**
 * Each is told of once, by whoever has the turn first. The note says up to which line of the journal people were told:
 * so whoever comes to do it later tells also of what came up while nobody did.
 */
export function createQuestionNews(
  note: ReminderNote,
  send: (words: Omit<Notification, "project">) => void,
): QuestionNews {
  let raised: readonly { readonly position: number; readonly id: string; readonly at: number }[] = [];
  let isFirst = true;
  return {
    learn: ({ position, event, at }) => {
      if (event.type === "escalation.raised") raised = [...raised, { position, id: event.escalation.id, at }];
    },
    tell: async (state) => {
      const { position: head } = state;
      if (!isFirst && !raised.some(({ position }) => position <= head)) return;
      await note.turn((toldUntil) => {
        // What came up before anybody kept this note is no news.
        const fresh = raised.filter(({ position }) => toldUntil !== null && position > toldUntil && position <= head);
        const open = new Map(fresh.length === 0 ? [] : inboxItems(state).map((item) => [String(item.id), item]));
        for (const { id, at } of fresh) {
          const item = open.get(id);
          if (item !== undefined) send(questionWords(item, at, null));
        }
        return head;
      });
      isFirst = false;
      raised = raised.filter(({ position }) => position > head);
    },
  };
}
