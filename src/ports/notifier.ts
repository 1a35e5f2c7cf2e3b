import type { Notification } from "../domain/notification.ts";

/** One way to reach a person who is not looking. */
export interface Notifier {
  /** As people know it, and without what must not be shown: the host of an address, never the whole of it. */
  readonly name: string;
  /** Throws where the person was not reached. */
  notify(notification: Notification, signal: AbortSignal): Promise<void>;
}
