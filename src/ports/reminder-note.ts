/** Until when reminders of a journal's questions were given: known to all who give them, so that one of them does. */
export interface ReminderNote {
  /**
   * Runs `take` while nobody else has a turn. It is told until when reminders were given (`null`: nobody knows), and
   * says until when they are now; `null` where it gave none.
   */
  turn(take: (mindedUntil: number | null) => number | null): Promise<void>;
}
