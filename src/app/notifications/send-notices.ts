import type { Notification, NotificationKind } from "../../core/events/notification.ts";
import type { Notifier } from "../../ports/notifier.ts";
import { manyWords } from "../../views/answers/notifications.ts";
import type { Clock } from "../../ports/clock.ts";

/** A way to reach a person, and the kinds of notification it takes; `null`: all of them. */
export interface Outlet {
  readonly notifier: Notifier;
  readonly on: readonly NotificationKind[] | null;
}

export interface SenderParts {
  readonly project: string;
  readonly outlets: readonly Outlet[];
  readonly clock: Clock;
  /** Takes secrets out of a text. */
  clean(text: string): string;
  onNotice(text: string): void;
}

export interface Sender {
  /** Returns at once. A notification that cannot be sent is reported as a notice. */
  send(notification: Notification): void;
  close(): Promise<void>;
}

/** One line of waiting for each outlet: a slow one holds up neither the others nor the engine. */
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
      // Many at once become one: a person reads the first few of them, and a channel drowns in the rest.
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
/** How long a run that has ended waits for a receiver that does not answer. */
const LAST_MS = 15_000;
