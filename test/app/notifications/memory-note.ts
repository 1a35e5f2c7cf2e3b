import type { ReminderNote } from "../../../src/ports/notifier.ts";

/** The note that all notifying processes share. */
export function memoryNote(): ReminderNote {
  let mindedUntil: number | null = null;
  return { takeTurn: async (take) => void (mindedUntil = take(mindedUntil) ?? mindedUntil) };
}
