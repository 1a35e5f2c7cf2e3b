import type { AnswerVerb } from "../stories/escalation.ts";

/** What a person is told who is not looking. Short, and without secrets: it leaves the machine. */
export interface Notification {
  readonly kind: NotificationKind;
  readonly project: string;
  readonly story: string | null;
  readonly escalation: string | null;
  readonly title: string;
  readonly text: string;
  /** What can be answered, where something is asked. */
  readonly answers: readonly AnswerVerb[];
  readonly at: number;
}

/** `question`: a person is needed. `reminder`: still. `budget`: nearly used up. `ended`: nothing is left to do. */
export const NOTIFICATION_KINDS = ["question", "reminder", "budget", "ended"] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * When an open question is raised again: an hour after it came up, three hours later, and then once a day. It depends
 * only on when the question came up, so every process that opens the journal computes the same times.
 */
export function nextReminderAt(raisedAt: number, after: number): number {
  for (const age of [HOUR, 4 * HOUR]) if (raisedAt + age > after) return raisedAt + age;
  return raisedAt + Math.max(1, Math.floor((after - raisedAt) / DAY) + 1) * DAY;
}
