import type { ReminderNote } from "../../../src/ports/notifier.ts";

/** The note between all who remind. */
export function memoryNote(): ReminderNote {
  let mindedUntil: number | null = null;
  return { takeTurn: async (take) => void (mindedUntil = take(mindedUntil) ?? mindedUntil) };
}
