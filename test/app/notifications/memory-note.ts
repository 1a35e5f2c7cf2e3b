import type { ReminderNote } from "../../../src/ports/notifier.ts";

/** The note that all notifying processes share. */
export function memoryNote(): ReminderNote {
  let remindedUntil: number | null = null;
  return { takeTurn: async (take) => void (remindedUntil = take(remindedUntil) ?? remindedUntil) };
}
