import type { AnswerVerb } from "../stories/escalation.ts";

/** A message to a person who is not at the dashboard. Short, and without secrets, because it leaves the machine. */
export interface Notification {
  readonly kind: NotificationKind;
  readonly project: string;
  readonly story: string | null;
  readonly escalation: string | null;
  readonly title: string;
  readonly text: string;
  /** The possible answers, if it asks a question. */
  readonly answers: readonly AnswerVerb[];
  readonly at: number;
}

/** `question`: a person is needed. `reminder`: still needed. `budget`: nearly used up. `ended`: no work is left. */
export const NOTIFICATION_KINDS = ["question", "reminder", "budget", "ended"] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * Returns when a reminder of an open question is due: an hour after it was raised, three hours later, and then once a
 * day. It depends only on when the question was raised, so every process that opens the journal computes the same
 * times.
 */
export function nextReminderAt(raisedAt: number, after: number): number {
  for (const age of [HOUR, 4 * HOUR]) if (raisedAt + age > after) return raisedAt + age;
  return raisedAt + Math.max(1, Math.floor((after - raisedAt) / DAY) + 1) * DAY;
}
