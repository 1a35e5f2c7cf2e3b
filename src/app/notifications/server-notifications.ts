import type { ReminderNote } from "../../ports/notifier.ts";
import type { Notification } from "../../core/events/notification.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { StoredEvent } from "../../ports/journal.ts";
import { inboxItems } from "../../views/answers/inbox.ts";
import { questionWords } from "../../views/answers/notifications.ts";
import { createOpenQuestions, createQuestionTimes } from "./open-questions.ts";
import { type SenderParts, createSender } from "./notifications.ts";

export interface ServerNotifications {
  close(): Promise<void>;
}

/** The source of notifications: the state, the lines it was folded from, and a signal when there is something new. */
export interface NotificationsView {
  now(): Promise<{
    readonly state: RunState;
    readonly view: { lines(after: number): AsyncIterable<StoredEvent> };
  } | null>;
  changed(signal: AbortSignal): Promise<void>;
}

export interface ServerNotificationsParts extends SenderParts {
  readonly note: ReminderNote;
  readonly newsNote?: ReminderNote;
}

/** The pause between two looks at the questions, however much is appended. Reminders are hours apart. */
const PAUSE_MS = 5000;

/**
 * Reminds people of open questions for a dashboard or a fleet, where no engine does it. New questions, nearly used
 * budgets and ended runs are sent by the engine itself. A fleet has many engines: there the process with a `newsNote`
 * sends new questions, and the note records up to which line of the journal that was done.
 */
export function createServerNotifications(
  live: NotificationsView,
  parts: ServerNotificationsParts,
): ServerNotifications {
  const { outlets, clock, project, note, newsNote, onNotice } = parts;
  if (outlets.length === 0) return { close: () => Promise.resolve() };
  const closing = new AbortController();
  const sender = createSender(parts);
  const times = createQuestionTimes();
  const tell = (words: Omit<Notification, "project">): void => sender.send({ ...words, project });
  const questions = createOpenQuestions({ times, note, clock, tell, onNotice });
  const news = newsNote === undefined ? null : createQuestionNews(newsNote, tell);
  let position = 0;
  const look = async (): Promise<RunState | null> => {
    const present = await live.now();
    if (present === null) return null;
    for await (const line of present.view.lines(position)) {
      times.learn(line);
      news?.learn(line);
      position = line.position;
    }
    await news?.tell(present.state);
    return present.state;
  };
  const watch = async (): Promise<void> => {
    let hasBegun = false;
    while (!closing.signal.aborted) {
      let isDone = false;
      try {
        const state = await look();
        if (state !== null && hasBegun) questions.changed(state, null);
        if (state !== null && !hasBegun) questions.resume(state);
        hasBegun ||= state !== null;
        isDone = true;
      } catch (error) {
        onNotice(`notify: the journal could not be read: ${(error as Error).message}`);
      }
      if (isDone) await live.changed(closing.signal);
      await clock.sleep(PAUSE_MS, closing.signal);
    }
  };
  const watching = watch();
  return {
    close: async () => {
      closing.abort();
      await watching;
      await questions.close();
      await sender.close();
    },
  };
}

/** Notifies of newly raised questions. */
export interface QuestionChanges {
  learn(line: StoredEvent): void;
  /** Notifies of the open questions up to the state's position that were not sent yet. */
  tell(state: RunState): Promise<void>;
}

/**
 * The first process to see a question sends it. The note records the line of the journal up to which that was done, so
 * that a process that starts later also sends the questions that came up while none ran.
 */
function createQuestionNews(note: ReminderNote, send: (words: Omit<Notification, "project">) => void): QuestionChanges {
  let raised: readonly { readonly position: number; readonly id: string; readonly at: number }[] = [];
  let isFirst = true;
  return {
    learn: ({ position, event, at }) => {
      if (event.type === "escalation.raised") raised = [...raised, { position, id: event.escalation.id, at }];
    },
    tell: async (state) => {
      const { position: head } = state;
      if (!isFirst && !raised.some(({ position }) => position <= head)) return;
      await note.takeTurn((notifiedUntil) => {
        // Questions from before the first note are not new.
        const fresh = raised.filter(
          ({ position }) => notifiedUntil !== null && position > notifiedUntil && position <= head,
        );
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
