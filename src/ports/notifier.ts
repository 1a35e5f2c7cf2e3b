import type { Notification } from "../core/events/notification.ts";

/** One way to reach a person who is not at the dashboard. */
export interface Notifier {
  /** The name for people, without secrets: the host of an address, never the whole address. */
  readonly name: string;
  /** Throws if the person was not reached. */
  notify(notification: Notification, signal: AbortSignal): Promise<void>;
}

/**
 * Stores the outcome of an agent by its key until the journal has it. Without it, a crash between the two would make an
 * agent repeat finished work.
 */
export interface Outbox {
  /** Stores a text, which replaces the earlier text of the key. Resolves when it would survive a crash. */
  put(key: string, text: string): Promise<void>;
  get(key: string): Promise<string | null>;
  /** After a crash the text may be there again. It is not read, because the journal already has the outcome. */
  drop(key: string): Promise<void>;
}

/**
 * Until when the reminders of a journal's questions have been sent. All processes share it, so that only one of them
 * sends each reminder.
 */
export interface ReminderNote {
  /**
   * Runs `take` while no other process has the turn. Its argument is the time until which reminders were sent (`null`:
   * unknown). It returns the new time, or `null` if it sent none.
   */
  takeTurn(take: (remindedUntil: number | null) => number | null): Promise<void>;
}
