import type { Notification } from "../core/events/notification.ts";

/** One way to reach a person who is not looking. */
export interface Notifier {
  /** As people know it, and without what must not be shown: the host of an address, never the whole of it. */
  readonly name: string;
  /** Throws where the person was not reached. */
  notify(notification: Notification, signal: AbortSignal): Promise<void>;
}

/**
 * How an agent ended, kept by its key until the journal has it. A crash between the two would otherwise
 * make an agent that has finished work once more.
 */
export interface Outbox {
  /** Resolves when the text would survive a crash. It takes the place of what the key had before. */
  put(key: string, text: string): Promise<void>;
  get(key: string): Promise<string | null>;
  /** After a crash it may be there again: the journal has it by then, so it is not read. */
  drop(key: string): Promise<void>;
}

/** Until when reminders of a journal's questions were given: known to all who give them, so that one of them does. */
export interface ReminderNote {
  /**
   * Runs `take` while no other process has a turn. Its argument is until when reminders were sent (`null`: unknown), and it
   * returns until when they are sent now; `null` where it sent none.
   */
  takeTurn(take: (mindedUntil: number | null) => number | null): Promise<void>;
}
