import { type Notification, nextReminderAt } from "../../core/events/notification.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ReminderNote } from "../../ports/notifier.ts";
import { type InboxItem, inboxItems } from "../../views/answers/inbox.ts";
import { questionWords } from "../../views/answers/notifications.ts";
import type { StoredEvent } from "../../ports/journal.ts";

export interface OpenQuestions {
  /** Takes over the questions that are already open; from now on their reminders are sent when due. */
  resume(state: RunState): void;
  /**
   * A question was raised or closed. Only the process that raised it passes `askedAt`, and sends the first
   * notification.
   */
  changed(state: RunState, askedAt: number | null): void;
  close(): Promise<void>;
}

export interface QuestionParts {
  readonly times: Pick<QuestionTimes, "since" | "lastAt">;
  readonly note: ReminderNote;
  readonly clock: Clock;
  tell(words: Omit<Notification, "project">): void;
  onNotice(text: string): void;
}

/**
 * Notifies of each open question when it is raised, and again while it is unanswered. An engine and a dashboard may
 * both run: a shared note records the reminders, so that the first of the two sends each one and the other does not.
 */
export function createOpenQuestions({ times, note, clock, tell, onNotice }: QuestionParts): OpenQuestions {
  const closing = new AbortController();
  let turn = new AbortController();
  let open: readonly InboxItem[] = [];
  let remindedUntil = 0;
  let isFirst = true;
  let reminding: Promise<void> = Promise.resolve();

  const dueAt = (item: InboxItem): number => nextReminderAt(times.since(item), remindedUntil);
  const remind = (noted: number | null): number | null => {
    remindedUntil = noted ?? remindedUntil;
    const now = clock.now();
    const due = open.filter((item) => dueAt(item) <= now);
    for (const item of due) tell(questionWords(item, now, now - times.since(item)));
    if (due.length === 0) return null;
    remindedUntil = now;
    return now;
  };
  /** Sends due reminders; returns how long it is until the next one. */
  const round = async (): Promise<number> => {
    const isDue = open.some((item) => dueAt(item) <= clock.now());
    // The note is unknown at first. After that another process can only have postponed reminders, so the note is read
    // again only when one is due.
    if (isDue || (isFirst && open.length > 0)) {
      try {
        await note.takeTurn(remind);
        isFirst = false;
      } catch (error) {
        onNotice(`notify: the reminder could not be sent: ${(error as Error).message}`);
        return AGAIN_MS;
      }
    }
    return Math.min(LONGEST_MS, ...open.map((item) => dueAt(item) - clock.now()));
  };
  const rounds = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      turn = new AbortController();
      const { signal } = turn;
      await clock.sleep(Math.max(1, await round()), AbortSignal.any([closing.signal, signal]));
    }
  };
  return {
    resume: (state) => {
      remindedUntil = times.lastAt();
      open = inboxItems(state);
      reminding = rounds();
    },
    changed: (state, askedAt) => {
      const known = new Set<string>(open.map(({ id }) => id));
      open = inboxItems(state);
      if (askedAt !== null) for (const item of open) if (!known.has(item.id)) tell(questionWords(item, askedAt, null));
      turn.abort();
    },
    close: async () => {
      closing.abort();
      await reminding;
    },
  };
}

const AGAIN_MS = 60_000;
const LONGEST_MS = 86_400_000;

/** When each open question was raised, from the journal alone, so that every process counts from the same moment. */
export interface QuestionTimes {
  learn(line: StoredEvent): void;
  since(item: Pick<InboxItem, "id" | "story">): number;
  /** The time of the last line that was learned. */
  lastAt(): number;
}

export function createQuestionTimes(): QuestionTimes {
  const raised = new Map<string, number>();
  /** Undoing an answer opens its question again. */
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
