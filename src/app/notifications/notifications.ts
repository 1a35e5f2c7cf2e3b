import type { Notification, NotificationKind } from "../../core/events/notification.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { Journal, Watcher } from "../../ports/journal.ts";
import type { ReminderNote, Notifier } from "../../ports/notifier.ts";
import type { Clock } from "../../ports/clock.ts";
import { budgetWords, endedWords, manyWords } from "../../views/answers/notifications.ts";
import { createOpenQuestions, createQuestionTimes } from "./open-questions.ts";

/** Notifies people when a question is raised, while it is still open, and when a run has ended. */
export interface Notifications {
  /** Receives the same calls as the plan's own watcher. */
  readonly watcher: Watcher;
  /** Continues with the questions that were open before. */
  resume(state: RunState): void;
  /** Sends that nothing is left to do for now. */
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
 * The journal records when a question came up; a separate note records when people were last reminded. A process that
 * starts later sends each reminder that fell due while none ran, once.
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
        // Only such lines open or close a question, and there are few of them.
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

/** A way to reach a person, and the kinds of notification that it accepts; `null`: all of them. */
export interface Outlet {
  readonly notifier: Notifier;
  readonly on: readonly NotificationKind[] | null;
}

export interface SenderParts {
  readonly project: string;
  readonly outlets: readonly Outlet[];
  readonly clock: Clock;
  /** Removes secrets from a text. */
  clean(text: string): string;
  onNotice(text: string): void;
}

export interface Sender {
  /** Returns at once. A notification that cannot be sent is reported through `onNotice`. */
  send(notification: Notification): void;
  close(): Promise<void>;
}

/** Keeps one queue per outlet, so that a slow outlet delays neither the others nor the engine. */
export function createSender({ outlets, clock, clean, onNotice, project }: SenderParts): Sender {
  const abort = new AbortController();
  const lines = outlets.map((outlet) => ({
    outlet,
    waiting: [] as Notification[],
    working: null as Promise<void> | null,
  }));
  const tellOne = async ({ notifier }: Outlet, notification: Notification): Promise<void> => {
    try {
      if (abort.signal.aborted) throw new Error("the run was over before it could be sent");
      await notifier.notify(notification, abort.signal);
    } catch (error) {
      onNotice(
        clean(`notify: "${notification.title}" could not be sent by ${notifier.name}: ${(error as Error).message}`),
      );
    }
  };
  const work = async (line: (typeof lines)[number]): Promise<void> => {
    while (line.waiting.length > 0) {
      const [first] = line.waiting;
      // Many waiting notifications are sent as one: a person reads only the first few, and the others would flood the
      // channel.
      const next = line.waiting.length > MOST_WAITING ? { ...manyWords(line.waiting, clock.now()), project } : first!;
      line.waiting.splice(0, line.waiting.length > MOST_WAITING ? line.waiting.length : 1);
      await tellOne(line.outlet, next);
    }
    line.working = null;
  };
  return {
    send: (notification) => {
      const { title, text } = notification;
      const safe = { ...notification, title: clean(title), text: clean(text).slice(0, MOST_CHARS) };
      for (const line of lines) {
        if (line.outlet.on !== null && !line.outlet.on.includes(safe.kind)) continue;
        line.waiting.push(safe);
        line.working ??= work(line);
      }
    },
    close: async () => {
      const done = new AbortController();
      const all = Promise.all(lines.map(({ working }) => working ?? Promise.resolve())).then(() => done.abort());
      await Promise.race([all, clock.sleep(LAST_MS, done.signal)]);
      abort.abort();
      await all;
    },
  };
}

const MOST_WAITING = 5;
const MOST_CHARS = 2000;
/** How long a run that has ended waits for a receiver that does not respond. */
const LAST_MS = 15_000;
