import type { Notification } from "../../core/events/notification.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { Journal, Watcher } from "../../ports/journal.ts";
import type { ReminderNote } from "../../ports/notifier.ts";
import { budgetWords, endedWords } from "../../views/answers/notifications.ts";
import { createOpenQuestions, createQuestionTimes } from "./open-questions.ts";
import { type SenderParts, createSender } from "./send-notices.ts";

/** Notifies people: a question is open, it is still open, a run has ended. */
export interface Notifications {
  /** Sees what the plan's own watcher sees. */
  readonly watcher: Watcher;
  /** Continues with the questions that were open before. */
  resume(state: RunState): void;
  /** Nothing is left to do, for now. */
  ended(state: RunState): void;
  /** Waits for pending notifications, up to a limit. */
  close(): Promise<void>;
}

export interface NotificationsParts extends SenderParts {
  readonly journal: Pick<Journal, "read">;
  readonly watcher: Watcher;
  readonly note: ReminderNote;
}

/**
 * The journal says when a question came up; a note beside it says when people were last reminded. A process that
 * starts later sends once the reminders that fell due while none ran.
 */
export async function createNotifications(parts: NotificationsParts): Promise<Notifications> {
  const { outlets, watcher, clock, project } = parts;
  if (outlets.length === 0)
    return { watcher, resume: () => undefined, ended: () => undefined, close: () => Promise.resolve() };
  const times = createQuestionTimes();
  for await (const line of parts.journal.read(0)) times.learn(line);
  const sender = createSender(parts);
  const tell = (words: Omit<Notification, "project">): void => sender.send({ ...words, project });
  const questions = createOpenQuestions({ times, note: parts.note, clock, tell, onNotice: parts.onNotice });
  let hasHappened = false;
  return {
    watcher: {
      onOutput: (command, line) => watcher.onOutput(command, line),
      onLines: (lines, state) => {
        watcher.onLines(lines, state);
        hasHappened = true;
        for (const line of lines) {
          times.learn(line);
          const words = budgetWords(line);
          if (words !== null) tell(words);
        }
        // Only such lines open or close a question, and they are few.
        const last = lines.findLast(({ event }) => OPENS_OR_CLOSES.has(event.type));
        const isAsked = lines.some(({ event }) => event.type === "escalation.raised");
        if (last !== undefined) questions.changed(state, isAsked ? last.at : null);
      },
    },
    resume: (state) => {
      questions.resume(state);
      hasHappened = false;
    },
    ended: (state) => {
      if (hasHappened) tell(endedWords(state, clock.now()));
      hasHappened = false;
    },
    close: async () => {
      await questions.close();
      await sender.close();
    },
  };
}

const OPENS_OR_CLOSES: ReadonlySet<string> = new Set([
  "escalation.raised",
  "person.answered",
  "answer.undone",
  "story.accepted",
  "story.failed",
]);
